"""Render gaps, usage and votes as one self-contained HTML page with plots and without scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Template

from ...indexing.output.atomic_files import write_private_file
from ...indexing.plurals import format_count, format_times
from ..page_templates import load_page_template
from .clusters import Gap
from .plots import (
    PLOT_BOTTOM,
    PLOT_LEFT,
    PLOT_RIGHT,
    PLOT_SIZE,
    PLOT_TOP,
    WeekPlots,
    format_share,
)
from .usage import UsageSummary

_TEMPLATE_PATH = Path(__file__).with_name("gaps.html.jinja")
# Rows of a table before its end says how many more the JSON has.
_MAX_ROWS = 20


@dataclass(frozen=True, slots=True)
class GapsReport:
    """Hold all that the command reports: gaps, usage, and counts of the logs.

    ``refusals``: logged ones, of which the site answers ``answered_since`` by now. ``damaged``:
    events that could not be parsed. ``proposals``: gold queries in YAML, "" for none.
    """

    gaps: Sequence[Gap]
    usage: UsageSummary
    refusals: int
    answered_since: int
    damaged: int
    proposals: str

    @property
    def on_topic(self) -> list[Gap]:
        """Return the gaps that a page would answer."""
        return [gap for gap in self.gaps if gap.action != "off-topic"]

    @property
    def off_topic(self) -> list[Gap]:
        """Return the gaps that have nothing to do with the site."""
        return [gap for gap in self.gaps if gap.action == "off-topic"]


def write_html_page(path: Path, report: GapsReport) -> None:
    """Write the page to a file that its owner alone can read: it holds what readers have typed."""
    write_private_file(path, render_html_page(report).encode("utf-8", "backslashreplace"))


def render_html_page(report: GapsReport) -> str:
    """Render the page as HTML."""
    weeks = report.usage.weeks
    return _load_template().render(
        report=report,
        usage=report.usage,
        plots=WeekPlots(weeks) if weeks else None,
        size=PLOT_SIZE,
        left=PLOT_LEFT,
        right=PLOT_RIGHT,
        top=PLOT_TOP,
        bottom=PLOT_BOTTOM,
        max_rows=_MAX_ROWS,
    )


@cache
def _load_template() -> Template:
    return load_page_template(
        _TEMPLATE_PATH, share=format_share, count=format_count, times=format_times
    )
