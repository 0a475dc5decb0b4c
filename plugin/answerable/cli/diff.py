"""``answerable diff``: show the answers that edited docs change, and which pages moved."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from ..check.diff import (
    SiteDiff,
    compare_pages,
    compare_runs,
    encode_site_diff,
    format_diff_markdown,
    list_diff_lines,
)
from ..check.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..check.report import EvalReport, read_report
from ..check.sources import check_gold_sources, list_public_sources
from ..engine.errors import GoldError
from ..indexing.files import write_file
from ..mkdocs.ref_build import build_ref
from ..mkdocs.site_config import load_site
from .context import SiteLocation, find_bundle
from .eval import FILE, AskedSite, ask_site, ids_option, markdown_option, open_asked_site
from .render import print_lines


@click.command("diff")
@click.option(
    "--against",
    metavar="REPORT|REF",
    help="A report of `eval --full`, or a branch, tag or commit, whose site is built. "
    "Default: the commit at which HEAD left the default branch; on that branch, name HEAD~1.",
)
@ids_option
@click.option(
    "--current",
    type=FILE,
    help="Take this site's answers from a report of `eval --full` and ask nothing again.",
)
@markdown_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    against: str | None,
    ids: tuple[str, ...],
    current: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Show which answers your edits change, compared with an earlier commit.

    The exit status is 1 if a query of the gold set fails.
    """
    diff = _compare_site(location, against, ids, current)
    if as_json:
        click.echo(json.dumps(encode_site_diff(diff), indent=2))
    else:
        print_lines(list_diff_lines(diff))
    if markdown:
        write_file(markdown, format_diff_markdown(diff).encode("utf-8", "backslashreplace"))
    # Also where every call failed, so that nothing was compared.
    is_unjudged = diff.after.is_unjudged or diff.before.is_unjudged
    raise SystemExit(2 if is_unjudged else 0 if diff.after.holds else 1)


def _compare_site(
    location: SiteLocation, against: str | None, ids: Sequence[str], current: Path | None
) -> SiteDiff:
    """Compare the answers of a site's last build with those of an earlier state.

    current: a report of this site's answers, which are not asked for again.
    """
    config_file = location[1]
    config, options = load_site(config_file)
    gold = Path(options.gold)
    queries = select_gold_queries(load_gold_queries(gold, config.site_author), ids, gold)
    site = open_asked_site(find_bundle(*location), config_file)
    check_gold_sources(queries, gold, list_public_sources(site.engine.store), site.notes)
    after = _read_current(current, site) if current else _ask_whole(site, queries)
    after = _select_verdicts(after, queries) if ids else after
    if against is not None and Path(against).is_file():
        before = _read_full_report(Path(against))
        before = _select_verdicts(before, queries) if ids else before
        return compare_runs(against, before, after)
    with build_ref(config_file, against) as ref:
        # Its cache is today's, and holds what today's build has left.
        earlier = open_asked_site(ref.bundle, ref.config_file)
        questions = {verdict.query for verdict in after.verdicts}
        before = _ask_whole(earlier, [q for q in queries if q.query in questions])
        pages = compare_pages(earlier.engine.store, site.engine.store)
        return compare_runs(ref.name, before, after, pages)


def _select_verdicts(report: EvalReport, queries: Sequence[GoldQuery]) -> EvalReport:
    """Reduce a report to the verdicts of some queries, whose ids may have changed."""
    questions = {query.query for query in queries}
    verdicts = tuple(verdict for verdict in report.verdicts if verdict.query in questions)
    return replace(report, verdicts=verdicts, total=len(verdicts), skipped=())


def _ask_whole(site: AskedSite, queries: Sequence[GoldQuery]) -> EvalReport:
    """Warn of the cost and ask a site; click.Abort if the run is interrupted."""
    report = ask_site(site, queries, full=True)
    if report.is_aborted:
        raise click.Abort
    return report


def _read_current(path: Path, site: AskedSite) -> EvalReport:
    """Read this site's answers; GoldError for those of another bundle or answerer."""
    report = _read_full_report(path)
    if (report.bundle, report.answers) != (site.engine.store.manifest.id, site.answerer):
        raise GoldError(
            f"{path} is of another bundle or answerer than the site's last build: run `answerable "
            "eval --full --report` again, or drop --current"
        )
    return report


def _read_full_report(path: Path) -> EvalReport:
    report = read_report(path)
    if report.tier != "full" or report.is_aborted:
        problem = "was aborted" if report.is_aborted else "asked for no answers"
        raise GoldError(
            f"{path} is of a run that {problem}: write it by `answerable eval --full --report`"
        )
    return report
