"""``answerable eval --encoding``: let the gold set admit or reject how a bundle holds vectors."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.gate import GateReport, format_regressions, summarize_gate_report
from ..mkdocs.site_config import certify_encoding
from ..serve.vectors.encodings import ENCODING_NAMES, REMOVED_ENCODINGS
from .render import to_plain_text


class EncodingChoice(click.Choice[str]):
    """Choose an encoding; one that is gone is refused with what to use instead."""

    def __init__(self) -> None:
        super().__init__(ENCODING_NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if instead := REMOVED_ENCODINGS.get(value):
            self.fail(f"{value} is gone: use {instead}", param, ctx)
        return super().convert(value, param, ctx)


def check_encoding(
    config_file: Path,
    encoding: str | None,
    dimensions: int | None,
    gold: Path | None,
    ids: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """Judge an encoding and print the report; the exit status is 1 unless it is certified."""
    report, problem = certify_encoding(config_file, encoding, dimensions, gold, ids)
    if as_json:
        decision = {
            "decision": report.word,
            "held": report.held_count,
            "failing": report.failing,
            "unpublished": problem,
        }
        click.echo(json.dumps(asdict(report) | decision, indent=2))
    else:
        _print_gate_report(report, problem)
    return 0 if report.certified else 1


def _print_gate_report(report: GateReport, problem: str | None) -> None:
    console = Console()
    table = Table("query", "full precision", report.lever, "rho", "what has changed")
    for comparison in report.comparisons:
        table.add_row(
            to_plain_text(comparison.id),
            _format_verdict(passed=comparison.passed_before),
            _format_verdict(passed=comparison.passed_after),
            f"{comparison.rho:.4f}",
            to_plain_text("; ".join(comparison.flips)),
        )
    console.print(table)
    console.print(to_plain_text(summarize_gate_report(report)))
    if report.failing:
        console.print(to_plain_text(f"Failing at full precision: {', '.join(report.failing)}"))
    if report.flipped and report.is_whole:
        console.print(to_plain_text(f"Flipped: {format_regressions(report)}"))
    if problem:
        console.print(to_plain_text(f"Not published as it is: {problem}."))


def _format_verdict(*, passed: bool) -> str:
    return "[green]pass[/green]" if passed else "[red]FAIL[/red]"
