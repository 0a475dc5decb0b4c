"""``answerable eval``: run the gold set over the bundle; print, compare and archive the report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..evaluate.gold_sources import check_gold_sources, list_public_sources
from ..evaluate.html_report import read_trials, write_html_report
from ..evaluate.metrics import Proportion, compute_metrics, compute_metrics_by_tag
from ..evaluate.overlap_lint import check_gold_overlap, read_existing_files, read_prompt_templates
from ..evaluate.report import EvalReport, ReportDiff, diff_reports, make_report
from ..evaluate.report_files import (
    archive_report,
    encode_report,
    find_previous_report,
    list_failed_ids,
    read_latest_report,
    read_report,
    write_report,
)
from ..evaluate.report_markdown import format_run
from ..evaluate.runner import run_gold_set
from ..evaluate.verdict import Verdict
from ..indexing.progress import show_progress
from ..mkdocs.site_config import load_site_config
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.provider_registry import is_answerer_local
from ..serve.stores.bundle import Bundle
from .ci_output import CiOutput, annotations_option, append_step_summary, junit_option
from .context import SiteLocation, open_engine, read_function_settings
from .evaluate_options import (
    REPORTS_FOLDER,
    TRIALS_FILE,
    confirm_cost,
    format_verdict,
    gold_option,
    parse_ids,
    read_note_sources,
)
from .render import to_plain_text

_LATEST_REPORT = "latest"
_SHARE_LABELS = {
    "recall": "expected sources retrieved",
    "answered": "questions answered as required",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Choose what to run of the gold set, and how to show it.

    ``from_report``: a path or ``latest``. ``report`` and ``html``: where to write it too.
    ``is_agreed``: do not ask before calls that cost money. ``ci``: what CI services are told.
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
    ci: CiOutput = field(default_factory=CiOutput)


@click.command("eval")
@gold_option
@click.option("--full", is_flag=True, help="Judge answers too, not only retrieval.")
@click.option("--ids", help="Run these queries only: ids divided by commas.")
@click.option(
    "--from-report",
    metavar="latest|PATH",
    help="Run only what failed in a report; latest is the one of the last run.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option("--list", "only_list", is_flag=True, help="List the queries without running them.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report there too, as JSON.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report as one page for people.",
)
@junit_option
@annotations_option
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    gold: Path | None,
    full: bool,
    ids: str | None,
    from_report: str | None,
    fail_fast: bool,
    only_list: bool,
    report: Path | None,
    html: Path | None,
    junit: Path | None,
    annotations: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the gold set; exit status 1 if a query fails."""
    options = EvalOptions(
        full, parse_ids(ids), from_report, fail_fast, only_list, report, html, yes, as_json,
        CiOutput(junit, annotations=annotations),
    )  # fmt: skip
    raise SystemExit(0 if run_eval(*location, gold, options) else 1)


def run_eval(
    bundle: Path | None, config_file: Path, gold_file: Path | None, options: EvalOptions
) -> bool:
    """Run the gold set, print and archive the report; return whether every verdict holds."""
    site = load_site_config(config_file)
    archive = site.cache / REPORTS_FOLDER
    path = gold_file or site.gold
    base, base_name = _read_base_report(options, archive)
    ids = list_failed_ids(base, base_name) if base else options.ids
    if base and not ids:
        raise GoldError(f"{base_name} holds no failure: there is nothing to run again")
    # What failed by its answer is only seen again by an answer.
    full = options.full or (base is not None and base.tier == "full")
    queries = select_gold_queries(load_gold_queries(path, site.author), ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return True
    notes = read_note_sources(site.notebook)
    settings = read_function_settings(bundle or site.bundle)
    engine = open_engine(bundle or site.bundle, config_file)
    # A note's path may be suggested at a terminal, as it is in the gold set.
    public = list_public_sources(engine.store)
    check_gold_sources(queries, path, public, notes, suggest=public | set(notes.ids))
    texts = read_existing_files([site.enrichment, site.abbreviations]) | read_prompt_templates()
    check_gold_overlap(queries, texts, engine.store.site.name)
    by_model = full and not is_answerer_local(settings.answers)
    runnable = [query for query in queries if by_model or not query.requires_model]
    confirm_cost(
        engine.store.manifest.identity,
        settings,
        embedded=len(runnable),
        answered=len(runnable) if by_model else 0,
        is_agreed=options.is_agreed,
    )
    report = make_report(
        engine.store.manifest,
        _collect_verdicts(runnable, engine, notes.ids, full=full, fail_fast=options.fail_fast),
        queries,
        runnable,
        tier="full" if full else "retrieval",
        answers=settings.model if by_model else settings.answers,
        site_url=engine.store.site.url,
    )
    previous = find_previous_report(archive, report)
    # Before it is written: a run that was paid for is seen even where nothing can be written.
    print_report(report, previous, as_json=options.as_json)
    archive_report(archive, report, previous)
    options.ci.publish_run(report, path)
    append_step_summary(format_run(report))
    if options.report:
        write_report(options.report, report, previous)
    if options.html:
        write_html_report(options.html, report, previous, read_trials(archive / TRIALS_FILE))
    return report.holds


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
        verdict = format_verdict(passed=row.holds)
        table.add_row(to_plain_text(row.id), verdict, *map(to_plain_text, cells))
    console.print(table)
    for row in report.verdicts:
        # Under the table, whose columns a log of 80 characters would break.
        if row.outcome:
            click.echo(f"{'known' if row.holds else 'FAIL'} {row.id}: {row.outcome}")
    _print_metrics(console, report.verdicts)
    if previous:
        _print_diff(console, diff_reports(previous, report))
    console.print(to_plain_text(summarize_report(report)))


def summarize_report(report: EvalReport) -> str:
    """Summarize a report on one line."""
    summary = f"{report.passed} of {report.runnable} passed ({report.tier} tier)"
    if report.known_failures:
        summary += f", {len(report.known_failures)} known to fail"
    if report.skipped:
        summary += f", {len(report.skipped)} skipped: only an answer model can be held to those"
    if report.is_aborted:
        summary += ", and the run was aborted"
    return summary


def _read_base_report(options: EvalOptions, archive: Path) -> tuple[EvalReport | None, str]:
    """Read the report whose failures are run again, if one is named, and name it for errors."""
    if options.from_report is None:
        return None, ""
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    if options.from_report == _LATEST_REPORT:
        return read_latest_report(archive), "The report of the last run"
    return read_report(Path(options.from_report)), options.from_report


def _collect_verdicts(
    queries: Sequence[GoldQuery],
    engine: Engine[Bundle],
    note_ids: Mapping[str, str],
    *,
    full: bool,
    fail_fast: bool,
) -> list[Verdict]:
    """Collect the verdicts, up to an interruption or, if so wanted, to the first failure."""
    verdicts: list[Verdict] = []
    with show_progress("judging") as report_progress:
        try:
            for verdict in run_gold_set(queries, engine, note_ids, full=full):
                verdicts.append(verdict)
                if report_progress:
                    report_progress(len(verdicts), len(queries))
                if fail_fast and not verdict.holds:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    return verdicts


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
        table = Table("tag", "passed", "recall", "answered", "refused")
        for tag, each in by_tag.items():
            shares = (each.passed, each.recall, each.answered, each.refused)
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
