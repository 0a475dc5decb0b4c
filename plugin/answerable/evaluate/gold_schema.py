"""Define a gold query's fields and rules, and build the JSON Schema that editors check a file by.

`python -m answerable.evaluate.gold_schema > docs/gold.schema.json` writes the schema anew. The
schema accepts all that the loader accepts; it cannot express what depends on the whole file, on the
site or on Python's regular expressions.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..serve.text import languages
from ..serve.types import MODES, REASONS

FieldKind = Literal["name", "text", "texts", "flag", "choice", "choices", "language"]

GOLD_SCHEMA_URL = "https://mkdocs-answerable.github.io/mkdocs-answerable/gold.schema.json"
QUERIES_KEY = "queries"

_TEXT_SCHEMA = {"type": "string", "pattern": r"\S"}


@dataclass(frozen=True, slots=True)
class GoldField:
    """Describe one field. ``choices``: every value that it may have.

    The kind ``choice`` has one of them, ``choices`` one of them or a list of acceptable ones.
    """

    kind: FieldKind
    about: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldRule:
    """Restrict ``other`` where ``field`` has one of ``values``: absent or one of ``allowed``.

    Of a list of acceptable values one is enough to restrict, and each has to be allowed.
    ``is_needed``: it may not be absent either.
    """

    field: str
    values: tuple[str | bool, ...]
    other: str
    allowed: tuple[str, ...]
    why: str
    is_needed: bool = False


# An answer that breaks the contract fails whatever is expected, so no query can expect that.
EXPECTABLE_REASONS = tuple(reason for reason in REASONS if reason != "contract")

GOLD_FIELDS: Mapping[str, GoldField] = {
    "id": GoldField("name", "The query's name, once in the file, without a comma."),
    "query": GoldField(
        "text", "The question, as a reader would ask it. {{author}} stands for site_author."
    ),
    "language": GoldField(
        "language", "The tag of the language it is asked in, such as fr or pt-BR."
    ),
    "expectSources": GoldField("texts", "Every one of these sources is retrieved above its floor."),
    "expectAnySource": GoldField("texts", "At least one of these sources is retrieved."),
    "forbidSources": GoldField("texts", "None of these sources is retrieved."),
    "topSource": GoldField("text", "The best of all candidates is this source."),
    "expectCited": GoldField("texts", "The answer cites every one of these sources."),
    "expectAnswerMode": GoldField("choices", "The answer has this mode, or one of a list.", MODES),
    "expectReason": GoldField("choice", "The refusal has this reason.", EXPECTABLE_REASONS),
    "forbidRecordCitations": GoldField("flag", "The answer cites no page."),
    "forbidAnswerPatterns": GoldField(
        "texts", "The answer matches none of these Python regular expressions, in any case."
    ),
    "requireAnswerPatterns": GoldField(
        "texts", "The answer matches each of these Python regular expressions, in any case."
    ),
    "checkNegation": GoldField(
        "flag", "false: do not compare claims with the sentences that they quote by negation."
    ),
    "requires": GoldField(
        "choice", "Only an answer model can be held to it: extractive answers skip it.", ("model",)
    ),
    "knownFailure": GoldField(
        "text", "Why it fails for now: it does not fail the run until it passes."
    ),
    "example": GoldField(
        "flag", "The ask box proposes it: the first three such queries are shown."
    ),
    "tags": GoldField("texts", "Groups that the report counts apart."),
    "note": GoldField("text", "What the query guards, for whoever sees it fail."),
}
REQUIRED_FIELDS = ("id", "query")
# A query without any of them would pass whatever is retrieved and answered.
EXPECTATIONS = (
    "expectSources",
    "expectAnySource",
    "forbidSources",
    "topSource",
    "expectCited",
    "expectAnswerMode",
    "expectReason",
    "forbidRecordCitations",
    "forbidAnswerPatterns",
    "requireAnswerPatterns",
)

_NO_RETRIEVAL = "then nothing is retrieved"
_NO_CITATION = "a refusal cites nothing"
_NO_TEXT = "a refusal has no text"
FIELD_RULES = (
    GoldRule("expectReason", EXPECTABLE_REASONS, "expectAnswerMode", ("not-found",),
             "only a refusal has a reason"),
    GoldRule("expectReason", ("no-evidence",), "expectSources", (), _NO_RETRIEVAL),
    GoldRule("expectReason", ("no-evidence",), "expectAnySource", (), _NO_RETRIEVAL),
    GoldRule("expectReason", ("no-evidence",), "topSource", (), _NO_RETRIEVAL),
    GoldRule("expectReason", ("no-evidence",), "requires", (), "then no model is asked"),
    GoldRule("expectReason", EXPECTABLE_REASONS, "expectCited", (), _NO_CITATION),
    GoldRule("expectReason", EXPECTABLE_REASONS, "requireAnswerPatterns", (), _NO_TEXT),
    GoldRule("expectAnswerMode", ("not-found",), "expectCited", (), _NO_CITATION),
    GoldRule("expectAnswerMode", ("not-found",), "requireAnswerPatterns", (), _NO_TEXT),
    GoldRule("forbidRecordCitations", (True,), "expectAnswerMode",
             ("related-material", "not-found"), "an answer of this mode cites records"),
    GoldRule("example", (True,), "expectAnswerMode", ("supported", "partial"),
             "what the ask box proposes has to be answered", is_needed=True),
    GoldRule("example", (True,), "knownFailure", (),
             "what the ask box proposes has to be answered"),
)  # fmt: skip


def build_gold_schema() -> dict[str, Any]:
    """Build the JSON Schema of a gold file, in the dialect of 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": GOLD_SCHEMA_URL,
        "title": "Gold set of mkdocs-answerable",
        "description": "Questions with the behavior that each of them requires.",
        "type": ["object", "array"],
        "properties": {QUERIES_KEY: {"$ref": "#/$defs/queries"}},
        "required": [QUERIES_KEY],
        "additionalProperties": False,
        "items": {"$ref": "#/$defs/query"},
        "minItems": 1,
        "$defs": {
            "queries": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/query"}},
            "query": {
                "type": "object",
                "properties": {name: _field_schema(field) for name, field in GOLD_FIELDS.items()},
                "required": list(REQUIRED_FIELDS),
                "additionalProperties": False,
                "allOf": [_rule_schema(rule) for rule in FIELD_RULES],
                "anyOf": [_expectation_schema(name) for name in EXPECTATIONS],
            },
        },
    }


def format_gold_schema() -> str:
    """Format the schema as its file holds it."""
    return f"{json.dumps(build_gold_schema(), indent=2, ensure_ascii=False)}\n"


def _field_schema(field: GoldField) -> dict[str, Any]:
    schemas: dict[FieldKind, dict[str, Any]] = {
        "name": {"type": "string", "pattern": r"^[^,]*[^,\s][^,]*$"},
        "text": _TEXT_SCHEMA,
        "texts": {"type": "array", "items": _TEXT_SCHEMA},
        "flag": {"type": "boolean"},
        "choice": {"enum": list(field.choices)},
        "choices": _choices_schema(field.choices),
        "language": {"type": "string", "minLength": 2, "maxLength": languages.MAX_TAG_LENGTH},
    }
    return {"description": field.about, **schemas[field.kind]}


def _choices_schema(choices: Sequence[str]) -> dict[str, Any]:
    each = {"enum": list(choices)}
    return {"anyOf": [each, {"type": "array", "items": each}]}


def _expectation_schema(name: str) -> dict[str, Any]:
    """Express that a field requires something; an empty list and false do not."""
    value = {"const": True} if GOLD_FIELDS[name].kind == "flag" else {"minItems": 1}
    return {"properties": {name: value}, "required": [name]}


def _rule_schema(rule: GoldRule) -> dict[str, Any]:
    """Express a rule as an implication; an empty list counts as an absent field."""
    kinds = {name: GOLD_FIELDS[name].kind for name in (rule.field, rule.other)}
    other: dict[str, Any] | bool
    if rule.allowed:
        is_list = kinds[rule.other] == "choices"
        other = _choices_schema(rule.allowed) if is_list else {"enum": list(rule.allowed)}
        if is_list and rule.is_needed:
            other |= {"minItems": 1}
    else:
        other = {"maxItems": 0} if kinds[rule.other] == "texts" else False
    value: dict[str, Any] = {"enum": list(rule.values)}
    if kinds[rule.field] == "choices":
        value = {"anyOf": [value, {"type": "array", "contains": value}]}
    return {
        "if": {"properties": {rule.field: value}, "required": [rule.field]},
        "then": {
            "properties": {rule.other: other},
            **({"required": [rule.other]} if rule.is_needed else {}),
        },
    }


if __name__ == "__main__":
    sys.stdout.write(format_gold_schema())
