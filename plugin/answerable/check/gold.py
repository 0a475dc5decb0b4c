"""Load a YAML gold file into queries: each a question and the behavior that it requires.

`docs/gold.schema.json` is the same for editors: it accepts all that the loader accepts. Only
the loader checks what depends on other fields, on the whole file, on the site or on the regular
expressions of Python.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..engine.errors import GoldError
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.text.tokenization import MAX_TAG_LENGTH, is_language_tag
from ..engine.types import MODES, Mode
from ..indexing.yaml_reader import DuplicateKeyError, YamlError, parse_yaml

# An answer that breaks the contract fails whatever is expected, so no query can expect that.
ExpectableReason = Literal["no-evidence", "declined"]
Text = Annotated[str, Meta(pattern=r"\S")]
Texts = tuple[Text, ...]

_SOURCE_FIELDS = ("expectSources", "expectAnySource", "forbidSources", "topSource", "expectCited")
_AUTHOR = re.compile(r"\{\{\s*author\s*\}\}")
_ERROR_PATH = re.compile(r" - at `\$\.(\w+)(?:\[(\d+)\])?`$")


class GoldQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One question and the behavior that it requires; each field is one of the file.

    A source names a record (any of its passages counts), a passage or, by its path in the notebook,
    a note.
    """

    id: Annotated[str, Meta(pattern=r"^[^,]*[^,\s][^,]*$")]
    query: Text
    expect_answer_mode: Mode | tuple[Mode, ...] | None = None
    expect_sources: Texts = ()
    forbid_sources: Texts = ()
    top_source: Text | None = None
    forbid_record_citations: bool = False
    forbid_answer_patterns: Texts = ()
    note: Annotated[str, Meta(pattern=r"\S")] = ""
    expect_reason: ExpectableReason | None = None
    tags: Texts = ()
    language: Annotated[str, Meta(min_length=2, max_length=MAX_TAG_LENGTH)] | None = None
    requires: Literal["model"] | None = None
    example: bool = False
    expect_any_source: Texts = ()
    expect_cited: Texts = ()
    require_answer_patterns: Texts = ()
    known_failure: Text | None = None

    @property
    def expected_modes(self) -> tuple[Mode, ...]:
        """The modes that are acceptable, all of them if there are none."""
        modes = self.expect_answer_mode
        return tuple(dict.fromkeys(modes)) if isinstance(modes, tuple) else _as_tuple(modes)

    @property
    def requires_model(self) -> bool:
        """True where only an answer model can be held to it, so that extractive answers skip it."""
        return self.requires is not None

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that count as relevant: those required, and those of which one is enough."""
        top = _as_tuple(self.top_source)
        required = (*self.expect_sources, *top, *self.expect_cited)
        return tuple(dict.fromkeys((*required, *self.expect_any_source)))

    @property
    def sources_by_field(self) -> Mapping[str, tuple[str, ...]]:
        """All sources that it names, by the field of the file that names them."""
        return {name: _as_tuple(_get(self, name)) for name in _SOURCE_FIELDS}


_NO_TAG = "{!r} is not a language tag; write one such as en or pt-BR"
_ATTRIBUTES = {field.encode_name: field.name for field in msgspec.structs.fields(GoldQuery)}
# A query without any of them would pass whatever is retrieved and answered.
_EXPECTATIONS = [
    name for name in _ATTRIBUTES if name.startswith(("expect", "forbid", "topSource", "requireA"))
]
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "expectAnswerMode": MODES,
    "expectReason": ("no-evidence", "declined"),
    "requires": ("model",),
}


def load_gold_queries(path: Path, author: str | None) -> tuple[GoldQuery, ...]:
    """Load a gold file; GoldError names the file, the query and the field of a mistake.

    author: what ``{{author}}`` stands for in a query.
    """
    queries: dict[str, GoldQuery] = {}
    for number, row in enumerate(_read_rows(path), 1):
        query = _parse_query(row, f"{path}: query {number}", author)
        if query.id in queries:
            raise GoldError(f"{path}: query {number} ({query.id!r}): duplicate id; rename one")
        queries[query.id] = query
    return tuple(queries.values())


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
    """Suggest the candidate that may have been meant, as the end of a sentence; "" without one."""
    matches = get_close_matches(wrong, candidates, limit)
    return f", did you mean {' or '.join(matches)}?" if matches else ""


def _find_pattern_problem(pattern: str) -> str | None:
    """Find what keeps a pattern from being matched, as the end of a sentence; None if nothing."""
    if "\b" in pattern:
        return "holds a backspace, which is \\b between double quotes; use single quotes"
    try:
        re.compile(pattern, re.I)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression of Python ({error}); correct it"
    return None


def _parse_query(row: object, where: str, author: str | None) -> GoldQuery:
    if not isinstance(row, Mapping):
        raise GoldError(f"{where} is not a list of `key: value` lines; write `id:` and `query:`")
    values = {key: _strip(value) for key, value in row.items()}
    if "id" in row:
        _convert({"id": values["id"], "query": "-"}, where)
        where = f"{where} ({values['id']!r})"
    if (text := values.get("query")) and isinstance(text, str):
        values["query"] = _fill_in_author(text, f"{where}: query", author)
    query = _convert(values, where)
    if query.language and not is_language_tag(query.language):
        raise GoldError(f"{where}: language: {_NO_TAG.format(query.language)}")
    for field in ("forbidAnswerPatterns", "requireAnswerPatterns"):
        for number, pattern in enumerate(_get(query, field), 1):
            if problem := _find_pattern_problem(pattern):
                # By its number: a pattern may spell words of a note, and a log may be public.
                raise GoldError(f"{where}: {field}: number {number} {problem}")
    if not any(_get(query, name) for name in _EXPECTATIONS):
        raise GoldError(
            f"{where} requires nothing, so every answer passes it; write what it has to do, such "
            "as expectAnswerMode or expectSources"
        )
    return query


def _convert(values: Mapping[object, object], where: str) -> GoldQuery:
    """Convert the fields of one query; GoldError in the words of whoever writes the file."""
    for key, value in values.items():
        if key not in _ATTRIBUTES:
            suggestion = suggest_spelling(str(key), _ATTRIBUTES)
            listed = suggestion or f"; the fields are {', '.join(_ATTRIBUTES)}"
            raise GoldError(f"{where}: {key} is not a field of a gold query{listed}")
        if value is None:
            raise GoldError(f"{where}: {key} has to be a text and is empty; fill it in or drop it")
    for key in ("id", "query"):
        if key not in values:
            raise GoldError(f"{where}: {key} is missing; write it")
    try:
        return msgspec.convert(values, GoldQuery)
    except msgspec.ValidationError as error:
        match = _ERROR_PATH.search(str(error))
        if match is None:
            raise GoldError(f"{where}: {error}; correct it") from None
        key, number = match.groups()
        value = values[key]
        if number is not None and isinstance(value, list):
            value = value[int(number)]
        raise _describe_problem(f"{where}: {key}", key, value, str(error)) from None


def _describe_problem(where: str, key: str, value: object, error: str) -> GoldError:
    """Describe why a field's value was refused, with the remedy. error: the reader's own words."""
    if value == "":
        return GoldError(f"{where} has to be a text and is blank; fill it in or drop it")
    if error.startswith("Expected `bool"):
        return GoldError(f"{where} has to be true or false")
    if error.startswith("Expected `array`"):
        return GoldError(f"{where} has to be a list of texts, such as [one, other]")
    if not isinstance(value, str):
        return GoldError(f"{where} has to be a text; put it in quotes")
    if key == "language":
        return GoldError(f"{where}: {_NO_TAG.format(value)}")
    if choices := _CHOICES.get(key):
        listed = suggest_spelling(value, choices) or f"; write {_join(choices)}"
        return GoldError(f"{where}: {value!r} is not a valid value{listed}")
    return GoldError(f"{where}: {value!r} has a comma, which divides ids; drop it")


def _fill_in_author(text: str, where: str, author: str | None) -> str:
    """Fill in a question's author; GoldError where no reader may ask the question."""
    if not author and _AUTHOR.search(text):
        raise GoldError(f"{where}: {{{{author}}}} needs `site_author` in mkdocs.yml; set it")
    text = _AUTHOR.sub(lambda _: author or "", text)
    if problem := find_question_problem(clean_question(text)):
        raise GoldError(f"{where}: no reader can ask it ({problem.rstrip('.').lower()}); reword it")
    return text


def _read_rows(path: Path) -> list[object]:
    """Read the list under ``queries:``, or the file's own list, of at least one item of any type.

    GoldError names the file and, where YAML is broken, the line and the column.
    """
    if not path.exists():
        raise GoldError(f"{path} does not exist: write one, or name it with --gold")
    try:
        rows = parse_yaml(_read_text(path))
    except DuplicateKeyError as error:
        first, second = error.lines
        raise GoldError(
            f"{path}: duplicate key {error.key} in lines {first} and {second}; keep one"
        ) from None
    except YamlError as error:
        place = f": line {error.line}, column {error.column}" if error.line else ""
        raise GoldError(
            f"{path}{place} is not YAML ({error}): put a text with `: `, `#`, `{{{{` or a "
            "backslash in it into single quotes"
        ) from None
    if isinstance(rows, dict):
        for key in set(rows) - {"queries"}:
            raise GoldError(f"{path}: {key} is not a field of a gold file; write `queries:`")
        rows = rows.get("queries")
    if not isinstance(rows, list) or not rows:
        raise GoldError(
            f"{path}: it has to hold a list `queries:` of at least one query; write one"
        )
    return rows


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GoldError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a file") from None


def _strip(value: object) -> object:
    if isinstance(value, list):
        return [_strip(item) for item in value]
    return value.strip() if isinstance(value, str) else value


def _get(query: GoldQuery, name: str) -> Any:
    """Get a field of a query by its name in the file."""
    return getattr(query, _ATTRIBUTES[name])


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _join(choices: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
