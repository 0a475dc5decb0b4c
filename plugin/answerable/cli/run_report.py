"""Print the report of a gold run: verdicts as a table, what is wrong, metrics, costs, a summary."""

import json
from collections.abc import Mapping, Sequence

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.metrics import Proportion, compute_metrics, compute_metrics_by_tag
from ..evaluate.report import EvalReport, ReportDiff, diff_reports
from ..evaluate.report_files import encode_report
from ..evaluate.verdict import Verdict, VerdictStatus
from .evaluate_options import format_verdict
from .render import to_plain_text

# What opens the line about a verdict under the table; FAIL for any other.
_LINE_LABELS: Mapping[VerdictStatus, str] = {
    "known-failure": "KNOWN",
    "error": "ERROR",
    "flaky": "FLAKY",
}
_SHARE_LABELS = {
    "recall": "expected sources retrieved",
    "precision": "retrieved items that are of an expected source",
    "answered": "questions answered as required",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}


def print_report(report: EvalReport, previous: EvalReport | None, *, as_json: bool) -> None:
    """Print a report as tables, or as JSON. previous: the run that it is compared with."""
    if as_json:
        click.echo(json.dumps(encode_report(report, previous), indent=2))
        return
    console = Console()
    table = Table("query", "verdict", "mode", "score", "top")
    for row in report.verdicts:
        score = f"{max(row.passage_score, row.hint_score):.3f}"
        cells = (row.mode or "", score, row.top or "")
        verdict = _format_status(row.status)
        table.add_row(to_plain_text(row.id), verdict, *map(to_plain_text, cells))
    console.print(table)
    for row in report.verdicts:
        # Under the table, whose columns a log of 80 characters would break.
        if row.outcome:
            click.echo(f"{_LINE_LABELS.get(row.status, 'FAIL')} {row.id}: {row.outcome}")
            if row.note:
                click.echo(f"  note: {row.note}")
    _print_metrics(console, report.verdicts)
    if previous:
        _print_diff(console, diff_reports(previous, report))
    console.print(to_plain_text(summarize_report(report)))


def _format_status(status: VerdictStatus) -> str:
    if status in ("error", "flaky", "known-failure"):
        return f"[yellow]{status}[/yellow]"
    if status == "unexpected-pass":
        return f"[red]{status}[/red]"
    return format_verdict(passed=status == "pass")


def summarize_report(report: EvalReport) -> str:
    """Summarize a report on one line."""
    summary = f"{report.passed} of {report.runnable} passed ({report.tier} tier)"
    if report.known_failures:
        summary += f", {len(report.known_failures)} known to fail"
    if report.unexpected_passes:
        summary += f", {len(report.unexpected_passes)} passed unexpectedly"
    if report.flaky:
        summary += f", {len(report.flaky)} flaky"
    if report.errors:
        summary += f", {len(report.errors)} not judged, because a call failed"
    if report.skipped:
        summary += f", {len(report.skipped)} skipped: only an answer model can be held to those"
    if report.is_aborted:
        summary += ", and the run was aborted"
    return summary


def _print_metrics(console: Console, verdicts: Sequence[Verdict]) -> None:
    metrics = compute_metrics(verdicts)
    for name, label in _SHARE_LABELS.items():
        share = metrics.shares[name]
        if share.whole:
            low, high = share.interval
            interval = f"(95 % interval {low:.2f} to {high:.2f})"
            console.print(f"{label}: {share.part} of {share.whole} {interval}")
    if metrics.mrr is not None:
        console.print(f"mean reciprocal rank of the first expected source: {metrics.mrr:.3f}")
    by_tag = compute_metrics_by_tag(verdicts)
    if by_tag:
        table = Table("tag", "passed", "recall", "precision", "answered", "refused")
        for tag, each in by_tag.items():
            shares = (each.passed, each.recall, each.precision, each.answered, each.refused)
            table.add_row(to_plain_text(tag), *map(_format_share, shares))
        console.print(table)


def _format_share(share: Proportion) -> str:
    return f"{share.part} of {share.whole}" if share.whole else ""


def _print_diff(console: Console, diff: ReportDiff) -> None:
    for label, ids in (("failing", diff.newly_failing), ("passing", diff.newly_passing)):
        if ids:
            console.print(to_plain_text(f"Newly {label} since {diff.against}: {', '.join(ids)}"))
    if diff.changed_answers:
        names = ", ".join(diff.changed_answers)
        console.print(to_plain_text(f"Answers changed since {diff.against}: {names}"))
