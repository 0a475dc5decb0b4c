"""``answerable eval``: the gold set over the bundle, printed, compared and archived."""

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.diff import format_run_markdown
from ..evaluate.gate import GateReport, format_regressions, summarize_gate_report
from ..evaluate.gold import GoldQuery, load_gold_queries, locate_queries, select_gold_queries
from ..evaluate.judge import EntailmentJudge
from ..evaluate.page import format_annotation
from ..evaluate.report import (
    EvalReport,
    archive_report,
    encode_report,
    find_previous_report,
    list_failed_ids,
    make_report,
    read_latest_report,
    read_report,
    write_report,
)
from ..evaluate.run_page import make_run_page, render_junit, write_run_page
from ..evaluate.runner import RunOptions, make_source_finder, run_gold_queries
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
from ..mkdocs.site_config import certify_encoding, load_site_config
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
from .render import print_page, to_plain_text


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


# Folder of reports under the cache folder.
REPORTS_FOLDER = "eval"
# Queries that are asked of a model at once, unless an option says otherwise.
_MODEL_JOBS = 4
_OPENAI_HOST = ANSWERER_PROVIDERS["openai"].host or ""
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

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
class AskingOptions:
    """The way in which queries are asked.

    ``jobs``: at once, None for the default. ``repeat``: how often each. ``is_agreed``: do not ask
    before calls that cost money. ``judge``: of claims, in the full tier.
    """

    full: bool = False
    jobs: int | None = None
    repeat: int = 1
    fail_fast: bool = False
    is_agreed: bool = False
    judge: EntailmentJudge | None = None


@dataclass(frozen=True, slots=True)
class GoldRun:
    """The queries that one model after another of a site is asked.

    ``note_ids``: from a note's path to its id. ``prices``: by the name of a model.
    """

    engine: Engine[Bundle]
    queries: Sequence[GoldQuery]
    note_ids: Mapping[str, str]
    prices: Mapping[str, ModelPrice]
    options: AskingOptions

    def ask(self, settings: FunctionSettings) -> EvalReport:
        """Run the queries over the answerer of the settings, after a word about its cost."""
        options = self.options
        by_model = options.full and not answers_in_process(settings.answers)
        runnable = [query for query in self.queries if by_model or not query.requires_model]
        store = self.engine.store
        judge = options.judge if options.full else None
        confirm_cost(
            store.manifest.identity,
            settings,
            embedded=len(runnable),
            answered=len(runnable) * options.repeat if by_model else 0,
            is_agreed=options.is_agreed,
            judge=judge,
            judged=len(runnable) * options.repeat,
        )
        engine = make_engine(store, self.engine.embedder, settings)
        jobs = options.jobs or (_MODEL_JOBS if by_model else 1)
        plan = RunOptions(options.full, jobs, options.repeat, judge)
        answers = name_answerer(settings) if options.full else settings.answers
        return make_report(
            store.manifest,
            self._collect_verdicts(runnable, engine, plan),
            self.queries,
            runnable,
            tier="full" if options.full else "retrieval",
            answers=answers,
            site_url=store.site.url,
            price=self.prices.get(answers),
            judge=judge.model if judge else None,
        )

    def _collect_verdicts(
        self, queries: Sequence[GoldQuery], engine: Engine[Bundle], plan: RunOptions
    ) -> list[Verdict]:
        """Collect the verdicts, up to an interruption or, if so wanted, to the first failure."""
        verdicts: list[Verdict] = []
        with show_progress("judging") as report_progress:
            try:
                for verdict in run_gold_queries(queries, engine, self.note_ids, plan):
                    verdicts.append(verdict)
                    if report_progress:
                        report_progress(len(verdicts), len(queries))
                    if self.options.fail_fast and not verdict.holds:
                        break
            except KeyboardInterrupt:
                click.echo("Interrupted: the report says what was judged until then.", err=True)
        return verdicts


@dataclass(frozen=True, slots=True)
class CiOutput:
    """The outputs of a run for CI services. junit: where to write the XML."""

    junit: Path | None = None
    annotations: bool = False

    def publish_run(self, report: EvalReport, gold_file: Path) -> None:
        """Write JUnit XML and annotations of a run. gold_file: which holds the queries."""
        file = _find_workspace_path(gold_file)
        if self.junit:
            write_file(self.junit, render_junit(report, file))
        if self.annotations or os.environ.get("GITHUB_ACTIONS") == "true":
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
    """The part of the gold set to run, and the outputs to write.

    ``from_report``: a path or ``latest``. ``report`` and ``html``: where to write it too.
    ``ci``: what CI services are told. ``model``: answers instead of the configured one.
    ``against_model``: is compared with it.
    """

    asking: AskingOptions = field(default_factory=AskingOptions)
    ids: tuple[str, ...] = ()
    from_report: str | None = None
    only_list: bool = False
    report: Path | None = None
    html: Path | None = None
    as_json: bool = False
    ci: CiOutput = field(default_factory=CiOutput)
    model: str | None = None
    against_model: str | None = None


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
    jobs: int | None,
    repeat: int,
    model: str | None,
    against_model: str | None,
    encoding: str | None,
    dimensions: int | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the gold set; exit status 1 if a query fails, 2 if none could be judged."""
    if encoding or dimensions is not None:
        if full or from_report or only_list or report or html or junit or model or against_model:
            raise click.UsageError(
                "--encoding and --dimensions go with --gold, --ids and --json: drop the others"
            )
        names = parse_ids(ids)
        raise SystemExit(
            check_encoding(location[1], encoding, dimensions, gold, names, as_json=as_json)
        )
    options = EvalOptions(
        AskingOptions(full, jobs, repeat, fail_fast, yes), parse_ids(ids), from_report, only_list,
        report, html, as_json, CiOutput(junit, annotations=annotations), model, against_model,
    )  # fmt: skip
    raise SystemExit(run_eval(*location, gold, options))


def run_eval(
    bundle: Path | None, config_file: Path, gold_file: Path | None, options: EvalOptions
) -> int:
    """Run the gold set, print and archive the report; return the exit status.

    0: every verdict holds; 1: one does not; 2: no query could be judged, because calls failed.
    """
    site = load_site_config(config_file)
    archive = site.cache / REPORTS_FOLDER
    path = gold_file or site.gold
    base, base_name = _read_base_report(options, archive)
    ids = list_failed_ids(base, base_name) if base else options.ids
    if base and not ids:
        raise GoldError(
            f"{base_name} holds no failure: there is nothing to run again, drop --from-report"
        )
    # What failed by its answer is only seen again by an answer.
    full = options.asking.full or (base is not None and base.tier == "full")
    all_queries = load_gold_queries(path, site.author, check_negation=site.check_negation)
    queries = select_gold_queries(all_queries, ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return 0
    if not full and (options.model or options.against_model):
        raise click.UsageError("--model and --against-model need answers: add --full")
    notes = read_note_sources(site.notebook)
    settings = read_function_settings(bundle or site.bundle)
    engine = open_engine(bundle or site.bundle, config_file)
    check_site_sources(queries, path, engine, notes)
    texts = read_existing_files([site.enrichment, site.abbreviations]) | read_prompt_templates()
    texts |= list_bundle_metadata(engine.store)
    check_gold_overlap(queries, texts, engine.store.site.name)
    asking = replace(options.asking, full=full, judge=site.judge)
    run = GoldRun(engine, queries, notes.ids, site.prices, asking)
    against = None
    if options.against_model:
        against = run.ask(_choose_model(settings, options.against_model))
        archive_report(archive, against, find_previous_report(archive, against))
        if against.is_aborted:
            _print_report(against, None, as_json=options.as_json)
            return 1
    report = run.ask(_choose_model(settings, options.model))
    previous = find_previous_report(archive, report)
    # Before it is written: a run that was paid for is seen even where nothing can be written.
    _print_report(report, previous, against, as_json=options.as_json)
    archived = archive_report(archive, report, previous)
    if not options.as_json:
        click.echo(f"Report: {archived}")
    options.ci.publish_run(report, path)
    append_step_summary(format_run_markdown(report))
    if options.report:
        write_report(options.report, report, previous)
    if options.html:
        write_run_page(options.html, report, previous)
    return 0 if report.holds else 2 if report.is_unjudged else 1


def _read_base_report(options: EvalOptions, archive: Path) -> tuple[EvalReport | None, str]:
    """Read the report whose failures are run again, if one is named, and name it for errors."""
    if options.from_report is None:
        return None, ""
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    if options.from_report == "latest":
        return read_latest_report(archive), "The report of the last run"
    return read_report(Path(options.from_report)), options.from_report


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
    return urlsplit(host).hostname not in _LOOPBACK_HOSTS


def _find_workspace_path(path: Path) -> Path:
    """Return a path relative to the checked out repository, as GitHub names files."""
    folder = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    absolute = path.resolve()
    return absolute.relative_to(folder) if absolute.is_relative_to(folder) else path
