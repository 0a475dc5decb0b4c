"""``answerable eval``: the gold set over the bundle, judged, printed and archived."""

import datetime as dt
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..check.gate import compare_dimensions
from ..check.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..check.report import (
    EvalReport,
    Verdict,
    archive_report,
    count_floors,
    format_report_json,
    format_run_markdown,
    list_run_lines,
    read_latest_report,
    read_report,
    write_report,
)
from ..check.runner import run_gold_queries
from ..check.sources import (
    NoteSources,
    check_gold_overlap,
    check_gold_sources,
    list_bundle_metadata,
    list_public_sources,
    make_note_sources,
    read_existing_files,
    read_prompt_templates,
)
from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.errors import GoldError
from ..engine.providers import find_provider
from ..engine.settings import FunctionSettings, read_settings
from ..engine.text.urls import is_loopback_address
from ..indexing.caches import show_progress
from ..indexing.files import write_file
from ..mkdocs.site_config import find_last_bundle, load_site
from .context import SiteLocation, open_engine, read_site_notebook
from .render import print_lines

# Queries that are asked of a model at once.
_MODEL_JOBS = 4


def _parse_ids(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[str, ...]:
    del ctx, param
    return tuple(filter(None, (part.strip() for part in (text or "").split(","))))


ids_option = click.option(
    "--ids", callback=_parse_ids, help="Ask these queries only: ids divided by commas."
)
FILE = click.Path(path_type=Path, dir_okay=False)
markdown_option = click.option(
    "--markdown", type=FILE, help="Write the outcome there too, as Markdown for a comment."
)


@dataclass(frozen=True, slots=True)
class AskedSite:
    """An open site, the settings of its function, and its notes."""

    engine: Engine[Bundle]
    settings: FunctionSettings
    notes: NoteSources

    @property
    def model_host(self) -> str | None:
        """The host whose model writes the answers, None if it needs none."""
        return find_provider("answerer", self.settings.answers).host

    @property
    def answerer(self) -> str:
        """The name of what writes answers: a model, or a provider that needs none."""
        return self.settings.model if self.model_host else self.settings.answers


def open_asked_site(bundle: Path, config_file: Path) -> AskedSite:
    """Open the bundle of a site to ask it gold queries."""
    engine, settings = open_engine(bundle, config_file), read_settings(bundle.parent)
    notebook = read_site_notebook(load_site(config_file)[1].notebook)
    return AskedSite(engine, settings, make_note_sources(notebook.ids, notebook.unrouted_paths))


def ask_site(
    site: AskedSite, queries: Sequence[GoldQuery], *, full: bool, fail_fast: bool = False
) -> EvalReport:
    """Warn of the cost and ask a site gold queries; click.Abort if the user says no.

    KeyboardInterrupt ends the run with the report of what was judged until then.
    """
    engine, notes = site.engine, site.notes.ids
    by_model = full and site.model_host is not None
    runnable = [query for query in queries if by_model or not query.requires_model]
    _confirm_cost(site, len(runnable), len(runnable) if by_model else 0)
    jobs = _MODEL_JOBS if by_model else 1
    verdicts: list[Verdict] = []
    with show_progress("judging") as report_progress:
        try:
            for verdict in run_gold_queries(runnable, engine, notes, full=full, jobs=jobs):
                verdicts.append(verdict)
                if report_progress:
                    report_progress(len(verdicts), len(runnable))
                if fail_fast and not verdict.holds:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    manifest = engine.store.manifest
    return EvalReport(
        made_at=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ"),
        bundle=manifest.id,
        answers=site.answerer,
        tier="full" if full else "retrieval",
        total=len(queries),
        skipped=tuple(q.id for q in queries if q.requires_model and not by_model),
        floors=count_floors(queries, verdicts, manifest.profile.floor),
        verdicts=tuple(verdicts),
    )


@click.command("eval")
@click.option("--gold", type=FILE, help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.")
@click.option("--full", is_flag=True, help="Judge answers too, not only retrieval.")
@ids_option
@click.option(
    "--from-report",
    metavar="latest|PATH",
    help="Ask only what failed in a report; latest is the one of the last run.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option("--list", "only_list", is_flag=True, help="List the queries without asking them.")
@click.option("--report", "report_path", type=FILE, help="Write the report there too, as JSON.")
@markdown_option
@click.option(
    "--dimensions",
    type=int,
    help="Show which verdicts flip if only that many leading dimensions of vectors are kept.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    gold: Path | None,
    full: bool,
    ids: tuple[str, ...],
    from_report: str | None,
    fail_fast: bool,
    only_list: bool,
    dimensions: int | None,
    report_path: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Run the gold set; exit status 1 if a query fails, 2 if none could be judged."""
    bundle, config_file = location
    config, options = load_site(config_file)
    archive = Path(options.cache, "eval")
    path = gold or Path(options.gold)
    if from_report is not None:
        if ids:
            raise click.UsageError("--ids and --from-report both choose queries: name one of them")
        base = _read_failed_report(from_report, archive)
        # What failed by its answer is only seen again by an answer.
        ids, full = base.failed, full or base.tier == "full"
    queries = select_gold_queries(load_gold_queries(path, config.site_author), ids, path)
    if only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return
    site = open_asked_site(bundle or find_last_bundle(options), config_file)
    store = site.engine.store
    check_gold_sources(queries, path, list_public_sources(store), site.notes)
    if dimensions is not None:
        if as_json or markdown or report_path:
            raise click.UsageError("--dimensions makes no report: drop --json and the like")
        raise SystemExit(_print_dimensions(site, queries, dimensions))
    texts = read_existing_files([options.enrichment, options.abbreviations])
    texts |= read_prompt_templates() | list_bundle_metadata(store)
    check_gold_overlap(queries, texts, store.index.site.name)
    report = ask_site(site, queries, full=full, fail_fast=fail_fast)
    # Printed first: a run that was paid for is seen even if no file can be written.
    if as_json:
        click.echo(format_report_json(report))
    else:
        print_lines(list_run_lines(report, store.manifest.profile.floor))
    archived = archive_report(archive, report)
    if not as_json:
        click.echo(f"Report: {archived}")
    if report_path:
        write_report(report_path, report)
    if markdown:
        write_file(markdown, format_run_markdown(report).encode("utf-8", "backslashreplace"))
    raise SystemExit(0 if report.holds else 2 if report.is_unjudged else 1)


def _read_failed_report(name: str, archive: Path) -> EvalReport:
    """Read the report whose failures are asked again; GoldError if it does not know them all."""
    report = read_latest_report(archive) if name == "latest" else read_report(Path(name))
    if report.is_aborted:
        raise GoldError(
            f"--from-report {name}: that run was aborted, so it does not know every failure: run "
            "the whole set again"
        )
    if not report.failed:
        raise GoldError(f"--from-report {name}: nothing failed there; drop the option")
    return report


def _print_dimensions(site: AskedSite, queries: Sequence[GoldQuery], dimensions: int) -> int:
    """Print what fewer dimensions change. The exit status is 1 if a verdict flips."""
    store = site.engine.store
    pairs = list(
        compare_dimensions(store, site.engine.embedder, queries, site.notes.ids, dimensions)
    )
    flips = sum(pair.flips for pair in pairs)
    for pair in pairs:
        before, after = pair.before, pair.after
        if pair.flips:
            issues = "; ".join(after.issues)
            click.echo(f"{after.id}: {before.status} → {after.status}. {issues}")
        if before.top != after.top:
            best, other = before.top or "nothing", after.top or "nothing"
            click.echo(f"{after.id}: found first {best} → {other}")
    correlations = [pair.rho for pair in pairs]
    click.echo(
        f"{dimensions} of {store.manifest.dimensions} dimensions: {flips} of {len(pairs)} "
        f"{'verdict flips' if flips == 1 else 'verdicts flip'}, rank correlation "
        f"{sum(correlations) / len(correlations):.4f} (least {min(correlations):.4f})."
    )
    return 1 if flips else 0


def _confirm_cost(site: AskedSite, embedded: int, answered: int) -> None:
    """Warn of calls that cost money, and ask at a terminal; click.Abort if the answer is no.

    embedded: how many questions one call embeds. answered: how many questions take a call each, or
    two if a draft breaks the contract.
    """
    settings, identity = site.settings, site.engine.store.manifest.identity
    answering_host = site.model_host and (settings.base_url or site.model_host)
    embedder_host = find_provider("embedder", identity.provider).host
    embedding_host = embedder_host and (settings.embedding_base_url or embedder_host)
    # A server on this machine costs nothing.
    calls = []
    if answered and answering_host and not is_loopback_address(answering_host):
        calls.append(f"{answered} to {2 * answered} calls of {settings.model}")
    if embedded and embedding_host and not is_loopback_address(embedding_host):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty():
        click.confirm("Go on?", default=True, abort=True, err=True)
