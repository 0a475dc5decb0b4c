"""How much evidence an answerer is given: whole passages within one budget."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from .types import Evidence, Passage

TOTAL = 24_000
PER_RECORD = 6_000

Limit = Literal["budget", "record-budget"]


def fit(evidence: Evidence, total: int = TOTAL, per_record: int = PER_RECORD) -> Evidence:
    """Evidence within a budget, in characters of text and title; hints cost nothing.

    Whole passages are left out, lowest first, and never a part of one. A record's best passage
    counts against the total only, so that a long one is not lost to the record's own share.
    """
    passages = evidence.passages
    limited = limits(passages, total, per_record)
    if not any(limited):
        return evidence
    fitting = [place for place, limit in enumerate(limited) if limit is None]
    return Evidence(
        tuple(passages[place] for place in fitting),
        evidence.hints,
        evidence.lead,
        tuple(evidence.section_scores[place] for place in fitting if evidence.section_scores),
        tuple(evidence.terms[place] for place in fitting if evidence.terms),
    )


def limits(
    passages: Sequence[Passage], total: int = TOTAL, per_record: int = PER_RECORD
) -> tuple[Limit | None, ...]:
    """The limit that leaves each passage out, best first; None for one that fits."""
    found: list[Limit | None] = []
    used = 0
    by_record: Counter[str] = Counter()
    for passage in passages:
        size = len(passage.text) + len(passage.title)
        share = by_record[passage.record]
        if used + size > total:
            found.append("budget")
        elif share and share + size > per_record:
            found.append("record-budget")
        else:
            found.append(None)
            used += size
            by_record[passage.record] += size
    return tuple(found)
