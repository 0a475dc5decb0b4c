"""What a gold query says of a retrieval or of an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..serve.answers.wire import format_answer
from ..serve.errors import GoldError
from ..serve.types import HintCitation, Mode, Passage, Reason, RecordCitation, Reply, RoutingHint
from .answer_patterns import match_pattern
from .gold import GoldQuery

EvidenceItem = Passage | RoutingHint
RankedItem = TypeVar("RankedItem")


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What a judge looks at in an answer; unlike an Answer it can hold a contradiction."""

    mode: Mode
    text: str
    cites_records: bool
    cites_hints: bool
    reason: Reason | None = None


def summarize_reply(reply: Reply, route: str) -> JudgedAnswer:
    """A reply as a judge looks at it. route: the template of a route's sentence."""
    settled = reply.answer
    return JudgedAnswer(
        settled.mode,
        format_answer(settled, route),
        cites_records=any(isinstance(c, RecordCitation) for c in settled.citations),
        cites_hints=any(isinstance(c, HintCitation) for c in settled.citations),
        reason=reply.reason,
    )


def judge_retrieval(
    query: GoldQuery, ranked: Sequence[RankedItem], is_source: Callable[[RankedItem, str], bool]
) -> list[str]:
    """The issues with what was retrieved, best first over both streams; none is a pass.

    is_source: whether a ranked item is what a gold source names.
    """
    issues = [
        f"expected source '{source}' not retrieved"
        for source in query.expect_sources
        if not any(is_source(item, source) for item in ranked)
    ]
    issues += [
        f"forbidden source '{source}' was retrieved"
        for source in query.forbid_sources
        if any(is_source(item, source) for item in ranked)
    ]
    if query.top_source and not (ranked and is_source(ranked[0], query.top_source)):
        issues.append(f"top source is not '{query.top_source}'")
    if query.expect_reason == "no-evidence" and ranked:
        issues.append("expected nothing above the floors")
    return issues


def judge_answer(query: GoldQuery, found: JudgedAnswer) -> list[str]:
    """The issues with an answer; none is a pass."""
    expected = query.expect_answer_mode
    issues = []
    if expected and found.mode != expected:
        issues.append(f"answer mode '{found.mode}' (expected '{expected}')")
    if expected == "partial" and found.cites_hints:
        issues.append("partial mode requires record-only citations")
    if expected == "related-material" and found.cites_records:
        issues.append("related-material mode requires hint-only citations")
    if query.expect_reason and found.reason != query.expect_reason:
        issues.append(f"reason '{found.reason}' (expected '{query.expect_reason}')")
    if found.reason == "contract":
        issues.append("the answerer broke the contract twice")
    if query.forbid_record_citations and found.cites_records:
        issues.append("answer must not cite public records for this query")
    matched = (_find_pattern_issue(pattern, found.text) for pattern in query.forbid_answer_patterns)
    return [*issues, *filter(None, matched)]


def _find_pattern_issue(pattern: str, text: str) -> str | None:
    """What is wrong with an answer by one forbidden pattern, None if nothing is."""
    try:
        found = match_pattern(pattern, text)
    except GoldError as error:
        return str(error)
    return f"answer matched forbidden pattern /{pattern}/" if found else None


def matches_source(item: EvidenceItem, source: str, notes: Mapping[str, str]) -> bool:
    """Whether a gold source names an item: its record, its passage or, by path, its note.

    notes: from a note's path to its id.
    """
    if isinstance(item, Passage):
        return source in (item.record, item.id)
    return notes.get(source) == item.note
