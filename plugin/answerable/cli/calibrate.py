"""``answerable calibrate``: the floors that the gold set and the off-topic bank ask for."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate import calibration
from ..evaluate.calibration import (
    FloorCalibration,
    ScoredQuestion,
    calibrate_floors,
    passes_floor,
    read_off_topic_questions,
    requires_floor_refusal,
)
from ..evaluate.gold import GoldQuery, check_gold_sources, load_gold_queries
from ..evaluate.runner import list_source_names
from ..mkdocs.options import describe_stale_floors, resolve_identity
from ..mkdocs.site_config import find_plugin, load_mkdocs_config, load_site_config
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.stores.bundle import Bundle
from .context import open_engine, read_function_settings, read_site_notebook
from .evaluate_options import confirm_cost
from .render import to_plain_text

# How far around the proposal the table goes, in hundredths, and how many questions are listed.
_SHOWN_FLOORS = 4
_SHOWN_QUESTIONS = 8


def run_calibrate(
    bundle: Path | None, config_file: Path, gold_file: Path | None, *, as_json: bool
) -> None:
    """Print the trade-off of both floors and the lines of mkdocs.yml that set the better ones."""
    site = load_site_config(config_file)
    path = gold_file or site.gold
    queries = load_gold_queries(path, site.author)
    private = read_site_notebook(site.notebook)
    notes = private.ids
    engine = open_engine(bundle or site.bundle, config_file)
    known = list_source_names(engine.store, notes)
    check_gold_sources(queries, path, known, unrouted=private.unrouted_paths)
    bank = read_off_topic_questions()
    confirm_cost(
        engine.store.manifest.identity,
        read_function_settings(bundle or site.bundle),
        embedded=len(queries) + len(bank),
        answered=0,
        is_agreed=True,
    )
    passages, hints = calibrate_floors(engine, queries, notes, bank)
    if not (passages.is_enough or hints.is_enough):
        raise GoldError(
            f"{path}: queries that expect a page: {len(passages.answerable)}, a note: "
            f"{len(hints.answerable)}; a floor needs at least {calibration.MIN_QUESTIONS} of "
            "a kind, and "
            "as many questions that have to be refused: write more"
        )
    warnings = _collect_warnings(queries, engine, config_file)
    found = format_floor_lines(passages, hints, engine.embedder.identity.label)
    if as_json:
        body = {
            "bundle": engine.store.manifest.id,
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
    _print_calibration(console, "floor", "a page", passages)
    if len(engine.store.hints):
        _print_calibration(console, "note_floor", "a note", hints)
    console.print("For mkdocs.yml:\n")
    click.echo(found)


def format_floor_lines(passages: FloorCalibration, notes: FloorCalibration, label: str) -> str:
    """The lines of mkdocs.yml that set the proposed floors. label: of the embedder."""
    found = ["plugins:", "  - answerable:", "      retrieval:"]
    for name, each in (("floor", passages), ("note_floor", notes)):
        if each.is_enough:
            found.append(f"        {name}: {_format_floor(each.proposed.floor)}")
    # A JSON text is a YAML text, whatever a model is called.
    return "\n".join([*found, f"        calibrated_for: {json.dumps(label)}"])


def _collect_warnings(
    queries: Sequence[GoldQuery], engine: Engine[Bundle], config_file: Path
) -> list[str]:
    options = find_plugin(load_mkdocs_config(config_file)).config
    found = [stale] if (stale := describe_stale_floors(options)) else []
    built, chosen = engine.embedder.identity.label, resolve_identity(options).label
    if built != chosen:
        found.append(
            f"the bundle was built with {built}, and the embedder is {chosen}: build first"
        )
    if not any(requires_floor_refusal(query) for query in queries):
        found.append(
            "the gold set has no query that a floor has to refuse, and the bank's questions are "
            "far from every subject: write some near yours, with `expectAnswerMode: not-found`"
        )
    if not any(tag.split("-")[0] == "en" for tag in engine.store.site.tags):
        found.append(
            "most of the bank is in English, which a site in other languages refuses too easily: "
            "write more queries with `expectAnswerMode: not-found` in its own"
        )
    return found


def _print_calibration(console: Console, option: str, source: str, found: FloorCalibration) -> None:
    answerable = len(found.answerable)
    if not found.is_enough:
        console.print(
            f"retrieval.{option}: no proposal, which takes at least "
            f"{calibration.MIN_QUESTIONS} questions "
            f"of each kind; queries that expect {source}: {answerable}, to be refused: "
            f"{len(found.refusable)}\n"
        )
        return
    own = sum(asked.is_gold for asked in found.refusable)
    console.print(
        f"retrieval.{option}: queries that expect {source}: {answerable}; to be refused: {own} of "
        f"the gold set, {len(found.refusable) - own} of the bank"
    )
    console.print(_make_floor_table(found))
    # Not rounded up: only a clean cut is 1.
    console.print(f"AUROC {math.floor(1000 * found.auroc) / 1000:.3f}. {_describe_gain(found)}\n")
    console.print(_make_question_table(found))
    _print_left_out(console, found)


def _describe_gain(found: FloorCalibration) -> str:
    current, proposed = found.current, found.proposed
    if current == proposed:
        return f"No floor does better than the site's, {_format_floor(current.floor)}."
    return (
        f"Against the site's {_format_floor(current.floor)}, the proposed "
        f"{_format_floor(proposed.floor)} answers "
        f"{proposed.answered - current.answered:+d} and refuses "
        f"{proposed.refused - current.refused:+d}."
    )


def _format_floor(floor: float) -> str:
    return f"{floor:.2f}" if round(floor, 2) == floor else f"{floor:g}"


def _make_floor_table(found: FloorCalibration) -> Table:
    table = Table("floor", "answered", "refused", "of the gold set", "mean of both", "")
    current, proposed = found.current, found.proposed
    near = {
        point.floor: point
        for point in found.points
        if abs(round(100 * (point.floor - proposed.floor))) <= _SHOWN_FLOORS
    } | {current.floor: current, proposed.floor: proposed}
    own = [asked for asked in found.refusable if asked.is_gold]
    for point in sorted(near.values(), key=lambda point: point.floor):
        marks = {"the site's": point == current, "proposed": point == proposed}
        refused = sum(not passes_floor(asked.score, point.floor) for asked in own)
        table.add_row(
            _format_floor(point.floor),
            f"{point.answered} of {point.answerable}",
            f"{point.refused} of {point.refusable}",
            f"{refused} of {len(own)}",
            f"{100 * float(point.balance):.1f} %",
            ", ".join(name for name, holds in marks.items() if holds),
        )
    return table


def _make_question_table(found: FloorCalibration) -> Table:
    """The questions that a floor is most likely to get wrong."""
    floor = found.proposed.floor
    table = Table("question", "has to be", "score", "found", f"at {_format_floor(floor)}")
    table.columns[3].overflow = "fold"
    edges = (("refused", found.refusable), ("answered", found.answerable))
    for wanted, asked in edges:
        for each in asked[:_SHOWN_QUESTIONS]:
            outcome = "answered" if passes_floor(each.score, floor) else "refused"
            colour = "green" if outcome == wanted else "red"
            table.add_row(
                to_plain_text(each.name),
                wanted,
                f"{each.score:.3f}",
                to_plain_text(each.top or ""),
                f"[{colour}]{outcome}[/{colour}]",
            )
    return table


def _print_left_out(console: Console, found: FloorCalibration) -> None:
    """What the table of questions leaves out."""
    floor = found.proposed.floor
    wrong = (("lost", found.lost(floor)), ("answered all the same", found.admitted(floor)))
    for label, asked in wrong:
        if len(asked) > _SHOWN_QUESTIONS:
            console.print(f"{len(asked)} are {label}; --json lists every question.")
    if found.left_out:
        console.print(
            f"Left out are {len(found.left_out)} questions of the bank that score above the median "
            "of the answerable ones, so that your site is probably about them. Put those that it "
            "does not answer into the gold set with `expectAnswerMode: not-found`, where they "
            "count:"
        )
        for each in found.left_out:
            console.print(to_plain_text(_format_question(each)))
    console.print()


def _format_question(asked: ScoredQuestion) -> str:
    return f"  {asked.score:.3f}  {asked.name}  ({asked.top})"
