"""Count questions answered and refused at each floor, from their scores, and compute the AUROC."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

SHARE_DIGITS = 4

_FLOOR_GRID = tuple(step / 100 for step in range(101))


@dataclass(frozen=True, slots=True)
class FloorScores:
    """The scores that one floor is compared with, by the kind of question.

    ``answerable``: of the best passage or note that is expected; ``best``: of the best of all, for
    the same questions. ``refusable``: gold queries that a floor has to refuse. ``off_topic``: the
    bank's questions.
    """

    answerable: tuple[float, ...]
    best: tuple[float, ...]
    refusable: tuple[float, ...]
    off_topic: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FloorPoint:
    """Count what a floor does: ``answered`` of ``answerable``, ``refused`` of ``refusable``.

    ``misled``: answerable questions that only pages pass the floor for that are not expected.
    ``off_topic_refused`` of ``off_topic`` are of the bank, which counts in no share.
    """

    floor: float
    answered: int
    answerable: int
    refused: int
    refusable: int
    misled: int = 0
    off_topic_refused: int = 0
    off_topic: int = 0

    @property
    def wrong(self) -> int:
        """Count the questions that are shown something else than what they require."""
        return self.misled + self.refusable - self.refused

    @property
    def answered_share(self) -> float:
        return self.answered / max(1, self.answerable)

    @property
    def refused_share(self) -> float:
        return self.refused / max(1, self.refusable)

    @property
    def balance(self) -> Fraction:
        """Average both shares, exactly, so that equal ones are equal; neither kind may be empty."""
        shares = Fraction(self.answered, self.answerable) + Fraction(self.refused, self.refusable)
        return shares / 2

    def as_json(self) -> dict[str, Any]:
        """Encode the point as `--json` prints it."""
        shares = {
            "answered_share": round(self.answered_share, SHARE_DIGITS),
            "refused_share": round(self.refused_share, SHARE_DIGITS),
        }
        return asdict(self) | shares


def passes_floor(score: float, floor: float) -> bool:
    """Compare a score with a floor as retrieval compares the two: in float32."""
    return bool(np.float32(score) >= np.float32(floor))


def evaluate_floors(floors: Sequence[float], scores: FloorScores) -> tuple[FloorPoint, ...]:
    """Count what some floors do to the questions."""
    refused_counts = [
        np.searchsorted(np.sort(np.asarray(kind, np.float32)), np.asarray(floors, np.float32))
        for kind in (scores.answerable, scores.best, scores.refusable, scores.off_topic)
    ]
    return tuple(
        FloorPoint(
            floor,
            len(scores.answerable) - int(lost),
            len(scores.answerable),
            int(refused),
            len(scores.refusable),
            int(lost) - int(silent),
            int(off_topic_refused),
            len(scores.off_topic),
        )
        for floor, lost, silent, refused, off_topic_refused in zip(
            floors, *refused_counts, strict=True
        )
    )


def trace_floor_curve(scores: FloorScores) -> tuple[FloorPoint, ...]:
    """Count what every floor from 0 to 1 does, in steps of 0.01."""
    return evaluate_floors(_FLOOR_GRID, scores)


def compute_auroc(answerable: Sequence[float], refusable: Sequence[float]) -> float:
    """Compute the chance that an answerable question scores above one to be refused.

    A tie counts half; neither kind may be empty. The area under the ROC curve, as the statistic of
    Mann & Whitney (1947).
    """
    others = np.sort(np.asarray(refusable, dtype=np.float64))
    below = np.searchsorted(others, answerable, side="left")
    ties = np.searchsorted(others, answerable, side="right") - below
    return float((below + ties / 2).mean() / len(others))
