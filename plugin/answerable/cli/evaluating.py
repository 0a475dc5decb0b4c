"""``answerable eval``: the gold set against the bundle."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..build import notebook
from ..evaluate import gold, html_report, overlap, reports, runner
from ..evaluate.gold import GoldQuery
from ..evaluate.reports import Report
from ..evaluate.runner import Verdict
from ..faces import progress
from ..mkdocs import settings
from ..serve import provided
from ..serve.engine import Engine
from ..serve.errors import GoldError
from . import opening, reporting, spending

LATEST = "latest"
# Beside the reports: what `answerable tune` has found last.
TRIALS = "tune.json"
# Under the cache folder.
KEPT = "eval"


@dataclass(frozen=True, slots=True)
class Options:
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


def evaluate(
    bundle: Path | None, config_file: Path, gold_file: Path | None, options: Options
) -> bool:
    """Run the gold set, print and keep the report; whether every verdict holds."""
    site = settings.load(config_file)
    kept = site.cache / KEPT
    path = gold_file or site.gold
    base, name = _base(options, kept)
    ids = reports.failures(base, name) if base else options.ids
    if base and not ids:
        raise GoldError(f"{name} holds no failure: there is nothing to run again")
    # What failed by its answer is only seen again by an answer.
    full = options.full or (base is not None and base.tier == "full")
    queries = gold.choose(gold.load(path, site.author), ids, path)
    if options.only_list:
        for query in queries:
            click.echo(f"{query.id}: {query.query}")
        return True
    private = opening.notebook_of(site.notebook)
    notes = notebook.ids(private.notes)
    chosen = opening.settings_of(bundle or site.bundle)
    engine = opening.engine(bundle or site.bundle, config_file)
    # A note's path may be suggested at a terminal, as it is in the gold set.
    known = runner.known_sources(engine.bundle, notes)
    gold.check_sources(queries, path, known, known, unrouted=private.unrouted_paths)
    own = overlap.file_texts([site.enrichment, site.abbreviations])
    overlap.check(queries, {**own, **overlap.package_texts()}, engine.bundle.site.name)
    by_model = full and not provided.answers_here(chosen.answers)
    asked = [query for query in queries if by_model or not query.requires_model]
    spending.agree(
        engine.bundle.manifest.identity,
        chosen,
        embedded=len(asked),
        answered=len(asked) if by_model else 0,
        is_agreed=options.is_agreed,
    )
    report = reports.of(
        engine.bundle.manifest,
        _run(asked, engine, notes, full=full, fail_fast=options.fail_fast),
        queries,
        asked,
        tier="full" if full else "retrieval",
        answers=chosen.model if by_model else chosen.answers,
    )
    previous = reports.previous(kept, report)
    # Before it is written: a run that was paid for is seen even where nothing can be.
    reporting.show(report, previous, as_json=options.as_json)
    reports.keep(kept, report, previous)
    if options.report:
        reports.write(options.report, report, previous)
    if options.html:
        html_report.write(options.html, report, previous, html_report.read_trials(kept / TRIALS))
    return report.holds


def _base(options: Options, kept: Path) -> tuple[Report | None, str]:
    """The report whose failures are run again, if one is named, and what to call it."""
    if options.from_report is None:
        return None, ""
    if options.ids:
        raise click.UsageError("--ids and --from-report both choose queries: name one of them")
    if options.from_report == LATEST:
        return reports.latest(kept), "The report of the last run"
    return reports.read(Path(options.from_report)), options.from_report


def _run(
    queries: Sequence[GoldQuery],
    engine: Engine,
    notes: dict[str, str],
    *,
    full: bool,
    fail_fast: bool,
) -> list[Verdict]:
    """The verdicts, up to the first failure if so wanted, or up to an interruption."""
    found: list[Verdict] = []
    with progress.reporting("judging") as report:
        try:
            for verdict in runner.run(queries, engine, notes, full=full):
                found.append(verdict)
                if report:
                    report(len(found), len(queries))
                if fail_fast and not verdict.passed:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    return found
