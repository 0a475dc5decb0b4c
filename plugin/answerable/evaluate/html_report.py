"""Render an evaluation report as one self-contained HTML page, with charts of floors and trials."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Template

from ..indexing.output.atomic_files import write_file
from .calibration import FloorPoint, FloorQuestions, ScoredQuestion, trace_floor_curve
from .metrics import compute_metrics, compute_metrics_by_tag
from .page_templates import load_page_template
from .report import EvalReport, diff_reports
from .verdict import Verdict
from .verdict_cards import STATUS_LABELS, make_cards

# Width and height of one query's strip, and of a chart with its axes.
STRIP_SIZE = (160, 18)
CHART_SIZE = (560, 240)
CHART_MARGIN = 34
# The labels of the upward axis stand left of this.
CHART_LEFT = 48

_STRIP_EDGE = 6
_TEMPLATE_PATH = Path(__file__).with_name("report.html.jinja")


@dataclass(frozen=True, slots=True)
class ScoreStrip:
    """Place a query's best scores and the floors, in units from the left of its strip."""

    passage: float
    hint: float
    floor: float
    note_floor: float


@dataclass(frozen=True)
class FloorChart:
    """Draw the shares of questions answered and refused as the floor rises, from their scores."""

    answerable: Sequence[float]
    refused: Sequence[float]
    floor: float

    @cached_property
    def points(self) -> Sequence[FloorPoint]:
        """Evaluate each floor."""
        # The chart draws no passages but the best ones, whether they are expected or not.
        kinds = (
            tuple(ScoredQuestion("", score, None, score) for score in scores)
            for scores in (self.answerable, self.refused)
        )
        return trace_floor_curve(FloorQuestions(*kinds))

    @property
    def answered_line(self) -> str:
        """Format the points of an SVG polyline."""
        return _format_polyline(
            [(point.floor, point.answered / point.answerable) for point in self.points]
        )

    @property
    def refused_line(self) -> str:
        """Format the points of an SVG polyline."""
        return _format_polyline(
            [(point.floor, point.refused / point.refusable) for point in self.points]
        )

    @property
    def floor_x(self) -> float:
        """Place the site's floor."""
        return place_point(self.floor, 0)[0]

    @property
    def auroc(self) -> float:
        """Compute how often an answerable question scores above one to be refused."""
        pairs = [
            (high > low) + (high == low) / 2 for high in self.answerable for low in self.refused
        ]
        return fmean(pairs)


@dataclass(frozen=True, slots=True)
class TrialMark:
    """Place and label one trial of an encoding."""

    x: float
    y: float
    label: str
    holds: bool


@dataclass(frozen=True, slots=True)
class TrialChart:
    """Draw trials by their bytes, from the left, and the share of held verdicts, upwards."""

    rows: Sequence[Mapping[str, Any]]

    @property
    def most_bytes(self) -> int:
        return int(max(row["bytes"] for row in self.rows))

    @property
    def least_share(self) -> float:
        return float(min(row["held"] / row["total"] for row in self.rows))

    @property
    def marks(self) -> list[TrialMark]:
        """Place each trial."""
        return [self._place_trial(row) for row in self.rows]

    def _place_trial(self, row: Mapping[str, Any]) -> TrialMark:
        share, spread = row["held"] / row["total"], 1 - self.least_share or 1.0
        x, y = place_point(row["bytes"] / self.most_bytes, (share - self.least_share) / spread)
        label = (
            f"{row['encoding']}@{row['dimensions']}, {row['words']} words, floor "
            f"{row['floor']:g}: {row['bytes'] / 1e6:.3f} MB, "
            f"{row['held']} of {row['total']} verdicts"
        )
        return TrialMark(x, y, label, holds=row["held"] == row["total"])


@dataclass(frozen=True, slots=True)
class TuneTrials:
    """Hold the last trials of `answerable tune`, as it prints them in JSON."""

    made_at: str
    rows: tuple[Mapping[str, Any], ...]


def read_trials(path: Path) -> TuneTrials | None:
    """Read the trials that `answerable tune` has written; None for what cannot be drawn."""
    try:
        data = json.loads(path.read_bytes())
        trials = TuneTrials(str(data["made_at"]), tuple(data["trials"]))
        return trials if trials.rows and TrialChart(trials.rows).marks else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_html_report(
    path: Path, report: EvalReport, previous: EvalReport | None, trials: TuneTrials | None
) -> None:
    """Write the page to a file."""
    page = render_html_report(report, previous, trials)
    write_file(path, page.encode("utf-8", "backslashreplace"))


def render_html_report(
    report: EvalReport, previous: EvalReport | None, trials: TuneTrials | None
) -> str:
    """Render the page as HTML."""
    cards = make_cards(report, previous)
    return _load_template().render(
        report=report,
        metrics=compute_metrics(report.verdicts),
        tags=compute_metrics_by_tag(report.verdicts),
        diff=diff_reports(previous, report) if previous else None,
        judged=[(card, place_scores(card.verdict, report)) for card in cards],
        counts=_count_statuses(report),
        curve=_make_floor_chart(report),
        front=TrialChart(trials.rows) if trials else None,
        trials=trials,
    )


def place_point(x: float, y: float) -> tuple[float, float]:
    """Scale (x, y), each in [0, 1], to a place in a chart."""
    width, height = CHART_SIZE[0] - CHART_LEFT - CHART_MARGIN, CHART_SIZE[1] - 2 * CHART_MARGIN
    return round(CHART_LEFT + width * x, 1), round(CHART_SIZE[1] - CHART_MARGIN - height * y, 1)


def place_scores(verdict: Verdict, report: EvalReport) -> ScoreStrip:
    scores = (verdict.passage_score, verdict.hint_score, report.floor, report.note_floor)
    return ScoreStrip(*map(_scale_score, scores))


def _scale_score(score: float) -> float:
    width = STRIP_SIZE[0] - 2 * _STRIP_EDGE
    return round(_STRIP_EDGE + width * min(1.0, max(0.0, score)), 1)


def _count_statuses(report: EvalReport) -> dict[str, int]:
    """Count the verdicts of each status that is neither a pass nor empty, by its label."""
    statuses = [verdict.status for verdict in report.verdicts]
    return {
        label: statuses.count(status)
        for status, label in STATUS_LABELS.items()
        if status != "pass" and status in statuses
    }


def _make_floor_chart(report: EvalReport) -> FloorChart | None:
    """Chart the floor of passages; None without questions of both kinds."""
    answerable = [
        row.passage_score
        for row in report.verdicts
        if row.is_answerable and row.expected_modes != ("related-material",)
    ]
    refused = [row.passage_score for row in report.verdicts if row.requires_refusal]
    return FloorChart(answerable, refused, report.floor) if answerable and refused else None


def _format_polyline(points: Sequence[tuple[float, float]]) -> str:
    return " ".join("{},{}".format(*place_point(x, y)) for x, y in points)


def _format_moment(timestamp: str) -> str:
    """Format a report's timestamp to the minute."""
    day, _, time = timestamp.partition("T")
    return f"{day} {time[:5].replace('-', ':')} UTC"


def _format_percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _format_interval(bounds: Sequence[float]) -> str:
    low, high = bounds
    return f"{100 * low:.0f} to {100 * high:.0f} %"


@cache
def _load_template() -> Template:
    return load_page_template(
        _TEMPLATE_PATH, percent=_format_percent, interval=_format_interval, moment=_format_moment
    )
