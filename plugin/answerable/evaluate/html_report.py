"""A report of the gold set as one page for people, with nothing that it has to fetch."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ..build import files
from . import charts, metrics, reports
from .charts import Curve, Front
from .reports import Report
from .rows import Row

_HERE = Path(__file__).parent
_TEMPLATE = "report.html.jinja"


@dataclass(frozen=True, slots=True)
class Trials:
    """What `answerable tune` found last, as it prints it in JSON."""

    made_at: str
    rows: tuple[Mapping[str, Any], ...]


def read_trials(path: Path) -> Trials | None:
    """What `answerable tune` has kept in a file, None if that is nothing."""
    try:
        data = json.loads(path.read_bytes())
        found = Trials(str(data["made_at"]), tuple(data["trials"]))
        # What cannot be drawn is no reason to have no report.
        return found if found.rows and charts.Front(found.rows).marks else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write(path: Path, report: Report, previous: Report | None, trials: Trials | None) -> None:
    """Write the page to a file."""
    files.write(path, page(report, previous, trials).encode("utf-8", "backslashreplace"))


def page(report: Report, previous: Report | None, trials: Trials | None) -> str:
    """The page as HTML."""
    difference = reports.diff(previous, report) if previous else None
    changed = {}
    if difference:
        changed = dict.fromkeys(difference.newly_failing, "newly failing")
        changed |= dict.fromkeys(difference.newly_passing, "newly passing")
    return _template().render(
        report=report,
        metrics=metrics.of(report.rows),
        tags=metrics.by_tag(report.rows),
        diff=difference,
        changed=changed,
        judged=[(row, charts.strip(row, report)) for row in _failures_first(report)],
        curve=_curve(report),
        front=Front(trials.rows) if trials else None,
        trials=trials,
    )


def _curve(report: Report) -> Curve | None:
    """How the floor of passages trades answers for refusals; None without both kinds."""
    answerable = [
        row.passage_score
        for row in report.rows
        if row.is_answerable and row.expected_mode != "related-material"
    ]
    refused = [row.passage_score for row in report.rows if row.expected_mode == "not-found"]
    return Curve(answerable, refused, report.floor) if answerable and refused else None


def _failures_first(report: Report) -> list[Row]:
    return sorted(report.rows, key=lambda row: row.passed)


def _moment(stamp: str) -> str:
    """When a report was made, to the minute."""
    day, _, time = stamp.partition("T")
    return f"{day} {time[:5].replace('-', ':')} UTC"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _interval(bounds: Sequence[float]) -> str:
    low, high = bounds
    return f"{100 * low:.0f} to {100 * high:.0f} %"


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": _percent, "interval": _interval, "moment": _moment}
    return environment.get_template(_TEMPLATE)
