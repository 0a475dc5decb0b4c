"""Lay out the plots of weekly usage in SVG units: stacked columns and a line of shares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .usage import WeekUsage

# Of a width that needs no scaling on a phone, where text has to stay readable.
PLOT_SIZE = (360, 170)
# Where the axes are: the left and the right end of the horizontal one, the ends of the vertical.
PLOT_LEFT, PLOT_RIGHT = 40, 350
PLOT_TOP, PLOT_BOTTOM = 12, 142
# So many weeks are drawn, the last ones; a table has all.
MAX_PLOTTED_WEEKS = 26

_MAX_COLUMN_WIDTH = 34.0
# The part of a column's place that it fills.
_COLUMN_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class WeekColumn:
    """Place a week's column: answered questions at the bottom, refused ones above them."""

    label: str
    left: float
    width: float
    answered_top: float
    answered_height: float
    refused_top: float
    refused_height: float


@dataclass(frozen=True, slots=True)
class SharePoint:
    """Place the share of refused questions of a week."""

    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """Place a label under the horizontal axis. ``anchor``: of SVG's ``text-anchor``."""

    text: str
    x: float
    anchor: str


@dataclass(frozen=True, slots=True)
class WeekPlots:
    """Lay out the plots of some weeks, at least one, in order."""

    all_weeks: Sequence[WeekUsage]

    @property
    def weeks(self) -> Sequence[WeekUsage]:
        """Return the weeks that are drawn."""
        return self.all_weeks[-MAX_PLOTTED_WEEKS:]

    @property
    def highest_count(self) -> int:
        """Round the most questions of a week up to the top of the axis, an even number."""
        most = max(week.decided for week in self.weeks)
        step = max(2, int(10 ** (len(str(most)) - 1)))
        return max(2, math.ceil(most / step) * step)

    @property
    def columns(self) -> list[WeekColumn]:
        """Place the columns."""
        width = min(_MAX_COLUMN_WIDTH, self._week_width * _COLUMN_SHARE)
        return [
            WeekColumn(
                label=f"{week.week}: {week.answered} answered, {week.refused} refused",
                left=round(self._place_week(number) - width / 2, 1),
                width=round(width, 1),
                answered_top=self._place_count(week.answered),
                answered_height=round(PLOT_BOTTOM - self._place_count(week.answered), 1),
                refused_top=self._place_count(week.decided),
                refused_height=round(
                    self._place_count(week.answered) - self._place_count(week.decided), 1
                ),
            )
            for number, week in enumerate(self.weeks)
        ]

    @property
    def share_points(self) -> list[SharePoint]:
        """Place the share of refused questions of each week that has any."""
        return [
            SharePoint(f"{week.week}: {format_share(share)} refused", self._place_week(number), y)
            for number, week in enumerate(self.weeks)
            if (share := week.refused_share) is not None
            for y in [round(PLOT_BOTTOM - share * (PLOT_BOTTOM - PLOT_TOP), 1)]
        ]

    @property
    def share_lines(self) -> list[str]:
        """Format the points of SVG polylines, which weeks without questions interrupt."""
        places = {point.x: point.y for point in self.share_points}
        lines: list[list[str]] = [[]]
        for number in range(len(self.weeks)):
            x = self._place_week(number)
            if x in places:
                lines[-1].append(f"{x},{places[x]}")
            elif lines[-1]:
                lines.append([])
        return [" ".join(line) for line in lines if len(line) > 1]

    @property
    def axis_labels(self) -> list[AxisLabel]:
        """Label the first and the last week, and the one between them where there is room."""
        last = len(self.weeks) - 1
        numbers = sorted({0, last // 2, last} if last > 3 else {0, last})
        return [
            AxisLabel(
                self.weeks[number].week,
                self._place_week(number),
                "middle" if 0 < number < last or not last else "end" if number else "start",
            )
            for number in numbers
        ]

    @property
    def _week_width(self) -> float:
        return (PLOT_RIGHT - PLOT_LEFT) / len(self.weeks)

    def _place_week(self, number: int) -> float:
        return round(PLOT_LEFT + (number + 0.5) * self._week_width, 1)

    def _place_count(self, count: int) -> float:
        height = PLOT_BOTTOM - PLOT_TOP
        return round(PLOT_BOTTOM - height * count / self.highest_count, 1)


def format_share(share: float | None) -> str:
    """Format a share in percent; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.0f} %"
