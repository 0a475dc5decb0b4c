"""``answerable gate``: compare gold verdicts of a vector encoding with those of full precision."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.encoding_gate import JudgedSite, judge_contents
from ..evaluate.gate import (
    GateReport,
    format_regressions,
    load_gate_case,
    summarize_gate_report,
)
from ..indexing.output.bundle_contents import serialize_index
from ..mkdocs.site_config import RebuiltSite, rebuild_site
from ..serve.errors import SiteError
from ..serve.vectors.encodings import ENCODING_NAMES, Encoding
from .context import SiteLocation
from .evaluate_options import format_verdict, parse_ids
from .render import to_plain_text


@click.command("gate")
@click.option(
    "--encoding",
    type=click.Choice(ENCODING_NAMES),
    help="How vectors are held. Default: as mkdocs.yml says.",
)
@click.option("--dimensions", type=int, help="Keep so many leading dimensions. Default: all.")
@click.option("--ids", help="Ask these queries only, ids divided by commas: certifies nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    encoding: str | None,
    dimensions: int | None,
    ids: str | None,
    as_json: bool,
) -> None:
    """Let the gold set admit or reject an encoding; exit status 1 if it is not certified."""
    report = judge_site_encoding(location[1], encoding, dimensions, parse_ids(ids))
    if as_json:
        decision = {
            "decision": report.word,
            "held": report.held_count,
            "failing": report.failing,
        }
        click.echo(json.dumps(asdict(report) | decision, indent=2))
    else:
        _print_gate_report(report)
    raise SystemExit(0 if report.certified else 1)


def judge_site_encoding(
    config_file: Path, encoding: str | None, dimensions: int | None, ids: Sequence[str] = ()
) -> GateReport:
    """Judge an encoding by the gold set, in a build that is published nowhere.

    An encoding or a number of dimensions that is not named is the site's own.
    """
    site = rebuild_site(config_file)
    if dimensions is None:
        dimensions = site.encoding.dimensions
    else:
        check_dimensions(dimensions, site.embedder.identity.dimensions)
    judged = make_judged_site(site, ids)
    contents = serialize_index(site.index, Encoding(encoding or site.encoding.name, dimensions))
    return judge_contents(judged, contents)


def make_judged_site(site: RebuiltSite, ids: Sequence[str] = ()) -> JudgedSite:
    """Load the gold set of a site that was rebuilt. ids: the queries to ask, all by default."""
    case = load_gate_case(
        site.gold,
        site.author,
        site.index,
        site.notes,
        full=site.full,
        check_negation=site.check_negation,
        ids=ids,
    )
    return JudgedSite(site.index, site.embedder, site.profile, case, site.cache)


def check_dimensions(dimensions: int, all_dimensions: int) -> None:
    """Refuse a number of dimensions that the embedder does not have; SiteError."""
    if not 1 <= dimensions <= all_dimensions:
        raise SiteError(f"--dimensions: {dimensions} is not between 1 and {all_dimensions}")


def _print_gate_report(report: GateReport) -> None:
    console = Console()
    table = Table("query", "full precision", report.lever, "rho", "what has changed")
    for comparison in report.comparisons:
        table.add_row(
            to_plain_text(comparison.id),
            format_verdict(passed=comparison.passed_before),
            format_verdict(passed=comparison.passed_after),
            f"{comparison.rho:.4f}",
            to_plain_text("; ".join(comparison.flips)),
        )
    console.print(table)
    console.print(to_plain_text(summarize_gate_report(report)))
    if report.failing:
        console.print(to_plain_text(f"Failing at full precision: {', '.join(report.failing)}"))
    if report.flipped and report.is_whole:
        console.print(to_plain_text(f"Flipped: {format_regressions(report)}"))
