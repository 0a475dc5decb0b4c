"""``answerable diff``: show the answers that edited docs change, and which pages moved."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import click

from ..evaluate.html_report import write_html_report
from ..evaluate.report_files import write_report
from ..evaluate.report_markdown import format_site_diff
from ..evaluate.site_diff import SiteDiff, encode_site_diff
from ..indexing.error_messages import format_error
from ..indexing.output.atomic_files import write_file
from ..serve.errors import AnswerableError
from .answer_runs import RunChoice, compare_site
from .ci_output import (
    CiOutput,
    annotations_option,
    append_step_summary,
    is_log_public,
    junit_option,
)
from .context import SiteLocation
from .diff_text import print_site_diff
from .evaluate_options import gold_option, parse_ids

_ERROR_STATUS = 2


@dataclass(frozen=True, slots=True)
class DiffFiles:
    """Name the files that the outcome is written to."""

    markdown: Path | None = None
    html: Path | None = None
    report: Path | None = None


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
        _print_outcome(diff, as_json=as_json)
        # What a report has told CI services already is not told again.
        ci = CiOutput(junit, annotations=annotations)
        if current is None:
            ci.publish_run(diff.after, source)
        append_step_summary(format_site_diff(diff, with_run=current is None))
        _write_files(diff, DiffFiles(markdown, html, report))
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
    raise SystemExit(_choose_status(diff))


def _choose_status(diff: SiteDiff) -> int:
    """Choose the exit status: 2 also where every call failed, so that nothing was compared."""
    if diff.after.is_unjudged or diff.before.is_unjudged:
        return _ERROR_STATUS
    return 0 if diff.after.holds else 1


def _print_outcome(diff: SiteDiff, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(encode_site_diff(diff), indent=2))
    else:
        print_site_diff(replace(diff, after=diff.after.public) if is_log_public() else diff)


def _write_files(diff: SiteDiff, files: DiffFiles) -> None:
    if files.markdown:
        write_file(files.markdown, format_site_diff(diff).encode("utf-8", "backslashreplace"))
    if files.html:
        write_html_report(files.html, diff.after, diff.before, None)
    if files.report:
        write_report(files.report, diff.after, diff.before)
