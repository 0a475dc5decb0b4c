"""The commands that judge a site by its gold set, or help to."""

from pathlib import Path

import click

from ..serve.encoding import NAMES
from . import asked

Places = tuple[Path | None, Path]


def _ids(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    found = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not found:
        raise click.UsageError("--ids names no query: write ids with commas between them")
    return found


# Commands import what they use when they run, so that `--help` stays quick.
@click.command("eval")
@click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.",
)
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
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def evaluate(
    places: Places,
    gold: Path | None,
    full: bool,
    ids: str | None,
    from_report: str | None,
    fail_fast: bool,
    only_list: bool,
    report: Path | None,
    html: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the gold set; exit status 1 if a query fails."""
    from . import evaluating

    options = evaluating.Options(
        full=full,
        ids=_ids(ids),
        from_report=from_report,
        fail_fast=fail_fast,
        only_list=only_list,
        report=report,
        html=html,
        is_agreed=yes,
        as_json=as_json,
    )
    raise SystemExit(0 if evaluating.evaluate(*places, gold, options) else 1)


@click.command()
@click.option(
    "--encoding",
    type=click.Choice(NAMES),
    help="How vectors are held. Default: as mkdocs.yml says.",
)
@click.option("--dimensions", type=int, help="Keep so many leading dimensions. Default: all.")
@click.option("--ids", help="Ask these queries only, ids divided by commas: certifies nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def gate(
    places: Places, encoding: str | None, dimensions: int | None, ids: str | None, as_json: bool
) -> None:
    """Let the gold set admit or reject an encoding; exit status 1 if it is not certified."""
    from . import gating

    certified = gating.gate(places[1], encoding, dimensions, _ids(ids), as_json=as_json)
    raise SystemExit(0 if certified else 1)


@click.command()
@click.option(
    "--encoding",
    type=click.Choice(NAMES),
    multiple=True,
    help="An encoding to try. Default: all of them.",
)
@click.option(
    "--dimensions",
    type=int,
    multiple=True,
    help="Leading dimensions to keep. Default: all, and halves.",
)
@click.option("--words", type=click.IntRange(40, 2000), multiple=True, help="A length of passages.")
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    multiple=True,
    help="A floor of passages. Default: near yours.",
)
@click.option("--all", "everything", is_flag=True, help="Print every trial.")
@click.option("--json", "as_json", is_flag=True, help="Print the trials as JSON.")
@click.pass_obj
def tune(
    places: Places,
    encoding: tuple[str, ...],
    dimensions: tuple[int, ...],
    words: tuple[int, ...],
    floor: tuple[float, ...],
    everything: bool,
    as_json: bool,
) -> None:
    """Find the smallest bundle that holds every verdict; exit status 1 if none does."""
    from . import gating

    grid = gating.Grid(encoding, dimensions, words, floor)
    found = gating.tune(places[1], grid, everything=everything, as_json=as_json)
    raise SystemExit(0 if found else 1)


@click.command()
@asked.argument
@click.option("--expect", metavar="ID", help="What should have been found: a page, passage, note.")
@click.option("--language", help="What you ask in, such as fr: pages in it go first.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole ledger as JSON.")
@click.pass_obj
def why(
    places: Places, question: str, expect: str | None, language: str | None, as_json: bool
) -> None:
    """Explain what a QUESTION retrieves, what it does not, and what an author could do."""
    from . import explaining

    explaining.explain(*places, question, expect, language, as_json=as_json)


@click.command()
@click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
@click.pass_obj
def calibrate(places: Places, gold: Path | None, as_json: bool) -> None:
    """Propose floors from the gold set and a bank of off-topic questions."""
    from . import calibrating

    calibrating.calibrate(*places, gold, as_json=as_json)


@click.command()
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the groups as JSON.")
@click.pass_obj
def gaps(places: Places, logs: tuple[Path, ...], as_json: bool) -> None:
    """Group refused questions into likely missing pages.

    LOGS: files of refusals, - for standard input. Default: those that the dev server has kept.
    """
    from . import gapping

    gapping.gaps(*places, logs, as_json=as_json)


COMMANDS = (evaluate, gate, tune, why, calibrate, gaps)
