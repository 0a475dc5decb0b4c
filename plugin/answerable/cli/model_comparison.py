"""Print two models' verdicts of the same queries side by side, with their totals."""

from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Column, Table

from ..evaluate.report import EvalReport
from .evaluate_options import format_status
from .render import to_plain_text


def print_comparison(report: EvalReport, against: EvalReport) -> None:
    """Print the verdict of each query by both models, then what each run came to."""
    console = Console()
    reports = (report, against)
    by_id = [{verdict.id: verdict for verdict in each.verdicts} for each in reports]
    table = _make_table("query", reports)
    for name in dict.fromkeys([*by_id[0], *by_id[1]]):
        cells = [
            format_status(verdicts[name].status) if name in verdicts else "" for verdicts in by_id
        ]
        table.add_row(to_plain_text(name), *cells)
    console.print(table)
    totals = _make_table("total", reports)
    rows = [_list_totals(each) for each in reports]
    for label, value in rows[0].items():
        totals.add_row(label, value, rows[1][label])
    console.print(totals)
    statuses = [{name: each.holds for name, each in verdicts.items()} for verdicts in by_id]
    for first, second in ((0, 1), (1, 0)):
        only = [n for n, holds in statuses[first].items() if holds and not statuses[second].get(n)]
        if only:
            click.echo(f"Only {reports[first].answers} passes: {', '.join(only)}")


def _make_table(label: str, reports: Sequence[EvalReport]) -> Table:
    return Table(label, *(Column(to_plain_text(each.answers)) for each in reports))


def _list_totals(report: EvalReport) -> dict[str, str]:
    usage = report.usage
    return {
        "passed": f"{report.passed} of {report.runnable}",
        "flaky": str(len(report.flaky)),
        "not judged": str(len(report.errors)),
        "tokens read": f"{usage.input_tokens:,}" if usage else "",
        "tokens written": f"{usage.output_tokens:,}" if usage else "",
        "seconds": f"{usage.seconds:.1f}" if usage else "",
        "cost": "" if report.cost is None else f"{report.cost:.4f}",
    }
