"""The places of what a report draws, in units of its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import calibration
from .reports import Report
from .rows import Row

# Of one query's strip, and of a chart with its axes.
STRIP = (160, 18)
CHART = (560, 240)
MARGIN = 34
# Where the labels of the upward axis stand.
LEFT = 48

_STRIP_EDGE = 6


@dataclass(frozen=True, slots=True)
class Strip:
    """Where a query's best scores stand against the floors, from the left of its strip."""

    passage: float
    hint: float
    floor: float
    note_floor: float


def strip(row: Row, report: Report) -> Strip:
    """The strip of a verdict."""
    scores = (row.passage_score, row.hint_score, report.floor, report.note_floor)
    return Strip(*map(_on_strip, scores))


def _on_strip(score: float) -> float:
    width = STRIP[0] - 2 * _STRIP_EDGE
    return round(_STRIP_EDGE + width * min(1.0, max(0.0, score)), 1)


@dataclass(frozen=True, slots=True)
class Curve:
    """The shares of questions answered and refused as the floor rises, from their best scores."""

    answerable: Sequence[float]
    refused: Sequence[float]
    floor: float

    @property
    def points(self) -> Sequence[calibration.Point]:
        """What each floor does."""
        return calibration.curve(self.answerable, self.refused)

    @property
    def answered_line(self) -> str:
        """The points of an SVG polyline."""
        return _line([(point.floor, point.answered_share) for point in self.points])

    @property
    def refused_line(self) -> str:
        """The points of an SVG polyline."""
        return _line([(point.floor, point.refused_share) for point in self.points])

    @property
    def floor_x(self) -> float:
        """Where the site's floor stands."""
        return place(self.floor, 0)[0]

    @property
    def auroc(self) -> float:
        """How often an answerable question scores above one to be refused."""
        return calibration.auroc(self.answerable, self.refused)


@dataclass(frozen=True, slots=True)
class Mark:
    """One trial of an encoding: where it stands and what it is."""

    x: float
    y: float
    label: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Front:
    """Trials by their bytes (from the left) and the share of verdicts that they hold (upwards)."""

    rows: Sequence[Mapping[str, Any]]

    @property
    def most(self) -> int:
        """The bytes of the largest one."""
        return int(max(row["bytes"] for row in self.rows))

    @property
    def least(self) -> float:
        """The share of verdicts that the worst one holds."""
        return float(min(row["held"] / row["total"] for row in self.rows))

    @property
    def marks(self) -> list[Mark]:
        """Where each trial stands."""
        return [self._mark(row) for row in self.rows]

    def _mark(self, row: Mapping[str, Any]) -> Mark:
        share, spread = row["held"] / row["total"], 1 - self.least or 1.0
        x, y = place(row["bytes"] / self.most, (share - self.least) / spread)
        label = (
            f"{row['encoding']}@{row['dimensions']}, {row['words']} words, floor "
            f"{row['floor']:g}: {row['bytes'] / 1e6:.3f} MB, "
            f"{row['held']} of {row['total']} verdicts"
        )
        return Mark(x, y, label, holds=row["held"] == row["total"])


def place(x: float, y: float) -> tuple[float, float]:
    """Where (x, y), each in [0, 1], stands in a chart."""
    width, height = CHART[0] - LEFT - MARGIN, CHART[1] - 2 * MARGIN
    return round(LEFT + width * x, 1), round(CHART[1] - MARGIN - height * y, 1)


def _line(points: Sequence[tuple[float, float]]) -> str:
    return " ".join("{},{}".format(*place(x, y)) for x, y in points)
