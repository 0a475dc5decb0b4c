"""Judge a retrieval or an answer by a gold query: list each requirement that it does not meet."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..serve.answers.wire import format_answer
from ..serve.errors import GoldError
from ..serve.text.languages import base_language
from ..serve.types import HintCitation, Mode, Reason, RecordCitation, Reply
from .answer_patterns import match_pattern
from .gold import GoldQuery
from .gold_sources import list_cited_sources
from .negation import NegationConflict, find_negation_conflicts

RankedItem = TypeVar("RankedItem")

_NO_NOTES: Mapping[str, str] = {}
# Characters of a sentence in an issue.
_MAX_SHOWN = 100


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """Hold what is judged of an answer; unlike an Answer it can hold a contradiction.

    ``cited``: every name that a gold file may give to something that the answer cites.
    ``conflicts``: where a claim and a sentence that it quotes disagree in negation.
    """

    mode: Mode
    text: str
    cites_records: bool
    cites_hints: bool
    reason: Reason | None = None
    cited: frozenset[str] = frozenset()
    conflicts: tuple[NegationConflict, ...] = ()


def summarize_reply(reply: Reply, route: str, notes: Mapping[str, str] = _NO_NOTES) -> JudgedAnswer:
    """Reduce a reply to what is judged of it.

    route: the template of a route's sentence. notes: from a note's path to its id.
    """
    answer = reply.answer
    return JudgedAnswer(
        answer.mode,
        format_answer(answer, route),
        cites_records=any(isinstance(c, RecordCitation) for c in answer.citations),
        cites_hints=any(isinstance(c, HintCitation) for c in answer.citations),
        reason=reply.reason,
        cited=list_cited_sources(answer.citations, notes),
        conflicts=find_negation_conflicts(reply),
    )


def judge_retrieval(
    query: GoldQuery,
    ranked: Sequence[RankedItem],
    is_source: Callable[[RankedItem, str], bool],
) -> list[str]:
    """List the issues with a retrieval, best item first over both streams; [] is a pass.

    is_source: tells whether a ranked item is what a gold source names.
    """

    def is_retrieved(source: str) -> bool:
        return any(is_source(item, source) for item in ranked)

    issues = [
        f"expected source '{source}' not retrieved"
        for source in query.expect_sources
        if not is_retrieved(source)
    ]
    issues += [
        f"forbidden source '{source}' was retrieved"
        for source in query.forbid_sources
        if is_retrieved(source)
    ]
    if query.expect_any_source and not any(map(is_retrieved, query.expect_any_source)):
        listed = ", ".join(repr(source) for source in query.expect_any_source)
        issues.append(f"none of the sources {listed} was retrieved")
    if query.top_source and not (ranked and is_source(ranked[0], query.top_source)):
        issues.append(f"top source is not '{query.top_source}'")
    if query.expect_reason == "no-evidence" and ranked:
        issues.append("expected nothing above the floors")
    return issues


def judge_answer(query: GoldQuery, answer: JudgedAnswer) -> list[str]:
    """List the issues with an answer; [] is a pass.

    Those that the reference pipeline has too come first, in its order.
    """
    modes = query.expected_modes
    issues = []
    if modes and answer.mode not in modes:
        listed = " or ".join(repr(mode) for mode in modes)
        issues.append(f"answer mode '{answer.mode}' (expected {listed})")
    if query.forbid_record_citations and answer.cites_records:
        issues.append("answer must not cite public records for this query")
    mode = modes[0] if len(modes) == 1 else answer.mode if answer.mode in modes else None
    if mode == "partial" and answer.cites_hints:
        issues.append("partial mode requires record-only citations")
    if mode == "related-material" and answer.cites_records:
        issues.append("related-material mode requires hint-only citations")
    issues += _find_pattern_issues(query, answer.text)
    if query.expect_reason and answer.reason != query.expect_reason:
        issues.append(f"reason '{answer.reason}' (expected '{query.expect_reason}')")
    if answer.reason == "contract":
        issues.append("the answerer broke the contract twice")
    issues += [
        f"expected source '{source}' not cited"
        for source in query.expect_cited
        if source not in answer.cited
    ]
    if query.check_negation and base_language(query.language or "en") == "en":
        issues += [
            f"claim {_shorten(each.claim)} and the quoted sentence {_shorten(each.source)} "
            "disagree in negation"
            for each in answer.conflicts
        ]
    return issues


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…")


def _find_pattern_issues(query: GoldQuery, text: str) -> Iterator[str]:
    """Yield an issue for each forbidden pattern that a text has, then each required one it lacks.

    A search that takes too long is an issue as well.
    """
    for pattern in query.forbid_answer_patterns:
        try:
            if match_pattern(pattern, text):
                yield f"answer matched forbidden pattern /{pattern}/"
        except GoldError as error:
            yield str(error)
    for pattern in query.require_answer_patterns:
        try:
            if not match_pattern(pattern, text, "required"):
                yield f"answer lacks required pattern /{pattern}/"
        except GoldError as error:
            yield str(error)
