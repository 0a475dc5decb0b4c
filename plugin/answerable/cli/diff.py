"""``answerable diff``: show the answers that edited docs change, and which pages moved."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from ..evaluate.diff import (
    SiteDiff,
    compare_pages,
    encode_site_diff,
    format_diff_markdown,
    make_diff_sections,
)
from ..evaluate.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..evaluate.report import EvalReport, read_report
from ..evaluate.sources import check_gold_sources, list_public_sources
from ..indexing.output.files import format_error, write_file
from ..mkdocs.ref_build import RefSite, build_ref, build_today
from ..mkdocs.site_config import load_site_config
from ..serve.errors import AnswerableError, GoldError
from ..serve.settings import BUNDLE_FOLDER
from .context import SiteLocation
from .eval import AskedSite, ask_site, gold_option, markdown_option, open_asked_site, parse_ids
from .render import print_sections


class DiffError(click.ClickException):
    """End in exit status 2, since 1 says that a verdict fails."""

    exit_code = 2


@click.command("diff")
@click.option(
    "--against",
    metavar="REPORT|REF",
    help="A report of `eval --full`, or a branch, tag or commit, whose site is built. "
    "Default: the commit at which HEAD left the default branch.",
)
@gold_option
@click.option("--ids", help="Ask these gold queries only: ids divided by commas.")
@click.option(
    "--current",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take this site's answers from a report of `eval --full` and ask nothing again.",
)
@markdown_option
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    against: str | None,
    gold: Path | None,
    ids: str | None,
    current: Path | None,
    markdown: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Show the answers that a change changes; exit status 1 if a verdict fails, 2 for an error."""
    try:
        if current and (ids or gold):
            raise GoldError(
                "--current asks nothing, so its report says which questions are compared: drop "
                "--gold and --ids, or it"
            )
        diff = _compare_site(location, against, gold, parse_ids(ids), current, is_agreed=yes)
        if as_json:
            click.echo(json.dumps(encode_site_diff(diff), indent=2))
        else:
            print_sections(make_diff_sections(diff))
        if markdown:
            write_file(markdown, format_diff_markdown(diff).encode("utf-8", "backslashreplace"))
    except AnswerableError as error:
        raise DiffError(str(error)) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DiffError(format_error(error)) from None
    except click.Abort:
        click.echo("Aborted!", err=True)
        raise SystemExit(DiffError.exit_code) from None
    except click.UsageError:
        raise
    # MkDocs' errors are of this class, with exit status 1.
    except click.ClickException as error:
        raise DiffError(error.format_message()) from None
    # Also where every call failed, so that nothing was compared.
    is_unjudged = diff.after.is_unjudged or diff.before.is_unjudged
    raise SystemExit(2 if is_unjudged else 0 if diff.after.holds else 1)


def _compare_site(
    location: SiteLocation,
    against: str | None,
    gold: Path | None,
    ids: Sequence[str],
    report: Path | None,
    *,
    is_agreed: bool,
) -> SiteDiff:
    """Compare a site's answers with those of an earlier state.

    The site is built as its files are now, unless a bundle or a report of it is named. report: this
    site's answers, which are not asked for again.
    """
    bundle, config_file = location
    config = load_site_config(config_file)
    path = gold or config.gold
    queries = select_gold_queries(load_gold_queries(path, config.author), ids, path)
    # A report is of the last build.
    last = bundle or (config.bundle if report else None)
    with nullcontext(last) if last else build_today(config_file) as folder:
        site = open_asked_site(folder, config_file, config)
        check_gold_sources(queries, path, list_public_sources(site.engine.store), site.notes)
        after = _read_current(report, site) if report else _ask_whole(site, queries, is_agreed)
        questions = {verdict.query for verdict in after.verdicts}
        if against is not None and Path(against).is_file():
            before = _read_full_report(Path(against))
            if ids:
                shared = tuple(v for v in before.verdicts if v.query in questions or v.id in ids)
                before = replace(before, verdicts=shared, total=len(shared), skipped=())
            return SiteDiff(against, before, after)
        with build_ref(config_file, against) as ref:
            queries = [query for query in queries if query.query in questions]
            return _compare_with_ref(ref, site, queries, after, is_agreed)


def _compare_with_ref(
    ref: RefSite,
    site: AskedSite,
    queries: Sequence[GoldQuery],
    after: EvalReport,
    is_agreed: bool,
) -> SiteDiff:
    # Its cache is today's, and holds what today's build has left.
    earlier = open_asked_site(ref.config.function / BUNDLE_FOLDER, ref.config_file, ref.config)
    before = _ask_whole(earlier, queries, is_agreed)
    pages = compare_pages(earlier.engine.store, site.engine.store)
    return SiteDiff(ref.name, before, after, pages)


def _ask_whole(site: AskedSite, queries: Sequence[GoldQuery], is_agreed: bool) -> EvalReport:
    """Ask a site after a word about the cost; click.Abort for a run that was interrupted."""
    report = ask_site(site, queries, full=True, is_agreed=is_agreed)
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
