"""Load and check a YAML gold file into queries: each a question and the behavior it requires."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from ..indexing.yaml_reader import YamlError, find_duplicate_key, parse_yaml
from ..serve.errors import GoldError
from ..serve.retrieval.question_text import clean_question, find_question_problem
from ..serve.text.languages import is_language_tag
from ..serve.types import Mode, Reason
from .answer_patterns import find_pattern_problem
from .gold_schema import FIELD_RULES, GOLD_FIELDS, QUERIES_KEY, REQUIRED_FIELDS, GoldField

_AUTHOR_PLACEHOLDER = "author"
# One word is a placeholder; anything else between such braces is code that a question is about.
_PLACEHOLDER = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")
_UPPERCASE = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One question and the behavior that it requires; a field of the file in snake case each.

    A source names a record (any of its passages counts), a passage or, by its path in the
    notebook, a note. ``note`` says what the query guards. ``language``: a tag of what it is asked
    in. ``requires_model``: only an answer model can be held to it; extractive answers skip it.
    ``example``: whether the ask box proposes it.
    """

    id: str
    query: str
    expect_answer_mode: Mode | None = None
    expect_sources: tuple[str, ...] = ()
    forbid_sources: tuple[str, ...] = ()
    top_source: str | None = None
    forbid_record_citations: bool = False
    forbid_answer_patterns: tuple[str, ...] = ()
    note: str = ""
    expect_reason: Reason | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    requires_model: bool = False
    example: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that it expects to be retrieved, each once."""
        return tuple(dict.fromkeys((*self.expect_sources, *self.top_sources)))

    @property
    def top_sources(self) -> tuple[str, ...]:
        """The source that it expects to lead, if it names one."""
        return (self.top_source,) if self.top_source else ()

    @property
    def sources_by_field(self) -> Mapping[str, tuple[str, ...]]:
        """All sources that it names, by the field of the file that names them."""
        return {
            "expectSources": self.expect_sources,
            "forbidSources": self.forbid_sources,
            "topSource": self.top_sources,
        }


def load_gold_queries(path: Path, author: str | None) -> tuple[GoldQuery, ...]:
    """Load a gold file; GoldError names the file, the query and the field of a mistake.

    author: what ``{{author}}`` stands for in a query.
    """
    queries: list[GoldQuery] = []
    numbers: dict[str, int] = {}
    for number, row in enumerate(_read_rows(path), 1):
        query = _parse_query(row, f"{path}: query {number}", author)
        if query.id in numbers:
            raise GoldError(
                f"{path}: query {number} ({query.id!r}): duplicate id, query {numbers[query.id]} "
                "has it too; rename one"
            )
        numbers[query.id] = number
        queries.append(query)
    return tuple(queries)


def select_gold_queries(
    queries: Sequence[GoldQuery], ids: Sequence[str], path: Path
) -> Sequence[GoldQuery]:
    """Select queries by id, all of them if no id is named; GoldError for an unknown one."""
    known_ids = {query.id for query in queries}
    for name in ids:
        if name not in known_ids:
            suggestion = suggest_spelling(name, known_ids)
            raise GoldError(f"{path}: there is no query {name!r}{suggestion}; see --list")
    return [query for query in queries if query.id in ids] if ids else queries


def suggest_spelling(wrong: str, candidates: Collection[str], limit: int = 1) -> str:
    """Suggest what may have been meant, as the end of a sentence; "" if nothing is close."""
    matches = get_close_matches(wrong, candidates, limit)
    return f", did you mean {' or '.join(matches)}?" if matches else ""


def _read_rows(path: Path) -> list[object]:
    """Read the list under ``queries:``, or the file's own list, of at least one item of any type.

    GoldError names the file and, where YAML is broken, the line and the column.
    """

    def check_keys(root: yaml.Node | None) -> None:
        for where, mapping in _iterate_mappings(root):
            if duplicate := find_duplicate_key(mapping):
                raise GoldError(
                    f"{path}{where}: duplicate key {duplicate.key} in lines "
                    f"{duplicate.first_line} and {duplicate.line}; keep one"
                )

    try:
        rows = parse_yaml(_read_text(path), check_keys)
    except YamlError as error:
        if error.line is None:
            raise GoldError(f"{path} is not YAML ({error}): put texts in quotes") from None
        raise GoldError(
            f"{path}: line {error.line}, column {error.column} is not YAML ({error}): put a text "
            "with `: `, `#`, `{{` or a backslash in it into single quotes"
        ) from None
    if isinstance(rows, dict):
        for key in rows:
            if key != QUERIES_KEY:
                suggestion = suggest_spelling(str(key), (QUERIES_KEY,))
                raise GoldError(f"{path}: {key} is not a field of a gold file{suggestion}; drop it")
        rows = rows.get(QUERIES_KEY)
    if not isinstance(rows, list) or not rows:
        raise GoldError(
            f"{path}: it has to hold a list `{QUERIES_KEY}:` of at least one query; write one"
        )
    return rows


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: write one, or name it with --gold") from None
    except UnicodeDecodeError as error:
        raise GoldError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a file") from None


def _iterate_mappings(root: yaml.Node | None) -> Iterator[tuple[str, yaml.MappingNode]]:
    """Yield the file's mapping and every query's, each with the words that an error adds."""
    rows = root
    if isinstance(root, yaml.MappingNode):
        yield "", root
        rows = next((value for key, value in root.value if key.value == QUERIES_KEY), None)
    if isinstance(rows, yaml.SequenceNode):
        for number, node in enumerate(rows.value, 1):
            if isinstance(node, yaml.MappingNode):
                ids = [value.value for key, value in node.value if key.value == "id"]
                yield f": query {number}" + (f" ({ids[0]!r})" if ids else ""), node


def _parse_query(row: object, where: str, author: str | None) -> GoldQuery:
    if not isinstance(row, Mapping):
        raise GoldError(f"{where} is not a list of `key: value` lines; write `id:` and `query:`")
    if "id" in row:
        where = f"{where} ({_parse_field(row['id'], GOLD_FIELDS['id'], f'{where}: id')!r})"
    for key in row:
        _check_field_name(key, where)
    for key in REQUIRED_FIELDS:
        if key not in row:
            raise GoldError(f"{where}: {key} is missing; write it")
    values = {
        key: _parse_field(value, GOLD_FIELDS[key], f"{where}: {key}") for key, value in row.items()
    }
    _check_rules(values, where)
    for number, pattern in enumerate(values.get("forbidAnswerPatterns", ()), 1):
        if problem := find_pattern_problem(pattern):
            # By its number: a pattern may spell words of a note, and a build's log may be public.
            raise GoldError(f"{where}: forbidAnswerPatterns: number {number} {problem}")
    values["query"] = _fill_in_author(values["query"], f"{where}: query", author)
    values["requiresModel"] = values.pop("requires", None) is not None
    query = GoldQuery(**{_snake_case(key): value for key, value in values.items()})
    _check_contradictory_sources(query, where)
    return query


def _snake_case(name: str) -> str:
    return _UPPERCASE.sub(lambda match: f"_{match[0].lower()}", name)


def _check_field_name(key: object, where: str) -> None:
    if not isinstance(key, str) or key not in GOLD_FIELDS:
        suggestion = suggest_spelling(str(key), GOLD_FIELDS.keys())
        listed = suggestion or f"; the fields are {', '.join(GOLD_FIELDS)}"
        raise GoldError(f"{where}: {key} is not a field of a gold query{listed}")


def _parse_field(value: object, field: GoldField, where: str) -> Any:
    """Parse the value of a field by the field's kind; GoldError if it is of another kind."""
    match field.kind:
        case "texts":
            if not isinstance(value, list):
                raise GoldError(f"{where} has to be a list of texts, such as [one, other]")
            for item in value:
                _parse_text(item, where)
            return tuple(value)
        case "flag":
            if not isinstance(value, bool):
                raise GoldError(f"{where} has to be true or false")
            return value
    text = _parse_text(value, where)
    match field.kind:
        case "choice":
            if text not in field.choices:
                suggestion = suggest_spelling(text, field.choices)
                listed = suggestion or f"; write {_join_choices(field.choices)}"
                raise GoldError(f"{where}: {text!r} is not known here{listed}")
        case "language":
            if not is_language_tag(text):
                raise GoldError(
                    f"{where}: {text!r} is not a language tag; write one such as en or pt-BR"
                )
        case "name":
            if "," in text:
                raise GoldError(f"{where}: {text!r} has a comma, which divides ids; drop it")
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


def _fill_in_author(text: str, where: str, author: str | None) -> str:
    """Fill in a question's author; GoldError where no reader may ask the question."""
    for name in _PLACEHOLDER.findall(text):
        if name != _AUTHOR_PLACEHOLDER:
            raise GoldError(
                f"{where}: {{{{{name}}}}} stands for nothing; only "
                f"{{{{{_AUTHOR_PLACEHOLDER}}}}} is filled in"
            )
        if not author:
            raise GoldError(
                f"{where}: {{{{{_AUTHOR_PLACEHOLDER}}}}} needs `site_author` in mkdocs.yml; set it"
            )
    text = _PLACEHOLDER.sub(lambda _: author or "", text)
    if problem := find_question_problem(clean_question(text)):
        raise GoldError(
            f"{where}: no reader can ask it ({problem.rstrip('.').lower()}); write it anew"
        )
    return text


def _check_rules(values: Mapping[str, Any], where: str) -> None:
    """Refuse two fields that no answer can satisfy, and one without the other that it needs."""
    for rule in FIELD_RULES:
        value, other = values.get(rule.field), values.get(rule.other)
        if value not in rule.values:
            continue
        shown = "true" if value is True else value
        if rule.is_needed and not other:
            raise GoldError(
                f"{where}: {rule.field}: {shown} needs {rule.other}: "
                f"{_join_choices(rule.allowed)} ({rule.why}); write it, or drop {rule.field}"
            )
        if other and other not in rule.allowed:
            raise GoldError(
                f"{where}: {rule.other} contradicts {rule.field}: {shown} ({rule.why}); drop one "
                "of the two"
            )


def _check_contradictory_sources(query: GoldQuery, where: str) -> None:
    """Refuse a source that is required and forbidden, itself or as a passage of its record."""
    for field in ("expectSources", "topSource"):
        for number, source in enumerate(query.sources_by_field[field], 1):
            if {source, source.partition("#")[0]} & set(query.forbid_sources):
                # By its number: it may be the path of a note, and a build's log may be public.
                raise GoldError(
                    f"{where}: {field}: number {number} is forbidden too, by forbidSources; drop "
                    "one of the two"
                )
