"""A report of the gold set, printed.

``answerable eval``: the gold set against the bundle.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate import runner
from ..evaluate.gold import GoldQuery, check_gold_sources, load_gold_queries, select_gold_queries
from ..evaluate.html_report import read_trials, write_html_report
from ..evaluate.metrics import Proportion, compute_metrics, compute_metrics_by_tag
from ..evaluate.overlap_lint import check_gold_overlap, read_existing_files, read_prompt_templates
from ..evaluate.report import VerdictRow
from ..evaluate.report_files import (
    EvalReport,
    ReportDiff,
    archive_report,
    diff_reports,
    find_previous_report,
    list_failed_ids,
    make_report,
    read_latest_report,
    read_report,
    write_report,
)
from ..evaluate.runner import Verdict, list_source_names
from ..indexing.progress import show_progress
from ..mkdocs.site_config import load_site_config
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.provider_registry import is_answerer_local
from ..serve.stores.bundle import Bundle
from .context import open_engine, read_function_settings, read_site_notebook
from .evaluate_options import confirm_cost
from .render import to_plain_text

_SHARE_LABELS = {
    "recall": "expected sources retrieved",
    "answered": "questions answered as required",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}


def print_report(report: EvalReport, previous: EvalReport | None, *, as_json: bool) -> None:
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
        table.add_row(to_plain_text(row.id), word, *map(to_plain_text, cells))
    console.print(table)
    for row in report.rows:
        # Under the table, whose columns a log of 80 characters would break.
        if row.issues:
            click.echo(f"FAIL {row.id}: {'; '.join(row.issues)}")
    _print_metrics(console, report.rows)
    if previous:
        _print_diff(console, diff_reports(previous, report))
    console.print(to_plain_text(summarize_report(report)))


def summarize_report(report: EvalReport) -> str:
    """A report on one line."""
    said = f"{report.passed} of {report.asked} passed ({report.tier} tier)"
    if report.skipped:
        said += f", {len(report.skipped)} skipped: only an answer model can be held to those"
    if report.is_aborted:
        said += ", and the run was aborted"
    return said


def _print_metrics(console: Console, rows: tuple[VerdictRow, ...]) -> None:
    found = compute_metrics(rows)
    for name, label in _SHARE_LABELS.items():
        share = found.shares[name]
        if share.whole:
            console.print(f"{label}: {_told(share)}")
    if found.mrr is not None:
        console.print(f"mean reciprocal rank of the first expected source: {found.mrr:.3f}")
    tags = compute_metrics_by_tag(rows)
    if tags:
        table = Table("tag", "passed", "recall", "answered", "refused")
        for tag, of in tags.items():
            shares = (of.passed, of.recall, of.answered, of.refused)
            table.add_row(to_plain_text(tag), *(_short(share) for share in shares))
        console.print(table)


def _told(share: Proportion) -> str:
    low, high = share.interval
    return f"{share.part} of {share.whole} (95 % interval {low:.2f} to {high:.2f})"


def _short(share: Proportion) -> str:
    return f"{share.part} of {share.whole}" if share.whole else ""


def _print_diff(console: Console, found: ReportDiff) -> None:
    for label, ids in (("failing", found.newly_failing), ("passing", found.newly_passing)):
        if ids:
            console.print(to_plain_text(f"Newly {label} since {found.against}: {', '.join(ids)}"))


LATEST_REPORT = "latest"
# Beside the reports: what `answerable tune` has found last.
TRIALS_FILE = "tune.json"
# Under the cache folder.
REPORTS_FOLDER = "eval"


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What to run of the gold set, and how to show it.

    ``from_report``: a path or ``latest``. ``report`` and ``html``: where to write it too.
    ``is_agreed``: do not ask before calls that cost money.
    """

    full: bool = False
    ids: tuple[str, ...] = ()
    from_report: str | None = None
    fail_fast: bool = False
    only_list: bool = False
    report: Path | None = None
    html: Path | None = None
    is_agreed: bool = False
    as_json: bool = False


def run_eval(
    bundle: Path | None, config_file: Path, gold_file: Path | None, options: EvalOptions
) -> bool:
    """Run the gold set, print and keep the report; whether every verdict holds."""
    site = load_site_config(config_file)
    kept = site.cache / REPORTS_FOLDER
    path = gold_file or site.gold
    base, name = _read_base_report(options, kept)
    ids = list_failed_ids(base, name) if base else options.ids
    if base and not ids:
        raise GoldError(f"{name} holds no failure: there is nothing to run again")
    # What failed by its answer is only seen again by an answer.
    full = options.full or (base is not None and base.tier == "full")
    queries = select_gold_queries(load_gold_queries(path, site.author), ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return True
    private = read_site_notebook(site.notebook)
    notes = private.ids
    chosen = read_function_settings(bundle or site.bundle)
    engine = open_engine(bundle or site.bundle, config_file)
    # A note's path may be suggested at a terminal, as it is in the gold set.
    known = list_source_names(engine.store, notes)
    check_gold_sources(queries, path, known, known, unrouted=private.unrouted_paths)
    own = read_existing_files([site.enrichment, site.abbreviations])
    check_gold_overlap(queries, {**own, **read_prompt_templates()}, engine.store.site.name)
    by_model = full and not is_answerer_local(chosen.answers)
    asked = [query for query in queries if by_model or not query.requires_model]
    confirm_cost(
        engine.store.manifest.identity,
        chosen,
        embedded=len(asked),
        answered=len(asked) if by_model else 0,
        is_agreed=options.is_agreed,
    )
    report = make_report(
        engine.store.manifest,
        _collect_verdicts(asked, engine, notes, full=full, fail_fast=options.fail_fast),
        queries,
        asked,
        tier="full" if full else "retrieval",
        answers=chosen.model if by_model else chosen.answers,
    )
    previous = find_previous_report(kept, report)
    # Before it is written: a run that was paid for is seen even where nothing can be.
    print_report(report, previous, as_json=options.as_json)
    archive_report(kept, report, previous)
    if options.report:
        write_report(options.report, report, previous)
    if options.html:
        write_html_report(options.html, report, previous, read_trials(kept / TRIALS_FILE))
    return report.holds


def _read_base_report(options: EvalOptions, kept: Path) -> tuple[EvalReport | None, str]:
    """The report whose failures are run again, if one is named, and what to call it."""
    if options.from_report is None:
        return None, ""
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    if options.from_report == LATEST_REPORT:
        return read_latest_report(kept), "The report of the last run"
    return read_report(Path(options.from_report)), options.from_report


def _collect_verdicts(
    queries: Sequence[GoldQuery],
    engine: Engine[Bundle],
    notes: dict[str, str],
    *,
    full: bool,
    fail_fast: bool,
) -> list[Verdict]:
    """The verdicts, up to the first failure if so wanted, or up to an interruption."""
    found: list[Verdict] = []
    with show_progress("judging") as report:
        try:
            for verdict in runner.run_gold_set(queries, engine, notes, full=full):
                found.append(verdict)
                if report:
                    report(len(found), len(queries))
                if fail_fast and not verdict.passed:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    return found
