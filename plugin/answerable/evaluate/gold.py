"""Load and check a YAML gold file into queries: each a question and the behavior it requires."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..serve.errors import GoldError
from ..serve.retrieval.question_text import clean_question, find_question_problem
from ..serve.types import Mode, Reason
from .answer_patterns import find_pattern_problem
from .gold_fields import (
    check_field_name,
    check_field_rules,
    check_has_expectation,
    parse_gold_field,
    suggest_spelling,
)
from .gold_schema import GOLD_FIELDS, REQUIRED_FIELDS
from .gold_yaml import read_gold_rows

_AUTHOR_PLACEHOLDER = "author"
# One word is a placeholder; anything else between such braces is code that a question is about.
_PLACEHOLDER = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")
_UPPERCASE = re.compile(r"[A-Z]")
_PATTERN_FIELDS = ("forbidAnswerPatterns", "requireAnswerPatterns")


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One question and the behavior that it requires; a field of the file in snake case each.

    A source names a record (any of its passages counts), a passage or, by its path in the
    notebook, a note. ``note`` says what the query guards. ``language``: a tag of what it is asked
    in. ``requires_model``: only an answer model can be held to it; extractive answers skip it.
    ``example``: whether the ask box proposes it. ``expect_answer_mode``: one mode, or several that
    are acceptable. ``known_failure``: why it fails for now.
    """

    id: str
    query: str
    expect_answer_mode: Mode | tuple[Mode, ...] | None = None
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
    expect_any_source: tuple[str, ...] = ()
    expect_cited: tuple[str, ...] = ()
    require_answer_patterns: tuple[str, ...] = ()
    check_negation: bool = True
    known_failure: str | None = None

    @property
    def expected_modes(self) -> tuple[Mode, ...]:
        """The modes that are acceptable, all of them if there are none."""
        modes = self.expect_answer_mode
        return modes if isinstance(modes, tuple) else (modes,) if modes else ()

    @property
    def required_sources(self) -> tuple[str, ...]:
        """The sources that have to be retrieved or cited, each once."""
        return tuple(dict.fromkeys((*self.expect_sources, *self.top_sources, *self.expect_cited)))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that count as relevant: those required, and alternatives of which one is."""
        return tuple(dict.fromkeys((*self.required_sources, *self.expect_any_source)))

    @property
    def is_judged_by_retrieval_alone(self) -> bool:
        """Tell whether no requirement of it needs an answer."""
        return not (
            self.expected_modes
            or self.expect_cited
            or self.expect_reason == "declined"
            or self.forbid_record_citations
            or self.forbid_answer_patterns
            or self.require_answer_patterns
        )

    @property
    def top_sources(self) -> tuple[str, ...]:
        """The source that it expects to lead, if it names one."""
        return (self.top_source,) if self.top_source else ()

    @property
    def sources_by_field(self) -> Mapping[str, tuple[str, ...]]:
        """All sources that it names, by the field of the file that names them."""
        return {
            "expectSources": self.expect_sources,
            "expectAnySource": self.expect_any_source,
            "forbidSources": self.forbid_sources,
            "topSource": self.top_sources,
            "expectCited": self.expect_cited,
        }


def load_gold_queries(
    path: Path, author: str | None, *, check_negation: bool = True
) -> tuple[GoldQuery, ...]:
    """Load a gold file; GoldError names the file, the query and the field of a mistake.

    author: what ``{{author}}`` stands for in a query. check_negation: of queries that do not say.
    """
    queries: list[GoldQuery] = []
    numbers: dict[str, int] = {}
    for number, row in enumerate(read_gold_rows(path), 1):
        query = _parse_query(row, f"{path}: query {number}", author, check_negation)
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


def _parse_query(row: object, where: str, author: str | None, check_negation: bool) -> GoldQuery:
    if not isinstance(row, Mapping):
        raise GoldError(f"{where} is not a list of `key: value` lines; write `id:` and `query:`")
    if "id" in row:
        where = f"{where} ({parse_gold_field(row['id'], GOLD_FIELDS['id'], f'{where}: id')!r})"
    for key in row:
        check_field_name(key, where)
    for key in REQUIRED_FIELDS:
        if key not in row:
            raise GoldError(f"{where}: {key} is missing; write it")
    values = {
        key: parse_gold_field(value, GOLD_FIELDS[key], f"{where}: {key}")
        for key, value in row.items()
    }
    check_field_rules(values, where)
    for name in _PATTERN_FIELDS:
        for number, pattern in enumerate(values.get(name, ()), 1):
            if problem := find_pattern_problem(pattern, is_required=name.startswith("require")):
                # By its number: a pattern may spell words of a note, and a log may be public.
                raise GoldError(f"{where}: {name}: number {number} {problem}")
    values["query"] = _fill_in_author(values["query"], f"{where}: query", author)
    check_has_expectation(values, where)
    values.setdefault("checkNegation", check_negation)
    values["requiresModel"] = values.pop("requires", None) is not None
    query = GoldQuery(**{_snake_case(key): value for key, value in values.items()})
    _check_contradictory_sources(query, where)
    return query


def _snake_case(name: str) -> str:
    return _UPPERCASE.sub(lambda match: f"_{match[0].lower()}", name)


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


def _check_contradictory_sources(query: GoldQuery, where: str) -> None:
    """Refuse a source that is required and forbidden, itself or as a passage of its record."""
    for field in ("expectSources", "expectAnySource", "topSource", "expectCited"):
        for number, source in enumerate(query.sources_by_field[field], 1):
            if {source, source.partition("#")[0]} & set(query.forbid_sources):
                # By its number: it may be the path of a note, and a build's log may be public.
                raise GoldError(
                    f"{where}: {field}: number {number} is forbidden too, by forbidSources; drop "
                    "one of the two"
                )
