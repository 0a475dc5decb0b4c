"""Judge a retrieval or an answer by a gold query: list each requirement that it does not meet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..serve.answers.wire import format_answer
from ..serve.errors import GoldError
from ..serve.types import HintCitation, Mode, Reason, RecordCitation, Reply
from .answer_patterns import match_pattern
from .gold import GoldQuery

RankedItem = TypeVar("RankedItem")


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """Hold what is judged of an answer; unlike an Answer it can hold a contradiction."""

    mode: Mode
    text: str
    cites_records: bool
    cites_hints: bool
    reason: Reason | None = None


def summarize_reply(reply: Reply, route: str) -> JudgedAnswer:
    """Reduce a reply to what is judged of it. route: the template of a route's sentence."""
    answer = reply.answer
    return JudgedAnswer(
        answer.mode,
        format_answer(answer, route),
        cites_records=any(isinstance(c, RecordCitation) for c in answer.citations),
        cites_hints=any(isinstance(c, HintCitation) for c in answer.citations),
        reason=reply.reason,
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
    if query.top_source and not (ranked and is_source(ranked[0], query.top_source)):
        issues.append(f"top source is not '{query.top_source}'")
    if query.expect_reason == "no-evidence" and ranked:
        issues.append("expected nothing above the floors")
    return issues


def judge_answer(query: GoldQuery, answer: JudgedAnswer) -> list[str]:
    """List the issues with an answer; [] is a pass."""
    expected = query.expect_answer_mode
    issues = []
    if expected and answer.mode != expected:
        issues.append(f"answer mode '{answer.mode}' (expected '{expected}')")
    if expected == "partial" and answer.cites_hints:
        issues.append("partial mode requires record-only citations")
    if expected == "related-material" and answer.cites_records:
        issues.append("related-material mode requires hint-only citations")
    if query.expect_reason and answer.reason != query.expect_reason:
        issues.append(f"reason '{answer.reason}' (expected '{query.expect_reason}')")
    if answer.reason == "contract":
        issues.append("the answerer broke the contract twice")
    if query.forbid_record_citations and answer.cites_records:
        issues.append("answer must not cite public records for this query")
    pattern_issues = (
        _find_pattern_issue(pattern, answer.text) for pattern in query.forbid_answer_patterns
    )
    return [*issues, *filter(None, pattern_issues)]


def _find_pattern_issue(pattern: str, text: str) -> str | None:
    try:
        is_matched = match_pattern(pattern, text)
    except GoldError as error:
        return str(error)
    return f"answer matched forbidden pattern /{pattern}/" if is_matched else None
