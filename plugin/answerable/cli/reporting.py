"""A report of the gold set, printed."""

import json

import click
from rich.console import Console
from rich.table import Table

from ..evaluate import metrics, reports
from ..evaluate.metrics import Share
from ..evaluate.reports import Report
from ..evaluate.rows import Row
from . import showing

_NAMES = {
    "recall": "expected sources retrieved",
    "answered": "questions answered as required",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}


def show(report: Report, previous: Report | None, *, as_json: bool) -> None:
    """Print a report as tables, or as JSON. previous: the run that it is held against."""
    if as_json:
        click.echo(json.dumps(report.as_json(previous), indent=2))
        return
    console = Console()
    table = Table("query", "verdict", "mode", "score", "top")
    for row in report.rows:
        word = "[green]pass[/green]" if row.passed else "[red]FAIL[/red]"
        score = f"{max(row.passage_score, row.hint_score):.3f}"
        cells = (row.mode or "", score, row.top or "")
        table.add_row(showing.plain(row.id), word, *map(showing.plain, cells))
    console.print(table)
    for row in report.rows:
        # Under the table, whose columns a log of 80 characters would break.
        if row.issues:
            click.echo(f"FAIL {row.id}: {'; '.join(row.issues)}")
    _metrics(console, report.rows)
    if previous:
        _diff(console, reports.diff(previous, report))
    console.print(showing.plain(summary(report)))


def summary(report: Report) -> str:
    """A report on one line."""
    said = f"{report.passed} of {report.asked} passed ({report.tier} tier)"
    if report.skipped:
        said += f", {len(report.skipped)} skipped: only an answer model can be held to those"
    if report.is_aborted:
        said += ", and the run was aborted"
    return said


def _metrics(console: Console, rows: tuple[Row, ...]) -> None:
    found = metrics.of(rows)
    for name, label in _NAMES.items():
        share = found.shares[name]
        if share.whole:
            console.print(f"{label}: {_told(share)}")
    if found.mrr is not None:
        console.print(f"mean reciprocal rank of the first expected source: {found.mrr:.3f}")
    tags = metrics.by_tag(rows)
    if tags:
        table = Table("tag", "passed", "recall", "answered", "refused")
        for tag, of in tags.items():
            shares = (of.passed, of.recall, of.answered, of.refused)
            table.add_row(showing.plain(tag), *(_short(share) for share in shares))
        console.print(table)


def _told(share: Share) -> str:
    low, high = share.interval
    return f"{share.part} of {share.whole} (95 % interval {low:.2f} to {high:.2f})"


def _short(share: Share) -> str:
    return f"{share.part} of {share.whole}" if share.whole else ""


def _diff(console: Console, found: reports.Diff) -> None:
    for label, ids in (("failing", found.newly_failing), ("passing", found.newly_passing)):
        if ids:
            console.print(showing.plain(f"Newly {label} since {found.against}: {', '.join(ids)}"))
