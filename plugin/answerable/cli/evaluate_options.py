"""The commands that judge a site by its gold set, or help to.

What a run would ask of a paid provider, said before it is asked.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS
from ..serve.settings import FunctionSettings
from ..serve.vectors.encodings import ENCODING_NAMES
from .context import question_argument

BundleAndConfig = tuple[Path | None, Path]


def parse_ids(text: str | None) -> tuple[str, ...]:
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
    places: BundleAndConfig,
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
    from .evaluate import EvalOptions, run_eval

    options = EvalOptions(
        full=full,
        ids=parse_ids(ids),
        from_report=from_report,
        fail_fast=fail_fast,
        only_list=only_list,
        report=report,
        html=html,
        is_agreed=yes,
        as_json=as_json,
    )
    raise SystemExit(0 if run_eval(*places, gold, options) else 1)


@click.command()
@click.option(
    "--encoding",
    type=click.Choice(ENCODING_NAMES),
    help="How vectors are held. Default: as mkdocs.yml says.",
)
@click.option("--dimensions", type=int, help="Keep so many leading dimensions. Default: all.")
@click.option("--ids", help="Ask these queries only, ids divided by commas: certifies nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def gate(
    places: BundleAndConfig,
    encoding: str | None,
    dimensions: int | None,
    ids: str | None,
    as_json: bool,
) -> None:
    """Let the gold set admit or reject an encoding; exit status 1 if it is not certified."""
    from .gate import run_gate

    certified = run_gate(places[1], encoding, dimensions, parse_ids(ids), as_json=as_json)
    raise SystemExit(0 if certified else 1)


@click.command()
@click.option(
    "--encoding",
    type=click.Choice(ENCODING_NAMES),
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
    places: BundleAndConfig,
    encoding: tuple[str, ...],
    dimensions: tuple[int, ...],
    words: tuple[int, ...],
    floor: tuple[float, ...],
    everything: bool,
    as_json: bool,
) -> None:
    """Find the smallest bundle that holds every verdict; exit status 1 if none does."""
    from .gate import TuneGrid, run_tune

    grid = TuneGrid(encoding, dimensions, words, floor)
    found = run_tune(places[1], grid, everything=everything, as_json=as_json)
    raise SystemExit(0 if found else 1)


@click.command()
@question_argument
@click.option("--expect", metavar="ID", help="What should have been found: a page, passage, note.")
@click.option("--language", help="What you ask in, such as fr: pages in it go first.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole ledger as JSON.")
@click.pass_obj
def why(
    places: BundleAndConfig, question: str, expect: str | None, language: str | None, as_json: bool
) -> None:
    """Explain what a QUESTION retrieves, what it does not, and what an author could do."""
    from .why import run_why

    run_why(*places, question, expect, language, as_json=as_json)


@click.command()
@click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
@click.pass_obj
def calibrate(places: BundleAndConfig, gold: Path | None, as_json: bool) -> None:
    """Propose floors from the gold set and a bank of off-topic questions."""
    from .calibrate import run_calibrate

    run_calibrate(*places, gold, as_json=as_json)


@click.command()
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the groups as JSON.")
@click.pass_obj
def gaps(places: BundleAndConfig, logs: tuple[Path, ...], as_json: bool) -> None:
    """Group refused questions into likely missing pages.

    LOGS: files of refusals, - for standard input. Default: those that the dev server has kept.
    """
    from .gaps import run_gaps

    run_gaps(*places, logs, as_json=as_json)


EVALUATE_COMMANDS = (evaluate, gate, tune, why, calibrate, gaps)


_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


def confirm_cost(
    identity: EmbedderIdentity,
    chosen: FunctionSettings,
    *,
    embedded: int,
    answered: int,
    is_agreed: bool,
) -> None:
    """Warn of calls that cost money; at a terminal ask, unless that is agreed already.

    embedded: questions of one call. answered: questions of a call each, or two where a draft
    breaks the contract. click.Abort if the answer is no.
    """
    calls = []
    host = ANSWERER_PROVIDERS[chosen.answers].host
    if answered and host and _is_paid(chosen.base_url or host):
        calls.append(f"{answered} to {2 * answered} calls of {chosen.model}")
    host = EMBEDDER_PROVIDERS[identity.provider].host
    if embedded and host and _is_paid(chosen.embedding_base_url or host):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)


def _is_paid(host: str) -> bool:
    """Whether a host may want money: every one but this machine."""
    return urlsplit(host).hostname not in _LOOPBACK_HOSTS
