"""Count questions answered and refused at each floor, from their scores, and compute the AUROC."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

SHARE_DIGITS = 4

_FLOOR_GRID = tuple(step / 100 for step in range(101))


@dataclass(frozen=True, slots=True)
class FloorPoint:
    """Count what a floor does: ``answered`` of ``answerable``, ``refused`` of ``refusable``."""

    floor: float
    answered: int
    answerable: int
    refused: int
    refusable: int

    @property
    def answered_share(self) -> float:
        return self.answered / self.answerable

    @property
    def refused_share(self) -> float:
        return self.refused / self.refusable

    @property
    def balance(self) -> Fraction:
        """Average both shares, exactly, so that equal ones are equal."""
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


def evaluate_floors(
    floors: Sequence[float], answerable: Sequence[float], refusable: Sequence[float]
) -> tuple[FloorPoint, ...]:
    """Count what some floors do to the scores of both kinds; neither may be empty."""
    lost, refused = (
        np.searchsorted(np.sort(np.asarray(scores, np.float32)), np.asarray(floors, np.float32))
        for scores in (answerable, refusable)
    )
    return tuple(
        FloorPoint(floor, len(answerable) - int(under), len(answerable), int(below), len(refusable))
        for floor, under, below in zip(floors, lost, refused, strict=True)
    )


def trace_floor_curve(
    answerable: Sequence[float], refusable: Sequence[float]
) -> tuple[FloorPoint, ...]:
    """Count what every floor from 0 to 1 does, in steps of 0.01.

    answerable: scores of questions to be answered; refusable: of questions to be refused.
    """
    return evaluate_floors(_FLOOR_GRID, answerable, refusable)


def compute_auroc(answerable: Sequence[float], refusable: Sequence[float]) -> float:
    """Compute the chance that an answerable question scores above one to be refused.

    A tie counts half. The area under the ROC curve, as the statistic of Mann & Whitney (1947).
    """
    others = np.sort(np.asarray(refusable, dtype=np.float64))
    below = np.searchsorted(others, answerable, side="left")
    ties = np.searchsorted(others, answerable, side="right") - below
    return float((below + ties / 2).mean() / len(others))
