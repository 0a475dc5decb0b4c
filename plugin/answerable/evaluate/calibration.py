"""Which floors tell the questions that a site answers from those that it has to refuse."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

# A floor that fewer questions ask for would be theirs alone.
LEAST = 5
_FLOORS = tuple(step / 100 for step in range(101))
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Point:
    """What a floor does: ``answered`` of ``answerable`` questions, ``refused`` of ``refusable``."""

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
        """The mean of both shares, exact, so that equal ones are equal."""
        shares = Fraction(self.answered, self.answerable) + Fraction(self.refused, self.refusable)
        return shares / 2

    def as_json(self) -> dict[str, Any]:
        """The point as `--json` prints it."""
        shares = {
            "answered_share": round(self.answered_share, _DIGITS),
            "refused_share": round(self.refused_share, _DIGITS),
        }
        return asdict(self) | shares


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the score that a floor is held against.

    ``name``: the id of a gold query, or a question of the bank. ``top``: the passage or the hint
    whose score it is, of those that are expected if the question is answerable; None without one.
    """

    name: str
    score: float
    top: str | None
    is_gold: bool = True

    def as_json(self) -> dict[str, Any]:
        """The question as `--json` prints it."""
        return asdict(self) | {"score": round(self.score, _DIGITS)}


@dataclass(frozen=True, slots=True)
class Calibration:
    """One floor of a site and the questions that it is judged by.

    ``answerable``: lowest score first. ``refusable``: highest first, without ``left_out``: the
    questions of the bank that score above the median of the answerable ones, and so are probably
    about what the site is about.
    """

    floor: float
    answerable: tuple[Asked, ...]
    refusable: tuple[Asked, ...]
    left_out: tuple[Asked, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether there are questions enough of both kinds to propose a floor."""
        return min(len(self.answerable), len(self.refusable)) >= LEAST

    @property
    def points(self) -> tuple[Point, ...]:
        """The trade-off curve."""
        return curve(*self._scores)

    @property
    def auroc(self) -> float:
        """How well the score tells both kinds apart."""
        return auroc(*self._scores)

    @property
    def current(self) -> Point:
        """What the site's floor does."""
        return at(self.floor, *self._scores)

    @property
    def proposed(self) -> Point:
        """The floor with the best mean of both shares; of equals, the one nearest to the site's."""
        return min(
            (self.current, *self.points),
            key=lambda point: (-point.balance, abs(point.floor - self.floor), point.floor),
        )

    def lost(self, floor: float) -> tuple[Asked, ...]:
        """The answerable questions that a floor refuses, lowest score first."""
        return tuple(asked for asked in self.answerable if not passes(asked.score, floor))

    def admitted(self, floor: float) -> tuple[Asked, ...]:
        """The questions to be refused that pass a floor, highest score first."""
        return tuple(asked for asked in self.refusable if passes(asked.score, floor))

    def as_json(self) -> dict[str, Any]:
        """The calibration as `--json` prints it."""
        return {
            "current": self.current.as_json(),
            "proposed": self.proposed.as_json(),
            "auroc": round(self.auroc, _DIGITS),
            "curve": [point.as_json() for point in self.points],
            "answerable": [asked.as_json() for asked in self.answerable],
            "refusable": [asked.as_json() for asked in self.refusable],
            "left_out": [asked.as_json() for asked in self.left_out],
        }

    @property
    def _scores(self) -> tuple[list[float], list[float]]:
        return [asked.score for asked in self.answerable], [a.score for a in self.refusable]


def passes(score: float, floor: float) -> bool:
    """Whether a score is evidence, compared as retrieval compares the two: in float32."""
    return bool(np.float32(score) >= np.float32(floor))


def at(floor: float, answerable: Sequence[float], refused: Sequence[float]) -> Point:
    """What one floor does to the scores of both kinds; neither may be empty."""
    return _points([floor], answerable, refused)[0]


def curve(answerable: Sequence[float], refused: Sequence[float]) -> tuple[Point, ...]:
    """What every floor from 0 to 1 does, in steps of 0.01.

    answerable: scores of questions to be answered; refused: of questions to be refused.
    """
    return _points(_FLOORS, answerable, refused)


def _points(
    floors: Sequence[float], answerable: Sequence[float], refused: Sequence[float]
) -> tuple[Point, ...]:
    lost, held = (
        np.searchsorted(np.sort(np.asarray(scores, np.float32)), np.asarray(floors, np.float32))
        for scores in (answerable, refused)
    )
    return tuple(
        Point(floor, len(answerable) - int(under), len(answerable), int(kept), len(refused))
        for floor, under, kept in zip(floors, lost, held, strict=True)
    )


def auroc(answerable: Sequence[float], refused: Sequence[float]) -> float:
    """The chance that an answerable question scores above one to be refused; a tie counts half.

    The area under the ROC curve, as the statistic of Mann & Whitney (1947).
    """
    others = np.sort(np.asarray(refused, dtype=np.float64))
    below = np.searchsorted(others, answerable, side="left")
    ties = np.searchsorted(others, answerable, side="right") - below
    return float((below + ties / 2).mean() / len(others))


def of(floor: float, answerable: Iterable[Asked], refusable: Iterable[Asked]) -> Calibration:
    """The calibration of a site's floor; what of the bank is probably on topic is left out."""
    answerable = sorted(answerable, key=lambda asked: asked.score)
    refusable = sorted(refusable, key=lambda asked: -asked.score)
    middle = median(asked.score for asked in answerable) if answerable else 1.0
    kept: list[Asked] = []
    left_out: list[Asked] = []
    for asked in refusable:
        on_topic = not asked.is_gold and asked.score > middle
        (left_out if on_topic else kept).append(asked)
    return Calibration(floor, tuple(answerable), tuple(kept), tuple(left_out))
