"""What a set of verdicts says in numbers, each with how far it can be trusted."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .report import VerdictRow

# Of the standard normal distribution: 95 % lie within so many deviations.
_Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, with the interval that holds the true share 95 times of 100."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """In [0, 1]; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval (E. B. Wilson, JASA 22, 1927), within [0, 1]."""
        if not self.whole:
            return 0.0, 1.0
        share, square = self.part / self.whole, _Z_95 * _Z_95 / self.whole
        middle = (share + square / 2) / (1 + square)
        spread = _Z_95 * math.sqrt(share * (1 - share) / self.whole + square / 4 / self.whole)
        spread /= 1 + square
        return max(0.0, middle - spread), min(1.0, middle + spread)

    def as_json(self) -> dict[str, Any]:
        """The share as a report holds it."""
        low, high = self.interval
        return {
            "part": self.part,
            "whole": self.whole,
            "value": None if self.value is None else round(self.value, 4),
            "interval": [round(low, 4), round(high, 4)],
        }


@dataclass(frozen=True, slots=True)
class Metrics:
    """What some verdicts come to.

    ``recall``: expected sources among what was retrieved, the first eight of each stream.
    ``mrr``: the mean of 1 / rank of the first expected source, None without one. ``answered``:
    questions to be answered that were, in the mode they require; in the retrieval tier, that were
    not refused. ``refused``: questions to be refused that were; in the retrieval tier, by the
    floors. ``quoted``: claims whose quotes were found, of all that were drafted.
    """

    passed: Proportion
    recall: Proportion
    mrr: float | None
    answered: Proportion
    refused: Proportion
    quoted: Proportion

    @property
    def shares(self) -> Mapping[str, Proportion]:
        """The shares by their names."""
        return {
            "passed": self.passed,
            "recall": self.recall,
            "answered": self.answered,
            "refused": self.refused,
            "quoted": self.quoted,
        }

    def as_json(self) -> dict[str, Any]:
        """The metrics as a report holds them."""
        mrr = None if self.mrr is None else round(self.mrr, 4)
        return {name: share.as_json() for name, share in self.shares.items()} | {"mrr": mrr}


def compute_metrics(rows: Sequence[VerdictRow]) -> Metrics:
    """The metrics of some verdicts."""
    ranks = [rank for row in rows for rank in row.ranks]
    firsts = [_reciprocal_rank(row.ranks) for row in rows if row.ranks]
    wanted = [row for row in rows if row.is_answerable]
    refusals = [row for row in rows if row.expected_mode == "not-found"]
    return Metrics(
        passed=_proportion_of(row.passed for row in rows),
        recall=_proportion_of(rank is not None for rank in ranks),
        mrr=sum(firsts) / len(firsts) if firsts else None,
        answered=_proportion_of(row.is_answered for row in wanted),
        refused=_proportion_of(row.is_refused for row in refusals),
        quoted=Proportion(
            sum(row.claims for row in rows), sum(row.claims + row.dropped for row in rows)
        ),
    )


def compute_metrics_by_tag(rows: Sequence[VerdictRow]) -> dict[str, Metrics]:
    """The metrics of the verdicts that bear each tag, in the order of tags."""
    tags = sorted({tag for row in rows for tag in row.tags})
    return {tag: compute_metrics([row for row in rows if tag in row.tags]) for tag in tags}


def _reciprocal_rank(ranks: Iterable[int | None]) -> float:
    return max((1 / rank for rank in ranks if rank), default=0.0)


def _proportion_of(held: Iterable[bool]) -> Proportion:
    found = list(held)
    return Proportion(sum(found), len(found))
