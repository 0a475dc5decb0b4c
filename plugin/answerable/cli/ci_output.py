"""Tell a CI service of a run: annotations of gold queries, a step summary, JUnit XML."""

import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import click

from ..evaluate.github_commands import Level, format_annotation
from ..evaluate.gold_lines import locate_queries
from ..evaluate.junit_report import write_junit
from ..evaluate.report import EvalReport
from ..evaluate.verdict import Verdict

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
class CiOutput:
    """Choose what CI services are told. junit: where to write the XML."""

    junit: Path | None = None
    annotations: bool = False

    def publish_run(self, report: EvalReport, gold_file: Path) -> None:
        """Write JUnit XML and annotations of a run. gold_file: which holds the queries."""
        if self.junit:
            write_junit(self.junit, report, _find_workspace_path(gold_file))
        if self.annotations or os.environ.get("GITHUB_ACTIONS") == "true":
            print_annotations(report, gold_file)


def is_log_public() -> bool:
    """Tell whether a CI service keeps what is printed, for others to read."""
    # One of them is set by every CI service that is in wide use.
    values = os.environ.get("CI", ""), os.environ.get("GITHUB_ACTIONS", "")
    return any(value.lower() not in ("", "0", "false") for value in values)


def list_suggested_sources(public: Collection[str], notes: Collection[str]) -> Collection[str]:
    """List what an error about a gold source may propose: notes only where a person reads it."""
    is_private = sys.stderr.isatty() and not is_log_public()
    return {*public, *notes} if is_private else public


def append_step_summary(markdown: str) -> None:
    """Append Markdown to the summary of a step of GitHub Actions; without one do nothing."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(f"{markdown}\n")


def print_annotations(report: EvalReport, gold_file: Path) -> None:
    """Print an annotation for each verdict that is not a pass, at its line of the gold file."""
    lines = locate_queries(gold_file)
    file = _find_workspace_path(gold_file).as_posix()
    for verdict in report.verdicts:
        if verdict.status != "pass":
            level: Level = "notice" if verdict.holds else "error"
            annotation = format_annotation(
                level, _explain(verdict), file=file, line=lines.get(verdict.id),
                title=f"{verdict.status}: {verdict.id}",
            )  # fmt: skip
            # On standard error, since standard output may be JSON; a runner reads both.
            click.echo(annotation, err=True)


def _explain(verdict: Verdict) -> str:
    """Explain a verdict to whoever may see the run."""
    return "\n".join(filter(None, (verdict.query, verdict.public.outcome, verdict.note)))


def _find_workspace_path(path: Path) -> Path:
    """Return a path relative to the checked out repository, as GitHub names files."""
    folder = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    absolute = path.resolve()
    return absolute.relative_to(folder) if absolute.is_relative_to(folder) else path
