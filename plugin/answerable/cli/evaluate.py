"""``answerable eval``: run the gold set over the bundle; print, compare and archive the report."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from ..evaluate.gold import load_gold_queries, select_gold_queries
from ..evaluate.gold_sources import check_gold_sources, list_public_sources
from ..evaluate.html_report import read_trials, write_html_report
from ..evaluate.overlap_lint import (
    check_gold_overlap,
    list_bundle_metadata,
    read_existing_files,
    read_prompt_templates,
)
from ..evaluate.renamed_sources import make_source_finder
from ..evaluate.report import EvalReport
from ..evaluate.report_files import (
    archive_report,
    find_previous_report,
    list_failed_ids,
    read_latest_report,
    read_report,
    write_report,
)
from ..evaluate.report_markdown import format_run
from ..mkdocs.site_config import load_site_config
from ..serve.errors import GoldError
from .ci_output import (
    CiOutput,
    annotations_option,
    append_step_summary,
    is_log_public,
    junit_option,
    list_suggested_sources,
)
from .context import SiteLocation, open_engine, read_function_settings
from .encoding_check import EncodingChoice, check_encoding
from .evaluate_options import (
    REPORTS_FOLDER,
    TRIALS_FILE,
    gold_option,
    parse_ids,
    read_note_sources,
)
from .gold_runs import AskingOptions, GoldRun, choose_model
from .run_report import print_report

_LATEST_REPORT = "latest"


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Choose what to run of the gold set, and how to show it.

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
            raise click.UsageError("--encoding and --dimensions go with --gold, --ids and --json")
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
    public = list_public_sources(engine.store)
    check_gold_sources(
        queries,
        path,
        public,
        notes,
        suggest=list_suggested_sources(public, notes.ids),
        find_renamed=make_source_finder(engine),
        is_logged=is_log_public(),
    )
    texts = read_existing_files([site.enrichment, site.abbreviations]) | read_prompt_templates()
    texts |= list_bundle_metadata(engine.store)
    check_gold_overlap(queries, texts, engine.store.site.name)
    asking = replace(options.asking, full=full, judge=site.judge)
    run = GoldRun(engine, queries, notes.ids, site.prices, asking)
    against = None
    if options.against_model:
        against = run.ask(choose_model(settings, options.against_model))
        archive_report(archive, against, find_previous_report(archive, against))
        if against.is_aborted:
            print_report(against, None, as_json=options.as_json)
            return 1
    report = run.ask(choose_model(settings, options.model))
    previous = find_previous_report(archive, report)
    # Before it is written: a run that was paid for is seen even where nothing can be written.
    print_report(report, previous, against, as_json=options.as_json)
    archived = archive_report(archive, report, previous)
    if not options.as_json:
        click.echo(f"Report: {archived}")
    options.ci.publish_run(report, path)
    append_step_summary(format_run(report))
    if options.report:
        write_report(options.report, report, previous)
    if options.html:
        write_html_report(options.html, report, previous, read_trials(archive / TRIALS_FILE))
    return 0 if report.holds else 2 if report.is_unjudged else 1


def _read_base_report(options: EvalOptions, archive: Path) -> tuple[EvalReport | None, str]:
    """Read the report whose failures are run again, if one is named, and name it for errors."""
    if options.from_report is None:
        return None, ""
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    if options.from_report == _LATEST_REPORT:
        return read_latest_report(archive), "The report of the last run"
    return read_report(Path(options.from_report)), options.from_report
