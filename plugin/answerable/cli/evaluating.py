"""``answerable eval``: the gold set against the bundle."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..build import notebook
from ..evaluate import gold, runner
from ..evaluate.runner import Verdict
from ..mkdocs import settings
from ..serve import prompt
from . import opening, showing


@dataclass(frozen=True, slots=True)
class Options:
    """What to run of the gold set, and how to show it."""

    full: bool
    ids: tuple[str, ...]
    fail_fast: bool
    only_list: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has judged: which bundle, which prompt, and how many queries there were to run."""

    bundle: str
    prompt: str
    verdicts: tuple[Verdict, ...]
    total: int


def evaluate(
    bundle: Path | None, config_file: Path, gold_file: Path | None, options: Options
) -> bool:
    """Run the gold set and print the verdicts; whether all of them passed."""
    site = settings.load(config_file)
    path = gold_file or site.gold
    queries = gold.choose(gold.load(path, site.author), options.ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return True
    notes = {n.path: n.id for n in notebook.read(site.notebook)} if site.notebook else {}
    engine = opening.engine(bundle or site.bundle, config_file)
    gold.check_sources(queries, path, runner.known_sources(engine.bundle, notes))
    verdicts: list[Verdict] = []
    for verdict in runner.run(queries, engine, notes, full=options.full):
        verdicts.append(verdict)
        if options.fail_fast and not verdict.passed:
            break
    report = Report(engine.bundle.manifest.id, prompt.VERSION, tuple(verdicts), len(queries))
    _show(report, options)
    return len(verdicts) == len(queries) and all(verdict.passed for verdict in verdicts)


def _show(report: Report, options: Options) -> None:
    verdicts = report.verdicts
    if options.as_json:
        rows = [_row(verdict) for verdict in verdicts]
        body = {"bundle": report.bundle, "prompt": report.prompt, "verdicts": rows}
        click.echo(json.dumps(body, indent=2))
        return
    console = Console()
    table = Table("query", "verdict", "mode", "score", "top", "issues")
    for v in verdicts:
        word = "[green]pass[/green]" if v.passed else "[red]FAIL[/red]"
        cells = (v.mode or "", f"{v.top_score:.3f}", v.top_id or "", "; ".join(v.issues))
        table.add_row(showing.plain(v.query.id), word, *map(showing.plain, cells))
    console.print(table)
    passed = sum(verdict.passed for verdict in verdicts)
    console.print(
        f"{passed} of {report.total} passed ({'full' if options.full else 'retrieval'} tier)"
    )


def _row(verdict: Verdict) -> dict[str, Any]:
    return {
        "id": verdict.query.id,
        "passed": verdict.passed,
        "mode": verdict.mode,
        "top": verdict.top_id,
        "top_score": round(verdict.top_score, 6),
        "issues": list(verdict.issues),
    }
