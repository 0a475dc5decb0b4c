"""``answerable calibrate``: the floors that the gold set and the off-topic bank ask for."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..build import notebook
from ..evaluate import calibration, floor_scores, gold, off_topic, runner
from ..evaluate.calibration import Asked, Calibration
from ..evaluate.gold import GoldQuery
from ..mkdocs import choices, settings
from ..serve.engine import Engine
from ..serve.errors import GoldError
from . import opening, showing, spending

# How far around the proposal the table goes, in hundredths, and how many questions are listed.
_AROUND = 4
_LISTED = 8


def calibrate(
    bundle: Path | None, config_file: Path, gold_file: Path | None, *, as_json: bool
) -> None:
    """Print the trade-off of both floors and the lines of mkdocs.yml that set the better ones."""
    site = settings.load(config_file)
    path = gold_file or site.gold
    queries = gold.load(path, site.author)
    private = opening.notebook_of(site.notebook)
    notes = notebook.ids(private.notes)
    engine = opening.engine(bundle or site.bundle, config_file)
    known = runner.known_sources(engine.bundle, notes)
    gold.check_sources(queries, path, known, unrouted=private.unrouted_paths)
    bank = off_topic.questions()
    spending.agree(
        engine.bundle.manifest.identity,
        opening.settings_of(bundle or site.bundle),
        embedded=len(queries) + len(bank),
        answered=0,
        is_agreed=True,
    )
    passages, hints = floor_scores.calibrate(engine, queries, notes, bank)
    if not (passages.is_enough or hints.is_enough):
        raise GoldError(
            f"{path}: queries that expect a page: {len(passages.answerable)}, a note: "
            f"{len(hints.answerable)}; a floor needs at least {calibration.LEAST} of a kind, and "
            "as many questions that have to be refused: write more"
        )
    warnings = _warnings(queries, engine, config_file)
    found = lines(passages, hints, engine.embedder.identity.label)
    if as_json:
        body = {
            "bundle": engine.bundle.manifest.id,
            "embedder": engine.embedder.identity.label,
            "warnings": warnings,
            "passages": passages.as_json() if passages.is_enough else None,
            "notes": hints.as_json() if hints.is_enough else None,
            "lines": found,
        }
        click.echo(json.dumps(body, indent=2))
        return
    for warning in warnings:
        click.echo(f"Warning: {warning}", err=True)
    console = Console()
    _show(console, "floor", "a page", passages)
    if len(engine.bundle.hints):
        _show(console, "note_floor", "a note", hints)
    console.print("For mkdocs.yml:\n")
    click.echo(found)


def lines(passages: Calibration, notes: Calibration, label: str) -> str:
    """The lines of mkdocs.yml that set the proposed floors. label: of the embedder."""
    found = ["plugins:", "  - answerable:", "      retrieval:"]
    for name, each in (("floor", passages), ("note_floor", notes)):
        if each.is_enough:
            found.append(f"        {name}: {_told(each.proposed.floor)}")
    # A JSON text is a YAML text, whatever a model is called.
    return "\n".join([*found, f"        calibrated_for: {json.dumps(label)}"])


def _warnings(queries: Sequence[GoldQuery], engine: Engine, config_file: Path) -> list[str]:
    options = settings.plugin(settings.read(config_file)).config
    found = [stale] if (stale := choices.stale_floors(options)) else []
    built, chosen = engine.embedder.identity.label, choices.identity(options).label
    if built != chosen:
        found.append(
            f"the bundle was built with {built}, and the embedder is {chosen}: build first"
        )
    if not any(floor_scores.must_be_refused(query) for query in queries):
        found.append(
            "the gold set has no query that a floor has to refuse, and the bank's questions are "
            "far from every subject: write some near yours, with `expectAnswerMode: not-found`"
        )
    if not any(tag.split("-")[0] == "en" for tag in engine.bundle.site.tags):
        found.append(
            "most of the bank is in English, which a site in other languages refuses too easily: "
            "write more queries with `expectAnswerMode: not-found` in its own"
        )
    return found


def _show(console: Console, option: str, source: str, found: Calibration) -> None:
    answerable = len(found.answerable)
    if not found.is_enough:
        console.print(
            f"retrieval.{option}: no proposal, which takes at least {calibration.LEAST} questions "
            f"of each kind; queries that expect {source}: {answerable}, to be refused: "
            f"{len(found.refusable)}\n"
        )
        return
    own = sum(asked.is_gold for asked in found.refusable)
    console.print(
        f"retrieval.{option}: queries that expect {source}: {answerable}; to be refused: {own} of "
        f"the gold set, {len(found.refusable) - own} of the bank"
    )
    console.print(_trade_off(found))
    # Not rounded up: only a clean cut is 1.
    console.print(f"AUROC {math.floor(1000 * found.auroc) / 1000:.3f}. {_gain(found)}\n")
    console.print(_nearest(found))
    _tell(console, found)


def _gain(found: Calibration) -> str:
    current, proposed = found.current, found.proposed
    if current == proposed:
        return f"No floor does better than the site's, {_told(current.floor)}."
    return (
        f"Against the site's {_told(current.floor)}, the proposed {_told(proposed.floor)} answers "
        f"{proposed.answered - current.answered:+d} and refuses "
        f"{proposed.refused - current.refused:+d}."
    )


def _told(floor: float) -> str:
    return f"{floor:.2f}" if round(floor, 2) == floor else f"{floor:g}"


def _trade_off(found: Calibration) -> Table:
    table = Table("floor", "answered", "refused", "of the gold set", "mean of both", "")
    current, proposed = found.current, found.proposed
    near = {
        point.floor: point
        for point in found.points
        if abs(round(100 * (point.floor - proposed.floor))) <= _AROUND
    } | {current.floor: current, proposed.floor: proposed}
    own = [asked for asked in found.refusable if asked.is_gold]
    for point in sorted(near.values(), key=lambda point: point.floor):
        marks = {"the site's": point == current, "proposed": point == proposed}
        refused = sum(not calibration.passes(asked.score, point.floor) for asked in own)
        table.add_row(
            _told(point.floor),
            f"{point.answered} of {point.answerable}",
            f"{point.refused} of {point.refusable}",
            f"{refused} of {len(own)}",
            f"{100 * float(point.balance):.1f} %",
            ", ".join(name for name, holds in marks.items() if holds),
        )
    return table


def _nearest(found: Calibration) -> Table:
    """The questions that a floor is most likely to get wrong."""
    floor = found.proposed.floor
    table = Table("question", "has to be", "score", "found", f"at {_told(floor)}")
    table.columns[3].overflow = "fold"
    edges = (("refused", found.refusable), ("answered", found.answerable))
    for wanted, asked in edges:
        for each in asked[:_LISTED]:
            outcome = "answered" if calibration.passes(each.score, floor) else "refused"
            colour = "green" if outcome == wanted else "red"
            table.add_row(
                showing.plain(each.name),
                wanted,
                f"{each.score:.3f}",
                showing.plain(each.top or ""),
                f"[{colour}]{outcome}[/{colour}]",
            )
    return table


def _tell(console: Console, found: Calibration) -> None:
    """What the table of questions leaves out."""
    floor = found.proposed.floor
    wrong = (("lost", found.lost(floor)), ("answered all the same", found.admitted(floor)))
    for label, asked in wrong:
        if len(asked) > _LISTED:
            console.print(f"{len(asked)} are {label}; --json lists every question.")
    if found.left_out:
        console.print(
            f"Left out are {len(found.left_out)} questions of the bank that score above the median "
            "of the answerable ones, so that your site is probably about them. Put those that it "
            "does not answer into the gold set with `expectAnswerMode: not-found`, where they "
            "count:"
        )
        for each in found.left_out:
            console.print(showing.plain(_line(each)))
    console.print()


def _line(asked: Asked) -> str:
    return f"  {asked.score:.3f}  {asked.name}  ({asked.top})"
