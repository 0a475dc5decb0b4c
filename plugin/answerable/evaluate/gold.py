"""The gold set: questions with the behaviour they require."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from ..serve.errors import GoldError
from ..serve.retrieval.question_text import clean_question, find_question_problem
from ..serve.text.languages import is_language_tag
from ..serve.types import Mode, Reason
from .answer_patterns import find_pattern_problem
from .gold_file import read_gold_rows, suggest_spelling
from .gold_schema import FIELD_RULES, GOLD_FIELDS, REQUIRED_FIELDS, GoldField

_AUTHOR_PLACEHOLDER = "author"
# One word is a placeholder; anything else between such braces is code that a question is about.
_PLACEHOLDER = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")

_FieldValues = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One question and what has to come of it.

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
        """What it expects to be retrieved, each source once."""
        top = (self.top_source,) if self.top_source else ()
        return tuple(dict.fromkeys((*self.expect_sources, *top)))


def load_gold_queries(path: Path, author: str | None) -> tuple[GoldQuery, ...]:
    """Read a gold file; GoldError names the file, the query and the field of a mistake.

    author: what ``{{author}}`` stands for in a query.
    """
    rows = read_gold_rows(path)
    queries = tuple(
        _parse_query(row, f"{path}: query {n}", author) for n, row in enumerate(rows, 1)
    )
    first: dict[str, int] = {}
    for number, query in enumerate(queries, 1):
        if query.id in first:
            raise GoldError(
                f"{path}: query {number} ({query.id!r}): id is there twice, query "
                f"{first[query.id]} has it too; rename one"
            )
        first[query.id] = number
    return queries


def select_gold_queries(
    queries: Sequence[GoldQuery], ids: Sequence[str], path: Path
) -> Sequence[GoldQuery]:
    """The queries of some ids, all of them if none is named; GoldError for an unknown one."""
    known = {query.id for query in queries}
    for name in ids:
        if name not in known:
            close = suggest_spelling(name, known)
            raise GoldError(f"{path}: there is no query {name!r}{close}; see --list")
    return [query for query in queries if query.id in ids] if ids else queries


def check_gold_sources(
    queries: Sequence[GoldQuery],
    path: Path,
    known: frozenset[str],
    suggest: Collection[str] = (),
    *,
    unrouted: Collection[str] = (),
    is_logged: bool = False,
) -> None:
    """Refuse a source that no record, passage or note has; GoldError names it.

    suggest: the names that the error may propose. unrouted: the paths of notes with `routes: off`,
    which a query may forbid and not expect. is_logged: the error may become public, so that
    nothing is named that could be the path of a note.
    """
    remedy = "correct it" if is_logged else "build the site again or correct it"
    for query in queries:
        for field, sources in _sources_by_field(query).items():
            for number, source in enumerate(sources, 1):
                if source in known or (source in unrouted and field == "forbidSources"):
                    continue
                if source in unrouted:
                    named = f"number {number}" if is_logged else repr(source)
                    raise GoldError(
                        f"{path}: query {query.id!r}: {field}: {named} is a note with "
                        "`routes: off`, which no question can find; drop it from the query, or "
                        "take `routes: off` out of the note"
                    )
                named = f"{source!r}{suggest_spelling(source, suggest, 3)}"
                if is_logged and _may_be_path(source):
                    named = f"for number {number}"
                raise GoldError(
                    f"{path}: query {query.id!r}: {field}: there is no record, passage or "
                    f"note {named}; {remedy}"
                )


def _may_be_path(source: str) -> bool:
    """Whether a source could be the path of a note, which has a suffix."""
    return bool(PurePath(source.partition("#")[0]).suffix)


def _sources_by_field(query: GoldQuery) -> dict[str, tuple[str, ...]]:
    """The sources that a query names, by field."""
    return {
        "expectSources": query.expect_sources,
        "forbidSources": query.forbid_sources,
        "topSource": (query.top_source,) if query.top_source else (),
    }


def _parse_query(row: object, where: str, author: str | None) -> GoldQuery:
    if not isinstance(row, Mapping):
        raise GoldError(f"{where} is not a list of `key: value` lines; write `id:` and `query:`")
    if "id" in row:
        where = f"{where} ({_parse_field(row['id'], GOLD_FIELDS['id'], f'{where}: id')!r})"
    values = {_check_field_name(key, where): value for key, value in row.items()}
    for key in REQUIRED_FIELDS:
        if key not in values:
            raise GoldError(f"{where}: {key} is missing; write it")
    held = {
        key: _parse_field(value, GOLD_FIELDS[key], f"{where}: {key}")
        for key, value in values.items()
    }
    _check_rules(held, where)
    for number, pattern in enumerate(held.get("forbidAnswerPatterns", ()), 1):
        if problem := find_pattern_problem(pattern):
            # By its number: a pattern may spell words of a note, and a build's log may be public.
            raise GoldError(f"{where}: forbidAnswerPatterns: number {number} {problem}")
    query = GoldQuery(
        id=held["id"],
        query=_fill_in_author(held["query"], f"{where}: query", author),
        expect_answer_mode=held.get("expectAnswerMode"),
        expect_sources=held.get("expectSources", ()),
        forbid_sources=held.get("forbidSources", ()),
        top_source=held.get("topSource"),
        forbid_record_citations=held.get("forbidRecordCitations", False),
        forbid_answer_patterns=held.get("forbidAnswerPatterns", ()),
        note=held.get("note", ""),
        expect_reason=held.get("expectReason"),
        tags=held.get("tags", ()),
        language=held.get("language"),
        requires_model="requires" in held,
        example=held.get("example", False),
    )
    _check_contradictory_sources(query, where)
    return query


def _check_field_name(key: object, where: str) -> str:
    if not isinstance(key, str) or key not in GOLD_FIELDS:
        close = (
            suggest_spelling(str(key), GOLD_FIELDS.keys())
            or f"; the fields are {', '.join(GOLD_FIELDS)}"
        )
        raise GoldError(f"{where}: {key} is not a field of a gold query{close}")
    return key


def _parse_field(value: object, field: GoldField, where: str) -> Any:
    """A field's value if it is one; GoldError if not."""
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
                close = (
                    suggest_spelling(text, field.choices)
                    or f"; write {_join_choices(field.choices)}"
                )
                raise GoldError(f"{where}: {text!r} is not known here{close}")
        case "language":
            if not is_language_tag(text):
                raise GoldError(f"{where}: {text!r} is no tag; write one such as en or pt-BR")
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
    """A question with its author filled in, as long as a reader's may be."""
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


def _check_rules(held: _FieldValues, where: str) -> None:
    """Refuse two fields that no answer can satisfy, and one without the other that it needs."""
    for rule in FIELD_RULES:
        value, other = held.get(rule.field), held.get(rule.other)
        if value not in rule.values:
            continue
        shown = "true" if value is True else value
        if rule.is_needed and not other:
            raise GoldError(
                f"{where}: {rule.field}: {shown} needs {rule.other}: {_join_choices(rule.allowed)} "
                f"({rule.why}); write it, or drop {rule.field}"
            )
        if other and other not in rule.allowed:
            raise GoldError(
                f"{where}: {rule.other} contradicts {rule.field}: {shown} ({rule.why}); drop one "
                "of the two"
            )


def _check_contradictory_sources(query: GoldQuery, where: str) -> None:
    """Refuse a source that is required and forbidden, itself or as a passage of its record."""
    for field in ("expectSources", "topSource"):
        for number, source in enumerate(_sources_by_field(query)[field], 1):
            if {source, source.partition("#")[0]} & set(query.forbid_sources):
                # By its number: it may be the path of a note, and a build's log may be public.
                raise GoldError(
                    f"{where}: {field}: number {number} is forbidden too, by forbidSources; drop "
                    "one of the two"
                )
