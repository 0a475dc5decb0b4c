"""The places of what a report draws, in units of its charts.

A report of the gold set as one page for people, with nothing that it has to fetch.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ..indexing.output.atomic_files import write_file
from .calibration import FloorPoint, compute_auroc, trace_floor_curve
from .metrics import compute_metrics, compute_metrics_by_tag
from .report import VerdictRow
from .report_files import EvalReport, diff_reports

# Of one query's strip, and of a chart with its axes.
STRIP_SIZE = (160, 18)
CHART_SIZE = (560, 240)
CHART_MARGIN = 34
# Where the labels of the upward axis stand.
CHART_LEFT = 48

_STRIP_EDGE = 6


@dataclass(frozen=True, slots=True)
class ScoreStrip:
    """Where a query's best scores stand against the floors, from the left of its strip."""

    passage: float
    hint: float
    floor: float
    note_floor: float


def place_scores(row: VerdictRow, report: EvalReport) -> ScoreStrip:
    """The strip of a verdict."""
    scores = (row.passage_score, row.hint_score, report.floor, report.note_floor)
    return ScoreStrip(*map(_scale_score, scores))


def _scale_score(score: float) -> float:
    width = STRIP_SIZE[0] - 2 * _STRIP_EDGE
    return round(_STRIP_EDGE + width * min(1.0, max(0.0, score)), 1)


@dataclass(frozen=True, slots=True)
class FloorChart:
    """The shares of questions answered and refused as the floor rises, from their best scores."""

    answerable: Sequence[float]
    refused: Sequence[float]
    floor: float

    @property
    def points(self) -> Sequence[FloorPoint]:
        """What each floor does."""
        return trace_floor_curve(self.answerable, self.refused)

    @property
    def answered_line(self) -> str:
        """The points of an SVG polyline."""
        return _format_polyline([(point.floor, point.answered_share) for point in self.points])

    @property
    def refused_line(self) -> str:
        """The points of an SVG polyline."""
        return _format_polyline([(point.floor, point.refused_share) for point in self.points])

    @property
    def floor_x(self) -> float:
        """Where the site's floor stands."""
        return place_point(self.floor, 0)[0]

    @property
    def auroc(self) -> float:
        """How often an answerable question scores above one to be refused."""
        return compute_auroc(self.answerable, self.refused)


@dataclass(frozen=True, slots=True)
class TrialMark:
    """One trial of an encoding: where it stands and what it is."""

    x: float
    y: float
    label: str
    holds: bool


@dataclass(frozen=True, slots=True)
class TrialChart:
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
    def marks(self) -> list[TrialMark]:
        """Where each trial stands."""
        return [self._mark(row) for row in self.rows]

    def _mark(self, row: Mapping[str, Any]) -> TrialMark:
        share, spread = row["held"] / row["total"], 1 - self.least or 1.0
        x, y = place_point(row["bytes"] / self.most, (share - self.least) / spread)
        label = (
            f"{row['encoding']}@{row['dimensions']}, {row['words']} words, floor "
            f"{row['floor']:g}: {row['bytes'] / 1e6:.3f} MB, "
            f"{row['held']} of {row['total']} verdicts"
        )
        return TrialMark(x, y, label, holds=row["held"] == row["total"])


def place_point(x: float, y: float) -> tuple[float, float]:
    """Where (x, y), each in [0, 1], stands in a chart."""
    width, height = CHART_SIZE[0] - CHART_LEFT - CHART_MARGIN, CHART_SIZE[1] - 2 * CHART_MARGIN
    return round(CHART_LEFT + width * x, 1), round(CHART_SIZE[1] - CHART_MARGIN - height * y, 1)


def _format_polyline(points: Sequence[tuple[float, float]]) -> str:
    return " ".join("{},{}".format(*place_point(x, y)) for x, y in points)


_TEMPLATE_FOLDER = Path(__file__).parent
_TEMPLATE_NAME = "report.html.jinja"


@dataclass(frozen=True, slots=True)
class TuneTrials:
    """What `answerable tune` found last, as it prints it in JSON."""

    made_at: str
    rows: tuple[Mapping[str, Any], ...]


def read_trials(path: Path) -> TuneTrials | None:
    """What `answerable tune` has kept in a file, None if that is nothing."""
    try:
        data = json.loads(path.read_bytes())
        found = TuneTrials(str(data["made_at"]), tuple(data["trials"]))
        # What cannot be drawn is no reason to have no report.
        return found if found.rows and TrialChart(found.rows).marks else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_html_report(
    path: Path, report: EvalReport, previous: EvalReport | None, trials: TuneTrials | None
) -> None:
    """Write the page to a file."""
    write_file(
        path, render_html_report(report, previous, trials).encode("utf-8", "backslashreplace")
    )


def render_html_report(
    report: EvalReport, previous: EvalReport | None, trials: TuneTrials | None
) -> str:
    """The page as HTML."""
    difference = diff_reports(previous, report) if previous else None
    changed = {}
    if difference:
        changed = dict.fromkeys(difference.newly_failing, "newly failing")
        changed |= dict.fromkeys(difference.newly_passing, "newly passing")
    return _load_template().render(
        report=report,
        metrics=compute_metrics(report.rows),
        tags=compute_metrics_by_tag(report.rows),
        diff=difference,
        changed=changed,
        judged=[(row, place_scores(row, report)) for row in _failures_first(report)],
        curve=_make_floor_chart(report),
        front=TrialChart(trials.rows) if trials else None,
        trials=trials,
    )


def _make_floor_chart(report: EvalReport) -> FloorChart | None:
    """How the floor of passages trades answers for refusals; None without both kinds."""
    answerable = [
        row.passage_score
        for row in report.rows
        if row.is_answerable and row.expected_mode != "related-material"
    ]
    refused = [row.passage_score for row in report.rows if row.expected_mode == "not-found"]
    return FloorChart(answerable, refused, report.floor) if answerable and refused else None


def _failures_first(report: EvalReport) -> list[VerdictRow]:
    return sorted(report.rows, key=lambda row: row.passed)


def _format_moment(stamp: str) -> str:
    """When a report was made, to the minute."""
    day, _, time = stamp.partition("T")
    return f"{day} {time[:5].replace('-', ':')} UTC"


def _format_percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _format_interval(bounds: Sequence[float]) -> str:
    low, high = bounds
    return f"{100 * low:.0f} to {100 * high:.0f} %"


@cache
def _load_template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATE_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _format_percent,
        "interval": _format_interval,
        "moment": _format_moment,
    }
    return environment.get_template(_TEMPLATE_NAME)
