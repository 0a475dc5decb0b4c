"""``answerable diff``: show the answers that edited docs change, and which pages moved."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ..evaluate.diff import (
    SiteDiff,
    compare_pages,
    encode_site_diff,
    format_diff_markdown,
    list_cited_pages,
    list_pages,
    make_diff_page,
)
from ..evaluate.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..evaluate.question_file import load_questions
from ..evaluate.report import EvalReport, read_report, write_report
from ..evaluate.run_page import write_run_page
from ..evaluate.runner import RunOptions
from ..indexing.output.files import format_error, write_file
from ..mkdocs.ref_build import RefSite, build_ref, build_today
from ..mkdocs.site_config import load_site_config
from ..serve.errors import AnswerableError, GoldError
from ..serve.settings import BUNDLE_FOLDER
from .context import SiteLocation
from .eval import (
    AskedSite,
    annotations_option,
    append_step_summary,
    ask_site,
    check_site_sources,
    gold_option,
    is_log_public,
    junit_option,
    name_answerer,
    open_asked_site,
    parse_ids,
    publish_run,
)
from .render import print_page

_ERROR_STATUS = 2


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """The options of the command, by their names there."""

    against: str | None
    questions: Path | None
    gold: Path | None
    ids: str | None
    current: Path | None
    markdown: Path | None
    html: Path | None
    report: Path | None
    junit: Path | None
    annotations: bool
    yes: bool
    as_json: bool


class DiffError(click.ClickException):
    """End in exit status 2, since 1 says that a verdict fails."""

    exit_code = _ERROR_STATUS


@click.command("diff")
@click.option(
    "--against",
    metavar="REPORT|REF",
    help="A report of `eval --full`, or a branch, tag or commit, whose site is built. "
    "Default: the commit at which HEAD left the default branch.",
)
@click.option(
    "--questions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Ask the questions of this file, as `ask --file` reads it, instead of the gold set.",
)
@gold_option
@click.option("--ids", help="Ask these gold queries only: ids divided by commas.")
@click.option(
    "--current",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take this site's answers from a report of `eval --full` and ask nothing again.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the changed answers there too, as Markdown for a comment.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report of this site as a page, with both answers side by side.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report of this site there, to compare a later one with.",
)
@junit_option
@annotations_option
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_obj
def command(location: SiteLocation, /, **values: Any) -> None:
    """Show the answers that a change changes; exit status 1 if a verdict fails, 2 for an error."""
    options = DiffOptions(**values)
    # What a report has told CI services already is not told again.
    is_asked = options.current is None
    try:
        diff, source = compare_site(location, options)
        if options.as_json:
            click.echo(json.dumps(encode_site_diff(diff), indent=2))
        else:
            is_public = is_log_public()
            shown = replace(diff, after=diff.after.public) if is_public else diff
            print_page(make_diff_page(shown), is_public=is_public)
        if is_asked:
            publish_run(diff.after, source, options.junit, options.annotations)
        append_step_summary(format_diff_markdown(diff, with_run=is_asked))
        if options.markdown:
            text = format_diff_markdown(diff)
            write_file(options.markdown, text.encode("utf-8", "backslashreplace"))
        if options.html:
            write_run_page(options.html, diff.after, diff.before)
        if options.report:
            write_report(options.report, diff.after, diff.before)
    except AnswerableError as error:
        raise DiffError(str(error)) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DiffError(format_error(error)) from None
    except click.Abort:
        click.echo("Aborted!", err=True)
        raise SystemExit(_ERROR_STATUS) from None
    except click.UsageError:
        raise
    # MkDocs' errors are of this class, with exit status 1.
    except click.ClickException as error:
        raise DiffError(error.format_message()) from None
    # Also where every call failed, so that nothing was compared.
    is_unjudged = diff.after.is_unjudged or diff.before.is_unjudged
    raise SystemExit(_ERROR_STATUS if is_unjudged else 0 if diff.after.holds else 1)


def compare_site(location: SiteLocation, options: DiffOptions) -> tuple[SiteDiff, Path]:
    """Compare a site's answers with those of an earlier state; also returns the questions' file.

    The site is built as its files are now, unless a bundle or a report of it is named.
    """
    bundle, config_file = location
    config = load_site_config(config_file)
    ids = parse_ids(options.ids)
    if options.current and (ids or options.gold or options.questions):
        raise GoldError(
            "--current asks nothing, so its report says which questions are compared: drop "
            "--questions, --gold and --ids, or it"
        )
    if options.questions and (ids or options.gold):
        raise GoldError(
            "--questions is asked instead of the gold set: drop --gold and --ids, or it"
        )
    source = options.questions or options.gold or config.gold
    if options.questions:
        queries: Sequence[GoldQuery] = load_questions(source)
    else:
        queries = load_gold_queries(source, config.author, check_negation=config.check_negation)
        queries = select_gold_queries(queries, ids, source)
    # A report is of the last build.
    last = bundle or (config.bundle if options.current else None)
    with nullcontext(last) if last else build_today(config_file) as folder:
        current = open_asked_site(folder, config_file, config)
        if options.questions is None:
            check_site_sources(queries, source, current.engine, current.notes)
        if options.against is not None and Path(options.against).is_file():
            return _compare_with_report(Path(options.against), current, queries, options), source
        with build_ref(config_file, options.against) as ref:
            return _compare_with_ref(ref, current, queries, options), source


def _compare_with_report(
    path: Path, current: AskedSite, queries: Sequence[GoldQuery], options: DiffOptions
) -> SiteDiff:
    before = _read_full_report(path)
    after = _read_or_ask(current, queries, options)
    if ids := parse_ids(options.ids):
        questions = {query.query for query in queries}
        verdicts = tuple(
            verdict
            for verdict in before.verdicts
            if verdict.query in questions or verdict.id in ids
        )
        before = replace(before, verdicts=verdicts, total=len(verdicts), skipped=())
    pages = compare_pages(
        list_cited_pages(before.verdicts), list_pages(current.engine.store), is_whole=False
    )
    return SiteDiff(str(path), None, before, after, pages)


def _compare_with_ref(
    ref: RefSite, current: AskedSite, queries: Sequence[GoldQuery], options: DiffOptions
) -> SiteDiff:
    # Its cache is today's, and holds what today's build has left.
    earlier = open_asked_site(ref.config.function / BUNDLE_FOLDER, ref.config_file, ref.config)
    # The same judge on both sides: a verdict may turn by the judge alone.
    earlier = replace(earlier, judge=current.judge)
    after = _read_or_ask(current, queries, options)
    if options.current:
        answered = {verdict.query for verdict in after.verdicts}
        queries = [query for query in queries if query.query in answered]
    before = _ask_whole(earlier, queries, options)
    pages = compare_pages(
        list_pages(earlier.engine.store), list_pages(current.engine.store), is_whole=True
    )
    return SiteDiff(ref.name, ref.commit, before, after, pages)


def _read_or_ask(
    current: AskedSite, queries: Sequence[GoldQuery], options: DiffOptions
) -> EvalReport:
    """Take this site's answers from a report, or ask for them."""
    if options.current is None:
        return _ask_whole(current, queries, options)
    report, answerer = _read_full_report(options.current), name_answerer(current.settings)
    problem = ""
    if report.bundle != current.engine.store.manifest.id:
        problem = "is of another bundle than the site's last build: run"
    elif report.answers != answerer:
        problem = f"has answers of {report.answers}, and this site's are of {answerer}: without "
        problem += "--model, run"
    elif {verdict.query for verdict in report.verdicts}.isdisjoint(
        query.query for query in queries
    ):
        problem = "has no answer to a question of the gold set: run"
    if problem:
        raise GoldError(
            f"{options.current} {problem} `answerable eval --full --report` again, or drop "
            "--current"
        )
    return report


def _ask_whole(site: AskedSite, queries: Sequence[GoldQuery], options: DiffOptions) -> EvalReport:
    """Ask a site after a word about the cost; click.Abort for a run that was interrupted."""
    report = ask_site(site, queries, RunOptions(full=True, jobs=0), is_agreed=options.yes)
    if report.is_aborted:
        raise click.Abort
    return report


def _read_full_report(path: Path) -> EvalReport:
    report = read_report(path)
    if report.tier != "full":
        raise GoldError(f"{path} holds no answers: write it by `answerable eval --full --report`")
    if report.is_aborted:
        raise GoldError(
            f"{path} is of a run that was aborted: run `answerable eval --full --report` again"
        )
    return report
