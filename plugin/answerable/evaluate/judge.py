"""What a gold query says of a retrieval or of an answer."""

import re
from collections.abc import Mapping, Sequence

from ..serve import wire
from ..serve.types import Passage, RecordCitation, Reply, RoutingHint
from .gold import GoldQuery

Item = Passage | RoutingHint


def retrieval(query: GoldQuery, items: Sequence[Item], notes: Mapping[str, str]) -> list[str]:
    """The issues with what was retrieved, best first over both streams; none is a pass.

    notes: from a note's path to its id.
    """
    issues = [
        f"expected source {source!r} was not retrieved"
        for source in query.expect_sources
        if not any(is_source(item, source, notes) for item in items)
    ]
    issues += [
        f"forbidden source {source!r} was retrieved"
        for source in query.forbid_sources
        if any(is_source(item, source, notes) for item in items)
    ]
    if query.top_source and not (items and is_source(items[0], query.top_source, notes)):
        found = items[0].id if items else "nothing"
        issues.append(f"top source is {found!r}, expected {query.top_source!r}")
    return issues


def answer(query: GoldQuery, reply: Reply) -> list[str]:
    """The issues with an answer; none is a pass."""
    settled = reply.answer
    issues = []
    if query.expect_answer_mode and settled.mode != query.expect_answer_mode:
        issues.append(f"answer mode {settled.mode!r}, expected {query.expect_answer_mode!r}")
    if reply.reason == "contract":
        issues.append("the answerer broke the contract twice")
    records = any(isinstance(citation, RecordCitation) for citation in settled.citations)
    if query.forbid_record_citations and records:
        issues.append("a record is cited, which the query forbids")
    text = wire.plain(settled)
    issues += [
        f"the answer matches the forbidden pattern {pattern!r}"
        for pattern in query.forbid_answer_patterns
        if re.search(pattern, text, re.I)
    ]
    return issues


def is_source(item: Item, source: str, notes: Mapping[str, str]) -> bool:
    """Whether a retrieved item is what a gold source names."""
    if isinstance(item, Passage):
        return source in (item.record, item.id)
    return notes.get(source) == item.id
