"""How much evidence an answerer is given: whole passages within one budget."""

from collections import Counter

from .types import Evidence, Passage

TOTAL = 24_000
PER_RECORD = 6_000


def fit(evidence: Evidence, total: int = TOTAL, per_record: int = PER_RECORD) -> Evidence:
    """Evidence within a budget, in characters of text and title; hints cost nothing.

    Whole passages are left out, lowest first, and never a part of one. A record's best passage
    counts against the total only, so that a long one is not lost to the record's own share.
    """
    kept: list[Passage] = []
    used = 0
    by_record: Counter[str] = Counter()
    for passage in evidence.passages:
        size = len(passage.text) + len(passage.title)
        first = by_record[passage.record] == 0
        if used + size > total or not (first or by_record[passage.record] + size <= per_record):
            continue
        kept.append(passage)
        used += size
        by_record[passage.record] += size
    if len(kept) == len(evidence.passages):
        return evidence
    return Evidence(tuple(kept), evidence.hints, evidence.lead)
