"""Compute recall, reciprocal rank and shares with confidence intervals of verdicts, also by tag."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .verdict import SourceRank, Verdict

# Of the standard normal distribution: 95 % lie within so many deviations.
_Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Proportion:
    """Count ``part`` of ``whole``, with a 95 % confidence interval of the share."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """Divide, into [0, 1]; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Compute Wilson's score interval (E. B. Wilson, JASA 22, 1927), within [0, 1]."""
        if not self.whole:
            return 0.0, 1.0
        share, square = self.part / self.whole, _Z_95 * _Z_95 / self.whole
        middle = (share + square / 2) / (1 + square)
        spread = _Z_95 * math.sqrt(share * (1 - share) / self.whole + square / 4 / self.whole)
        spread /= 1 + square
        return max(0.0, middle - spread), min(1.0, middle + spread)

    def as_json(self) -> dict[str, Any]:
        """Encode the share as a report holds it."""
        low, high = self.interval
        return {
            "part": self.part,
            "whole": self.whole,
            "value": None if self.value is None else round(self.value, 4),
            "interval": [round(low, 4), round(high, 4)],
        }


@dataclass(frozen=True, slots=True)
class Metrics:
    """Summarize verdicts in numbers.

    ``recall``: expected sources among the retrieved, the first eight of each stream.
    ``precision``: retrieved items, the same, that are of an expected source. ``mrr``: the
    mean of 1 / rank of the first expected source, None without one. ``answered``: questions to be
    answered that were, in the mode they require; in the retrieval tier, that were not refused.
    ``refused``: questions to be refused that were; in the retrieval tier, by the floors.
    ``quoted``: claims whose quotes were verified, of all that were drafted.
    """

    passed: Proportion
    recall: Proportion
    precision: Proportion
    mrr: float | None
    answered: Proportion
    refused: Proportion
    quoted: Proportion

    @property
    def shares(self) -> Mapping[str, Proportion]:
        """List the shares by their names."""
        return {
            "passed": self.passed,
            "recall": self.recall,
            "precision": self.precision,
            "answered": self.answered,
            "refused": self.refused,
            "quoted": self.quoted,
        }

    def as_json(self) -> dict[str, Any]:
        """Encode the metrics as a report holds them."""
        mrr = None if self.mrr is None else round(self.mrr, 4)
        return {name: share.as_json() for name, share in self.shares.items()} | {"mrr": mrr}


def compute_metrics(verdicts: Sequence[Verdict]) -> Metrics:
    """Compute the metrics of verdicts; all but ``passed`` leave out those that are errors."""
    judged = [verdict for verdict in verdicts if verdict.error is None]
    ranks = [each.rank for verdict in judged for each in verdict.ranks]
    reciprocal_ranks = [_best_reciprocal_rank(verdict.ranks) for verdict in judged if verdict.ranks]
    sourced = [verdict for verdict in judged if verdict.ranks]
    claims = sum(verdict.claims for verdict in judged)
    return Metrics(
        passed=_count_true(verdict.passed for verdict in verdicts),
        recall=_count_true(rank is not None for rank in ranks),
        precision=Proportion(
            sum(verdict.relevant for verdict in sourced),
            sum(verdict.retrieved for verdict in sourced),
        ),
        mrr=sum(reciprocal_ranks) / len(reciprocal_ranks) if reciprocal_ranks else None,
        answered=_count_true(verdict.is_answered for verdict in judged if verdict.is_answerable),
        refused=_count_true(verdict.is_refused for verdict in judged if verdict.requires_refusal),
        quoted=Proportion(claims, claims + sum(verdict.dropped for verdict in judged)),
    )


def compute_metrics_by_tag(verdicts: Sequence[Verdict]) -> dict[str, Metrics]:
    """Compute the metrics of the verdicts that bear each tag, in the order of tags."""
    tags = sorted({tag for verdict in verdicts for tag in verdict.tags})
    return {
        tag: compute_metrics([verdict for verdict in verdicts if tag in verdict.tags])
        for tag in tags
    }


def _best_reciprocal_rank(ranks: Iterable[SourceRank]) -> float:
    return max((1 / each.rank for each in ranks if each.rank), default=0.0)


def _count_true(values: Iterable[bool]) -> Proportion:
    listed = list(values)
    return Proportion(sum(listed), len(listed))
