"""``answerable eval``: the gold set over the bundle, printed, compared and archived."""

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from ..evaluate.diff import format_run_markdown
from ..evaluate.gate import format_regressions, summarize_gate_report
from ..evaluate.gold import GoldQuery, load_gold_queries, locate_queries, select_gold_queries
from ..evaluate.judge import EntailmentJudge
from ..evaluate.page import Page, ReportSection, Table, format_annotation
from ..evaluate.query_retrieval import make_source_finder
from ..evaluate.report import (
    EvalReport,
    archive_report,
    encode_report,
    find_previous_report,
    make_report,
    read_latest_report,
    read_report,
    write_report,
)
from ..evaluate.run_page import make_run_page, render_junit, write_run_page
from ..evaluate.runner import RunOptions, run_gold_queries
from ..evaluate.sources import (
    NoteSources,
    check_gold_overlap,
    check_gold_sources,
    list_bundle_metadata,
    list_public_sources,
    make_note_sources,
    read_existing_files,
    read_prompt_templates,
)
from ..evaluate.verdict import ModelPrice, Verdict
from ..indexing.caches import show_progress
from ..indexing.output.files import write_file
from ..mkdocs.site_config import SiteConfig, certify_encoding, load_site_config
from ..serve.answers.openai_answerer import MAX_PROMPT_CLAIMS
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS, answers_in_process
from ..serve.providers import make_engine
from ..serve.settings import FunctionSettings
from ..serve.stores.bundle import Bundle
from ..serve.vectors import ENCODING_NAMES, REMOVED_ENCODINGS
from .context import SiteLocation, open_engine, read_function_settings, read_site_notebook
from .render import print_page


class EncodingChoice(click.Choice[str]):
    """Choose an encoding; one that is gone is refused with what to use instead."""

    def __init__(self) -> None:
        super().__init__(ENCODING_NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if instead := REMOVED_ENCODINGS.get(value):
            self.fail(f"{value} is gone: use {instead}", param, ctx)
        return super().convert(value, param, ctx)


# Folder of reports under the cache folder.
REPORTS_FOLDER = "eval"
# Queries that are asked of a model at once, unless an option says otherwise.
_MODEL_JOBS = 4
_OPENAI_HOST = ANSWERER_PROVIDERS["openai"].host or ""

gold_option = click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.",
)
junit_option = click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the verdicts there too, as JUnit XML.",
)
annotations_option = click.option(
    "--annotations",
    is_flag=True,
    help="Print annotations of GitHub Actions on standard error. Default: on in GitHub Actions.",
)


@dataclass(frozen=True, slots=True)
class AskedSite:
    """An open site, the settings of its function, its notes and its options for evaluation.

    ``prices``: of tokens, by the name of a model. ``judge``: of claims, in the full tier.
    """

    engine: Engine[Bundle]
    settings: FunctionSettings
    notes: NoteSources
    prices: Mapping[str, ModelPrice]
    judge: EntailmentJudge | None


def open_asked_site(bundle: Path, config_file: Path, config: SiteConfig) -> AskedSite:
    """Open the bundle of a site to ask it gold queries."""
    engine, settings = open_engine(bundle, config_file), read_function_settings(bundle)
    notes = read_note_sources(config.notebook)
    return AskedSite(engine, settings, notes, config.prices, config.judge)


def ask_site(
    site: AskedSite,
    queries: Sequence[GoldQuery],
    options: RunOptions,
    *,
    is_agreed: bool,
    fail_fast: bool = False,
) -> EvalReport:
    """Run queries over the answerer of a site, after a word about its cost; click.Abort for a no.

    options: of no job at once choose a default. is_agreed: do not ask before calls that cost money.
    """
    settings, store = site.settings, site.engine.store
    by_model = options.full and not answers_in_process(settings.answers)
    runnable = [query for query in queries if by_model or not query.requires_model]
    judge = site.judge if options.full else None
    confirm_cost(
        store.manifest.identity,
        settings,
        embedded=len(runnable),
        answered=len(runnable) * options.repeat if by_model else 0,
        is_agreed=is_agreed,
        judge=judge,
        judged=len(runnable) * options.repeat,
    )
    engine = make_engine(store, site.engine.embedder, settings)
    jobs = options.jobs or (_MODEL_JOBS if by_model else 1)
    plan = replace(options, jobs=jobs, judge=judge)
    verdicts: list[Verdict] = []
    with show_progress("judging") as report_progress:
        try:
            for verdict in run_gold_queries(runnable, engine, site.notes.ids, plan):
                verdicts.append(verdict)
                if report_progress:
                    report_progress(len(verdicts), len(runnable))
                if fail_fast and not verdict.holds:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    answers = name_answerer(settings) if options.full else settings.answers
    return make_report(
        store.manifest,
        verdicts,
        queries,
        runnable,
        tier="full" if options.full else "retrieval",
        answers=answers,
        site_url=store.site.url,
        price=site.prices.get(answers),
        judge=judge.model if judge else None,
    )


def publish_run(report: EvalReport, gold_file: Path, junit: Path | None, annotations: bool) -> None:
    """Write JUnit XML, if it is asked for, and annotations of a run for CI services.

    gold_file: which holds the queries.
    """
    # Relative to the checked out repository, as GitHub names files.
    folder = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    file = gold_file.resolve()
    file = file.relative_to(folder) if file.is_relative_to(folder) else gold_file
    if junit:
        write_file(junit, render_junit(report, file))
    if annotations or os.environ.get("GITHUB_ACTIONS") == "true":
        lines = locate_queries(gold_file)
        for verdict in report.public.verdicts:
            if verdict.status != "pass":
                message = (verdict.query, verdict.outcome, verdict.note)
                annotation = format_annotation(
                    "notice" if verdict.holds else "error",
                    "\n".join(filter(None, message)),
                    file=file.as_posix(),
                    line=lines.get(verdict.id),
                    title=f"{verdict.status}: {verdict.id}",
                )
                # On standard error, since standard output may be JSON; a runner reads both.
                click.echo(annotation, err=True)


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """The options of the command, by their names there."""

    gold: Path | None
    full: bool
    ids: str | None
    from_report: str | None
    fail_fast: bool
    only_list: bool
    report: Path | None
    html: Path | None
    junit: Path | None
    annotations: bool
    jobs: int | None
    repeat: int
    model: str | None
    against_model: str | None
    encoding: str | None
    dimensions: int | None
    yes: bool
    as_json: bool


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
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    help="Ask so many queries at once. Default: 4 of a model, 1 without one.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Ask each query so often, and tell which are flaky.",
)
@click.option("--model", metavar="NAME", help="Ask this model instead of the configured one.")
@click.option(
    "--against-model",
    metavar="NAME",
    help="Ask this model too, and print both side by side.",
)
@click.option(
    "--encoding",
    type=EncodingChoice(),
    help="Certify or reject this way to hold vectors, in a build that is not published.",
)
@click.option("--dimensions", type=int, help="Certify so many leading dimensions of them.")
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def command(location: SiteLocation, /, **values: Any) -> None:
    """Run the gold set; exit status 1 if a query fails, 2 if none could be judged."""
    options = EvalOptions(**values)
    if options.encoding or options.dimensions is not None:
        others = ("full", "from_report", "only_list", "report", "html", "junit")
        if any(values[name] for name in (*others, "model", "against_model")):
            raise click.UsageError(
                "--encoding and --dimensions go with --gold, --ids and --json: drop the others"
            )
        raise SystemExit(_check_encoding(location[1], options))
    raise SystemExit(run_eval(*location, options))


def _check_encoding(config_file: Path, options: EvalOptions) -> int:
    """Judge an encoding and print the report; the exit status is 1 unless it is certified."""
    report, problem = certify_encoding(
        config_file, options.encoding, options.dimensions, options.gold, parse_ids(options.ids)
    )
    if options.as_json:
        decision = {
            "decision": report.word,
            "held": report.held_count,
            "failing": report.failing,
            "unpublished": problem,
        }
        click.echo(json.dumps(asdict(report) | decision, indent=2))
        return 0 if report.certified else 1
    words = {True: "pass", False: "FAIL"}
    rows = tuple(
        (
            comparison.id,
            words[comparison.passed_before],
            words[comparison.passed_after],
            f"{comparison.rho:.4f}",
            "; ".join(comparison.flips),
        )
        for comparison in report.comparisons
    )
    table = Table(("query", "full precision", report.lever, "rho", "what has changed"), rows)
    lines = [summarize_gate_report(report)]
    if report.failing:
        lines.append(f"Failing at full precision: {', '.join(report.failing)}")
    if report.flipped and report.is_whole:
        lines.append(f"Flipped: {format_regressions(report)}")
    if problem:
        lines.append(f"Not published as it is: {problem}.")
    print_page(Page("", summary=tuple(lines), sections=(ReportSection(table=table),)), wraps=True)
    return 0 if report.certified else 1


def run_eval(bundle: Path | None, config_file: Path, options: EvalOptions) -> int:
    """Run the gold set, print and archive the report; return the exit status.

    0: every verdict holds; 1: one does not; 2: no query could be judged, because calls failed.
    """
    config = load_site_config(config_file)
    archive = config.cache / REPORTS_FOLDER
    path = options.gold or config.gold
    ids, full = _choose_ids(options, archive)
    all_queries = load_gold_queries(path, config.author, check_negation=config.check_negation)
    queries = select_gold_queries(all_queries, ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return 0
    if not full and (options.model or options.against_model):
        raise click.UsageError("--model and --against-model need answers: add --full")
    site = open_asked_site(bundle or config.bundle, config_file, config)
    store = site.engine.store
    check_site_sources(queries, path, site.engine, site.notes)
    texts = read_existing_files([config.enrichment, config.abbreviations])
    texts |= read_prompt_templates() | list_bundle_metadata(store)
    check_gold_overlap(queries, texts, store.site.name)

    def ask(model: str | None) -> EvalReport:
        other = replace(site, settings=_choose_model(site.settings, model))
        plan = RunOptions(full, options.jobs or 0, options.repeat)
        agreed, stops = options.yes, options.fail_fast
        return ask_site(other, queries, plan, is_agreed=agreed, fail_fast=stops)

    against = None
    if options.against_model:
        against = ask(options.against_model)
        archive_report(archive, against, find_previous_report(archive, against))
        if against.is_aborted:
            _print_report(against, None, as_json=options.as_json)
            return 1
    report = ask(options.model)
    previous = find_previous_report(archive, report)
    # Before it is written: a run that was paid for is seen even where nothing can be written.
    _print_report(report, previous, against, as_json=options.as_json)
    archived = archive_report(archive, report, previous)
    if not options.as_json:
        click.echo(f"Report: {archived}")
    publish_run(report, path, options.junit, options.annotations)
    append_step_summary(format_run_markdown(report))
    if options.report:
        write_report(options.report, report, previous)
    if options.html:
        write_run_page(options.html, report, previous)
    return 0 if report.holds else 2 if report.is_unjudged else 1


def _choose_ids(options: EvalOptions, archive: Path) -> tuple[Sequence[str], bool]:
    """Choose the ids of the queries to run, all for none, and whether they need answers.

    What failed by its answer is only seen again by an answer.
    """
    if options.from_report is None:
        return parse_ids(options.ids), options.full
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    is_latest = options.from_report == "latest"
    base = read_latest_report(archive) if is_latest else read_report(Path(options.from_report))
    name = "The report of the last run" if is_latest else options.from_report
    if base.is_aborted:
        raise GoldError(
            f"{name} is of a run that was aborted, so it does not know every failure: run the "
            "whole set again"
        )
    if not base.failed:
        raise GoldError(
            f"{name} holds no failure: there is nothing to run again, drop --from-report"
        )
    return base.failed, options.full or base.tier == "full"


def _choose_model(settings: FunctionSettings, model: str | None) -> FunctionSettings:
    """Choose another answerer: a provider such as ``extractive``, else a model of a server."""
    if model is None:
        return settings
    if model in ANSWERER_PROVIDERS and answers_in_process(model):
        return replace(settings, answers=model)
    provider = "openai" if answers_in_process(settings.answers) else settings.answers
    return replace(settings, answers=provider, model=model)


def _print_report(
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
    is_public = is_log_public()
    page = make_run_page(report.public if is_public else report, previous, against)
    print_page(page, is_public=is_public)


def name_answerer(settings: FunctionSettings) -> str:
    """Name what writes answers: a model, or a provider that needs none."""
    return settings.answers if answers_in_process(settings.answers) else settings.model


def parse_ids(text: str | None) -> tuple[str, ...]:
    """Split the value of --ids; UsageError if it names no query."""
    if text is None:
        return ()
    ids = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not ids:
        raise click.UsageError("--ids names no query: write ids with commas between them")
    return ids


def read_note_sources(folder: Path | str | None) -> NoteSources:
    """Read the notes that gold sources may name, from a site's notebook; none for None."""
    notebook = read_site_notebook(folder)
    return make_note_sources(notebook.ids, notebook.unrouted_paths)


def check_site_sources(
    queries: Sequence[GoldQuery], path: Path, engine: Engine[Bundle], notes: NoteSources
) -> None:
    """Refuse queries that name what a site lacks; GoldError names no note in a public log."""
    public = list_public_sources(engine.store)
    # An error may propose notes only where a person reads it.
    is_private = sys.stderr.isatty() and not is_log_public()
    suggest: Collection[str] = {*public, *notes.ids} if is_private else public
    check_gold_sources(
        queries,
        path,
        public,
        notes,
        suggest=suggest,
        find_renamed=make_source_finder(engine),
        is_logged=is_log_public(),
    )


def confirm_cost(
    identity: EmbedderIdentity,
    settings: FunctionSettings,
    *,
    embedded: int,
    answered: int,
    is_agreed: bool,
    judge: EntailmentJudge | None = None,
    judged: int = 0,
) -> None:
    """Warn of calls that cost money; at a terminal ask, unless that is agreed already.

    embedded: questions of one call. answered: questions of a call each, or two where a draft
    breaks the contract. click.Abort if the answer is no.
    """
    calls = []
    host = ANSWERER_PROVIDERS[settings.answers].host
    if answered and host and _is_paid(settings.base_url or host):
        calls.append(f"{answered} to {2 * answered} calls of {settings.model}")
    host = EMBEDDER_PROVIDERS[identity.provider].host
    if embedded and host and _is_paid(settings.embedding_base_url or host):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if judge and judged and _is_paid(judge.base_url or _OPENAI_HOST):
        calls.append(f"up to {MAX_PROMPT_CLAIMS * judged} calls of {judge.model} as the judge")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)


def is_log_public() -> bool:
    """Tell whether a CI service keeps what is printed, for others to read."""
    # One of them is set by every CI service that is in wide use.
    values = os.environ.get("CI", ""), os.environ.get("GITHUB_ACTIONS", "")
    return any(value.lower() not in ("", "0", "false") for value in values)


def append_step_summary(markdown: str) -> None:
    """Append Markdown to the summary of a step of GitHub Actions; without one do nothing."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(f"{markdown}\n")


def _is_paid(host: str) -> bool:
    """Tell whether a host may cost money: every one but this machine."""
    return urlsplit(host).hostname not in ("localhost", "127.0.0.1", "::1")
