"""Print the report of a gold run: verdicts as a table, what is wrong, metrics, costs, a summary."""

import json
from collections.abc import Callable, Mapping, Sequence

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.github_commands import defuse_commands
from ..evaluate.metrics import Proportion, compute_metrics, compute_metrics_by_tag
from ..evaluate.report import EvalReport, ReportDiff, diff_reports
from ..evaluate.report_files import encode_report
from ..evaluate.verdict import Verdict, VerdictStatus
from .ci_output import is_log_public
from .evaluate_options import format_status
from .model_comparison import print_comparison
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
    "answered": "questions that got an answer",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}


def print_report(
    report: EvalReport,
    previous: EvalReport | None,
    against: EvalReport | None = None,
    *,
    as_json: bool,
) -> None:
    """Print a report as tables, or as JSON. previous: the run that it is compared with.

    against: the report of another model, printed side by side; in JSON, both are in ``models``.
    The tables name nothing private in the log of a CI service; JSON is the whole report.
    """
    if as_json:
        data = encode_report(report, previous)
        if against:
            data = {"models": [data, encode_report(against, None)]}
        click.echo(json.dumps(data, indent=2))
        return
    if is_log_public():
        report = report.public
    console = Console()
    columns = _choose_columns(report)
    table = Table("query", "verdict", *columns)
    for row in report.verdicts:
        cells = (to_plain_text(read_cell(row)) for read_cell in columns.values())
        table.add_row(to_plain_text(row.id), format_status(row.status), *cells)
    console.print(table)
    for row in report.verdicts:
        # Under the table, whose columns a log of 80 characters would break.
        if row.outcome:
            _print_text(f"{_LINE_LABELS.get(row.status, 'FAIL')} {row.id}: {row.outcome}")
            if row.note:
                _print_text(f"  note: {row.note}")
    _print_metrics(console, report.verdicts)
    if previous:
        _print_diff(console, diff_reports(previous, report))
    if against:
        print_comparison(report, against)
    if usage := summarize_usage(report):
        console.print(to_plain_text(usage))
    console.print(to_plain_text(summarize_report(report)))


def _print_text(text: str) -> None:
    """Print a text of the gold file, so that no line of it is a command to a CI service."""
    click.echo(defuse_commands(text) if is_log_public() else text)


def _choose_columns(report: EvalReport) -> Mapping[str, Callable[[Verdict], str]]:
    """Choose the columns of the table of verdicts: what a model has cost only where one was."""
    columns: dict[str, Callable[[Verdict], str]] = {
        "mode": lambda row: row.mode or "",
        "score": lambda row: f"{max(row.passage_score, row.hint_score):.3f}",
        "top": lambda row: row.top or "",
    }
    if any(row.runs for row in report.verdicts):
        columns["runs passed"] = lambda row: f"{row.pass_count} of {len(row.runs)}"
    if report.judge:
        columns["supported"] = lambda row: (
            f"{sum(each.support == 'yes' for each in row.supports)} of {len(row.supports)}"
            if row.supports
            else ""
        )
    if report.usage:
        columns["tokens"] = lambda row: (
            f"{row.usage.input_tokens} + {row.usage.output_tokens}" if row.usage else ""
        )
        columns["seconds"] = lambda row: f"{row.usage.seconds:.1f}" if row.usage else ""
    return columns


def summarize_usage(report: EvalReport) -> str:
    """Summarize what the calls of an answer model took, on one line; "" without any."""
    usage = report.usage
    if usage is None:
        return ""
    tokens = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
    cost = "" if report.cost is None else f", cost {report.cost:.4f} by evaluate.prices"
    return f"{report.answers}: {tokens}, {usage.seconds:.1f} seconds of answers{cost}"


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
