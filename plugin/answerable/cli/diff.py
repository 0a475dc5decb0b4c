"""``answerable diff``: show the answers that edited docs change, and which pages moved."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import click

from ..evaluate.diff import (
    SiteDiff,
    compare_pages,
    diff_sites,
    encode_site_diff,
    format_diff_markdown,
    list_cited_pages,
    list_pages,
    make_diff_page,
)
from ..evaluate.gold import GoldQuery, load_gold_queries, select_gold_queries
from ..evaluate.judge import EntailmentJudge
from ..evaluate.question_file import load_questions
from ..evaluate.report import EvalReport, read_report, write_report
from ..evaluate.run_page import write_run_page
from ..evaluate.sources import NoteSources
from ..evaluate.verdict import ModelPrice
from ..indexing.output.files import format_error, write_file
from ..mkdocs.ref_build import RefSite, build_ref, build_today
from ..mkdocs.site_config import SiteConfig, load_site_config
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, GoldError
from ..serve.settings import BUNDLE_FOLDER, FunctionSettings
from ..serve.stores.bundle import Bundle
from .context import SiteLocation, open_engine, read_function_settings
from .eval import (
    AskingOptions,
    CiOutput,
    GoldRun,
    annotations_option,
    append_step_summary,
    check_site_sources,
    gold_option,
    is_log_public,
    junit_option,
    name_answerer,
    parse_ids,
    read_note_sources,
)
from .render import print_page

_ERROR_STATUS = 2


@dataclass(frozen=True, slots=True)
class RunChoice:
    """Choose the questions and where answers come from.

    ``questions``: a file of questions instead of the gold set. ``current``: the report whose
    answers are this site's. ``is_agreed``: do not ask before calls that cost money.
    """

    questions: Path | None = None
    gold: Path | None = None
    ids: tuple[str, ...] = ()
    current: Path | None = None
    is_agreed: bool = False


@dataclass(frozen=True, slots=True)
class AskedSite:
    """Hold an open site with the settings of its function and what a gold source may name.

    ``prices``: of tokens, by the name of a model. ``judge``: of its claims.
    """

    engine: Engine[Bundle]
    notes: NoteSources
    settings: FunctionSettings
    prices: Mapping[str, ModelPrice]
    judge: EntailmentJudge | None


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
def command(
    location: SiteLocation,
    against: str | None,
    questions: Path | None,
    gold: Path | None,
    ids: str | None,
    current: Path | None,
    markdown: Path | None,
    html: Path | None,
    report: Path | None,
    junit: Path | None,
    annotations: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show the answers that a change changes; exit status 1 if a verdict fails, 2 for an error."""
    choice = RunChoice(questions, gold, parse_ids(ids), current, is_agreed=yes)
    try:
        diff, source = compare_site(location, against, choice)
        if as_json:
            click.echo(json.dumps(encode_site_diff(diff), indent=2))
        else:
            is_public = is_log_public()
            shown = replace(diff, after=diff.after.public) if is_public else diff
            print_page(make_diff_page(shown), is_public=is_public)
        # What a report has told CI services already is not told again.
        ci = CiOutput(junit, annotations=annotations)
        if current is None:
            ci.publish_run(diff.after, source)
        append_step_summary(format_diff_markdown(diff, with_run=current is None))
        if markdown:
            write_file(markdown, format_diff_markdown(diff).encode("utf-8", "backslashreplace"))
        if html:
            write_run_page(html, diff.after, diff.before)
        if report:
            write_report(report, diff.after, diff.before)
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


def compare_site(
    location: SiteLocation, against: str | None, choice: RunChoice
) -> tuple[SiteDiff, Path]:
    """Compare a site's answers with those of an earlier state; also returns the questions' file.

    The site is built as its files are now, unless a bundle or a report of it is named.

    against: a report of the full tier or a git ref; None: where HEAD left the default branch.
    """
    bundle, config_file = location
    config = load_site_config(config_file)
    source = choice.questions or choice.gold or config.gold
    _check_choice(choice)
    queries = _load_queries(choice, source, config)
    # A report is of the last build.
    last = bundle or (config.bundle if choice.current else None)
    with nullcontext(last) if last else build_today(config_file) as folder:
        current = _open_site(folder, config_file, config)
        if choice.questions is None:
            check_site_sources(queries, source, current.engine, current.notes)
        if against is not None and Path(against).is_file():
            return _compare_with_report(Path(against), current, queries, choice), source
        with build_ref(config_file, against) as ref:
            return _compare_with_ref(ref, current, queries, choice), source


def _check_choice(choice: RunChoice) -> None:
    if choice.current and (choice.ids or choice.gold or choice.questions):
        raise GoldError(
            "--current asks nothing, so its report says which questions are compared: drop "
            "--questions, --gold and --ids, or it"
        )
    if choice.questions and (choice.ids or choice.gold):
        raise GoldError(
            "--questions is asked instead of the gold set: drop --gold and --ids, or it"
        )


def _load_queries(choice: RunChoice, source: Path, config: SiteConfig) -> Sequence[GoldQuery]:
    if choice.questions:
        return load_questions(source)
    queries = load_gold_queries(source, config.author, check_negation=config.check_negation)
    return select_gold_queries(queries, choice.ids, source)


def _open_site(bundle: Path, config_file: Path, config: SiteConfig) -> AskedSite:
    engine = open_engine(bundle, config_file)
    settings = read_function_settings(bundle)
    notes = read_note_sources(config.notebook)
    return AskedSite(engine, notes, settings, config.prices, config.judge)


def _compare_with_report(
    path: Path, current: AskedSite, queries: Sequence[GoldQuery], choice: RunChoice
) -> SiteDiff:
    before = _read_full_report(path)
    after = _read_or_ask(current, queries, choice)
    if choice.ids:
        before = _select_verdicts(before, {query.query for query in queries}, choice.ids)
    pages = compare_pages(
        list_cited_pages(before.verdicts), list_pages(current.engine.store), is_whole=False
    )
    return diff_sites(str(path), None, before, after, pages)


def _compare_with_ref(
    ref: RefSite, current: AskedSite, queries: Sequence[GoldQuery], choice: RunChoice
) -> SiteDiff:
    # Its cache is today's, and holds what today's build has left.
    earlier = _open_site(ref.config.function / BUNDLE_FOLDER, ref.config_file, ref.config)
    # The same judge on both sides: a verdict may turn by the judge alone.
    earlier = replace(earlier, judge=current.judge)
    after = _read_or_ask(current, queries, choice)
    if choice.current:
        answered = {verdict.query for verdict in after.verdicts}
        queries = [query for query in queries if query.query in answered]
    before = _ask_site(earlier, queries, choice)
    pages = compare_pages(
        list_pages(earlier.engine.store), list_pages(current.engine.store), is_whole=True
    )
    return diff_sites(ref.name, ref.commit, before, after, pages)


def _read_or_ask(current: AskedSite, queries: Sequence[GoldQuery], choice: RunChoice) -> EvalReport:
    """Take this site's answers from a report, or ask for them."""
    if choice.current is None:
        return _ask_site(current, queries, choice)
    report = _read_full_report(choice.current)
    if report.bundle != current.engine.store.manifest.id:
        raise GoldError(
            f"{choice.current} is of another bundle than the site's last build: run `answerable "
            "eval --full --report` again, or drop --current"
        )
    answerer = name_answerer(current.settings)
    if report.answers != answerer:
        raise GoldError(
            f"{choice.current} has answers of {report.answers}, and this site's are of {answerer}: "
            "run `answerable eval --full --report` again without --model, or drop --current"
        )
    if {verdict.query for verdict in report.verdicts}.isdisjoint(each.query for each in queries):
        raise GoldError(
            f"{choice.current} has no answer to a question of the gold set: run `answerable eval "
            "--full --report` again, or drop --current"
        )
    return report


def _select_verdicts(
    report: EvalReport, questions: Collection[str], ids: Collection[str]
) -> EvalReport:
    """Keep the verdicts of some questions, or of queries with these ids."""
    verdicts = tuple(each for each in report.verdicts if each.query in questions or each.id in ids)
    return replace(report, verdicts=verdicts, total=len(verdicts), skipped=())


def _ask_site(site: AskedSite, queries: Sequence[GoldQuery], choice: RunChoice) -> EvalReport:
    """Ask a site after a word about the cost; click.Abort for a run that was interrupted."""
    options = AskingOptions(full=True, is_agreed=choice.is_agreed, judge=site.judge)
    run = GoldRun(site.engine, queries, site.notes.ids, site.prices, options)
    report = run.ask(site.settings)
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
