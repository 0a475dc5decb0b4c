"""Parse a gold query's fields by their kinds; refuse contradictions and missing expectations."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ..serve.errors import GoldError
from ..serve.text.languages import is_language_tag
from .gold_schema import EXPECTATIONS, FIELD_RULES, GOLD_FIELDS, GoldField, GoldRule


def check_field_name(key: object, where: str) -> None:
    """Refuse a key that is not a field of a gold query; GoldError suggests the nearest field."""
    if not isinstance(key, str) or key not in GOLD_FIELDS:
        suggestion = suggest_spelling(str(key), GOLD_FIELDS.keys())
        listed = suggestion or f"; the fields are {', '.join(GOLD_FIELDS)}"
        raise GoldError(f"{where}: {key} is not a field of a gold query{listed}")


def parse_gold_field(value: object, field: GoldField, where: str) -> Any:
    """Parse the value of a field by the field's kind; GoldError if it is of another kind."""
    match field.kind:
        case "texts":
            if not isinstance(value, list):
                raise GoldError(f"{where} has to be a list of texts, such as [one, other]")
            for item in value:
                _parse_text(item, where)
            return tuple(value)
        case "choices":
            items = value if isinstance(value, list) else [value]
            choices = tuple(dict.fromkeys(_parse_choice(item, field, where) for item in items))
            return choices[0] if len(choices) == 1 else choices
        case "flag":
            if not isinstance(value, bool):
                raise GoldError(f"{where} has to be true or false")
            return value
        case "choice":
            return _parse_choice(value, field, where)
    text = _parse_text(value, where)
    match field.kind:
        case "language":
            if not is_language_tag(text):
                raise GoldError(
                    f"{where}: {text!r} is not a language tag; write one such as en or pt-BR"
                )
        case "name":
            if "," in text:
                raise GoldError(f"{where}: {text!r} has a comma, which divides ids; drop it")
    return text


def _parse_choice(value: object, field: GoldField, where: str) -> str:
    text = _parse_text(value, where)
    if text not in field.choices:
        suggestion = suggest_spelling(text, field.choices)
        listed = suggestion or f"; write {_join_choices(field.choices)}"
        raise GoldError(f"{where}: {text!r} is not known here{listed}")
    return text


def _parse_text(value: object, where: str) -> str:
    if value is None:
        raise GoldError(f"{where} has to be a text and is empty; fill it in or drop it")
    if not isinstance(value, str):
        raise GoldError(f"{where} has to be a text; put it in quotes")
    if not value.strip():
        raise GoldError(f"{where} has to be a text and is blank; fill it in or drop it")
    return value.strip()


def _join_choices(choices: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def check_field_rules(values: Mapping[str, Any], where: str) -> None:
    """Refuse two fields that no answer can satisfy, and one without the other that it needs."""
    for rule in FIELD_RULES:
        value = _find_restricting_value(rule, values.get(rule.field))
        other = values.get(rule.other)
        if value is None:
            continue
        shown = "true" if value is True else value
        if rule.is_needed and not other:
            raise GoldError(
                f"{where}: {rule.field}: {shown} needs {rule.other}: "
                f"{_join_choices(rule.allowed)} ({rule.why}); write it, or drop {rule.field}"
            )
        others = other if isinstance(other, tuple) else (other,)
        if other and not set(others) <= set(rule.allowed):
            raise GoldError(
                f"{where}: {rule.other} contradicts {rule.field}: {shown} ({rule.why}); drop one "
                "of the two"
            )


def check_has_expectation(values: Mapping[str, Any], where: str) -> None:
    """Refuse a query that every answer passes, because no field of it requires anything."""
    if not any(values.get(name) for name in EXPECTATIONS):
        raise GoldError(
            f"{where} requires nothing, so every answer passes it; write what it has to do, such "
            "as expectAnswerMode or expectSources"
        )


def _find_restricting_value(rule: GoldRule, value: object) -> object:
    """Find the value, or the one of a list of acceptable values, that a rule is about."""
    listed = value if isinstance(value, tuple) else (value,)
    return next((each for each in listed if each in rule.values), None)


def suggest_spelling(wrong: str, candidates: Collection[str], limit: int = 1) -> str:
    """Suggest what may have been meant, as the end of a sentence; "" if nothing is close."""
    matches = get_close_matches(wrong, candidates, limit)
    return f", did you mean {' or '.join(matches)}?" if matches else ""
