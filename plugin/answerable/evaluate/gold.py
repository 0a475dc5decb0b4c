"""The gold set: questions with the behaviour they require."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..serve import languages
from ..serve.errors import GoldError
from ..serve.types import MODES, REASONS, Mode, Reason

_AUTHOR = "{{author}}"
_LISTS = ("expectSources", "forbidSources", "forbidAnswerPatterns", "tags")
_KEYS = {
    "id", "query", "language", "expectAnswerMode", "expectReason", "topSource",
    "forbidRecordCitations", "requires", "note", *_LISTS,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One question and what has to come of it.

    A source names a record (any of its passages counts), a passage or, by its path in the
    notebook, a note. ``note`` says what the query guards. ``language``: a tag of what it is asked
    in. ``requires_model``: only an answer model can be held to it; extractive answers skip it.
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


def load(path: Path, author: str | None) -> tuple[GoldQuery, ...]:
    """Read a gold file; GoldError names the file, the query and the field of a mistake.

    author: what ``{{author}}`` stands for in a query.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: write one, or name it with --gold") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise GoldError(f"{path} is not YAML: {error}") from None
    rows = data.get("queries") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not rows:
        raise GoldError(f"{path}: it has to hold a list `queries:`")
    queries = tuple(_query(row, f"{path}: query {n}", author) for n, row in enumerate(rows, 1))
    seen: set[str] = set()
    for query in queries:
        if query.id in seen:
            raise GoldError(f"{path}: query {query.id!r}: id is there twice; rename one")
        seen.add(query.id)
    return queries


def choose(queries: Sequence[GoldQuery], ids: Sequence[str], path: Path) -> Sequence[GoldQuery]:
    """The queries of some ids, all of them if none is named; GoldError for an unknown one."""
    unknown = set(ids) - {query.id for query in queries}
    if unknown:
        raise GoldError(f"{path}: there is no query {sorted(unknown)[0]!r}; see --list")
    return [query for query in queries if query.id in ids] if ids else queries


def check_sources(queries: Sequence[GoldQuery], path: Path, known: frozenset[str]) -> None:
    """Refuse a source that no record, passage or note has; GoldError names it."""
    for query in queries:
        wanted = {
            "expectSources": query.expect_sources,
            "forbidSources": query.forbid_sources,
            "topSource": (query.top_source,) if query.top_source else (),
        }
        for field, sources in wanted.items():
            for source in sources:
                if source not in known:
                    raise GoldError(
                        f"{path}: query {query.id!r}: {field}: there is no record, passage or "
                        f"note {source!r}; build the site again or correct it"
                    )


def _query(row: object, where: str, author: str | None) -> GoldQuery:
    if not isinstance(row, Mapping):
        raise GoldError(f"{where} is not a list of `key: value` lines")
    name = _text(row, "id", where)
    where = f"{where} ({name!r})"
    unknown = set(row) - _KEYS
    if unknown:
        raise GoldError(f"{where}: {sorted(map(str, unknown))[0]} is not a field of a gold query")
    text = _text(row, "query", where)
    if _AUTHOR in text:
        if not author:
            raise GoldError(f"{where}: query: {_AUTHOR} needs `site_author` in mkdocs.yml")
        text = text.replace(_AUTHOR, author)
    lists = {key: _texts(row, key, where) for key in _LISTS}
    for pattern in lists["forbidAnswerPatterns"]:
        try:
            re.compile(pattern)
        except re.error as error:
            raise GoldError(f"{where}: forbidAnswerPatterns: {pattern!r}: {error}") from None
    return GoldQuery(
        id=name,
        query=text,
        expect_answer_mode=_mode(row.get("expectAnswerMode"), where),
        expect_sources=lists["expectSources"],
        forbid_sources=lists["forbidSources"],
        top_source=_text(row, "topSource", where) if "topSource" in row else None,
        forbid_record_citations=_flag(row.get("forbidRecordCitations", False), where),
        forbid_answer_patterns=lists["forbidAnswerPatterns"],
        note=_text(row, "note", where) if "note" in row else "",
        expect_reason=_reason(row.get("expectReason"), where),
        tags=lists["tags"],
        language=_language(row.get("language"), where),
        requires_model=_requires(row.get("requires"), where),
    )


def _text(row: Mapping[Any, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise GoldError(f"{where}: {key} has to be a text")
    return value.strip()


def _texts(row: Mapping[Any, Any], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise GoldError(f"{where}: {key} has to be a list of texts")
    return tuple(value)


def _mode(value: object, where: str) -> Mode | None:
    if value is None:
        return None
    if value not in MODES:
        raise GoldError(f"{where}: expectAnswerMode: {value!r} is none of {', '.join(MODES)}")
    return value


def _reason(value: object, where: str) -> Reason | None:
    if value is None:
        return None
    if value not in REASONS:
        raise GoldError(f"{where}: expectReason: {value!r} is none of {', '.join(REASONS)}")
    return value


def _language(value: object, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not languages.is_tag(value):
        raise GoldError(f"{where}: language: {value!r} is no tag such as en or pt-BR")
    return value


def _requires(value: object, where: str) -> bool:
    if value not in (None, "model"):
        raise GoldError(f"{where}: requires: {value!r} is not known; it may be model")
    return value == "model"


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise GoldError(f"{where}: forbidRecordCitations has to be true or false")
    return value
