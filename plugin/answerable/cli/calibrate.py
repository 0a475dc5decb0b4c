"""``answerable calibrate``: propose score floors from gold and off-topic questions."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.calibration import (
    MIN_QUESTIONS,
    FloorCalibration,
    ScoredQuestion,
    calibrate_floors,
    read_off_topic_questions,
    requires_floor_refusal,
)
from ..evaluate.floor_curve import passes_floor
from ..evaluate.gold import GoldQuery, load_gold_queries
from ..evaluate.gold_sources import check_gold_sources, list_public_sources
from ..mkdocs.options import describe_stale_floors, resolve_identity
from ..mkdocs.site_config import find_plugin, load_mkdocs_config, load_site_config
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.stores.bundle import Bundle
from .context import SiteLocation, open_engine, read_function_settings
from .evaluate_options import confirm_cost, gold_option, read_note_sources
from .render import to_plain_text

# The table shows floors so many hundredths around the proposal, and so many questions of a kind.
_SHOWN_FLOORS = 4
_SHOWN_QUESTIONS = 8


@click.command("calibrate")
@gold_option
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
@click.pass_obj
def command(location: SiteLocation, gold: Path | None, as_json: bool) -> None:
    """Propose floors from the gold set and a bank of off-topic questions."""
    bundle, config_file = location
    site = load_site_config(config_file)
    path = gold or site.gold
    queries = load_gold_queries(path, site.author)
    notes = read_note_sources(site.notebook)
    engine = open_engine(bundle or site.bundle, config_file)
    check_gold_sources(queries, path, list_public_sources(engine.store), notes)
    bank = read_off_topic_questions()
    confirm_cost(
        engine.store.manifest.identity,
        read_function_settings(bundle or site.bundle),
        embedded=len(queries) + len(bank),
        answered=0,
        is_agreed=True,
    )
    passages, hints = calibrate_floors(engine, queries, notes.ids, bank)
    if not (passages.is_enough or hints.is_enough):
        raise GoldError(
            f"{path}: queries that expect a page: {len(passages.answerable)}, a note: "
            f"{len(hints.answerable)}; a floor needs at least {MIN_QUESTIONS} of a kind, and "
            "as many questions that have to be refused: write more"
        )
    warnings = _collect_warnings(queries, engine, config_file)
    lines = format_floor_lines(passages, hints, engine.embedder.identity.label)
    if as_json:
        body = {
            "bundle": engine.store.manifest.id,
            "embedder": engine.embedder.identity.label,
            "warnings": warnings,
            "passages": passages.as_json() if passages.is_enough else None,
            "notes": hints.as_json() if hints.is_enough else None,
            "lines": lines,
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
    click.echo(lines)


def format_floor_lines(passages: FloorCalibration, notes: FloorCalibration, label: str) -> str:
    """Format the lines of mkdocs.yml that set the proposed floors. label: of the embedder."""
    lines = ["plugins:", "  - answerable:", "      retrieval:"]
    for name, calibration in (("floor", passages), ("note_floor", notes)):
        if calibration.is_enough:
            lines.append(f"        {name}: {_format_floor(calibration.proposed.floor)}")
    # A JSON text is a YAML text, whatever a model is called.
    return "\n".join([*lines, f"        calibrated_for: {json.dumps(label)}"])


def _collect_warnings(
    queries: Sequence[GoldQuery], engine: Engine[Bundle], config_file: Path
) -> list[str]:
    options = find_plugin(load_mkdocs_config(config_file)).config
    warnings = [stale] if (stale := describe_stale_floors(options)) else []
    built, configured = engine.embedder.identity.label, resolve_identity(options).label
    if built != configured:
        warnings.append(
            f"the bundle was built with {built}, and the embedder is {configured}: build first"
        )
    if not any(requires_floor_refusal(query) for query in queries):
        warnings.append(
            "the gold set has no query that a floor has to refuse, and the bank's questions are "
            "far from every subject: write some near yours, with `expectAnswerMode: not-found`"
        )
    if not any(tag.split("-")[0] == "en" for tag in engine.store.site.tags):
        warnings.append(
            "most of the bank is in English, which a site in other languages refuses too easily: "
            "write more queries with `expectAnswerMode: not-found` in its own"
        )
    return warnings


def _print_calibration(
    console: Console, option: str, source: str, calibration: FloorCalibration
) -> None:
    answerable, refusable = len(calibration.answerable), len(calibration.refusable)
    if not calibration.is_enough:
        console.print(
            f"retrieval.{option}: no proposal, which takes at least {MIN_QUESTIONS} questions "
            f"of each kind; queries that expect {source}: {answerable}, to be refused: "
            f"{refusable}\n"
        )
        return
    gold_count = sum(question.is_gold for question in calibration.refusable)
    console.print(
        f"retrieval.{option}: queries that expect {source}: {answerable}; to be refused: "
        f"{gold_count} of the gold set, {refusable - gold_count} of the bank"
    )
    console.print(_make_floor_table(calibration))
    # Not rounded up: only a clean cut is 1.
    auroc = math.floor(1000 * calibration.auroc) / 1000
    console.print(f"AUROC {auroc:.3f}. {_describe_gain(calibration)}\n")
    console.print(_make_question_table(calibration))
    _print_unlisted(console, calibration)


def _describe_gain(calibration: FloorCalibration) -> str:
    current, proposed = calibration.current, calibration.proposed
    if current == proposed:
        return f"No floor does better than the site's, {_format_floor(current.floor)}."
    return (
        f"Against the site's {_format_floor(current.floor)}, the proposed "
        f"{_format_floor(proposed.floor)} answers {proposed.answered - current.answered:+d} and "
        f"refuses {proposed.refused - current.refused:+d}."
    )


def _format_floor(floor: float) -> str:
    return f"{floor:.2f}" if round(floor, 2) == floor else f"{floor:g}"


def _make_floor_table(calibration: FloorCalibration) -> Table:
    """Tabulate what the floors near the proposal do, and the site's own."""
    table = Table("floor", "answered", "refused", "of the gold set", "mean of both", "")
    current, proposed = calibration.current, calibration.proposed
    points = {
        point.floor: point
        for point in calibration.points
        if abs(round(100 * (point.floor - proposed.floor))) <= _SHOWN_FLOORS
    } | {current.floor: current, proposed.floor: proposed}
    gold_questions = [question for question in calibration.refusable if question.is_gold]
    for _, point in sorted(points.items()):
        marks = {"the site's": point == current, "proposed": point == proposed}
        refused = sum(not passes_floor(each.score, point.floor) for each in gold_questions)
        table.add_row(
            _format_floor(point.floor),
            f"{point.answered} of {point.answerable}",
            f"{point.refused} of {point.refusable}",
            f"{refused} of {len(gold_questions)}",
            f"{100 * float(point.balance):.1f} %",
            ", ".join(name for name, is_marked in marks.items() if is_marked),
        )
    return table


def _make_question_table(calibration: FloorCalibration) -> Table:
    """Tabulate the questions that the proposed floor is most likely to get wrong."""
    floor = calibration.proposed.floor
    table = Table("question", "has to be", "score", "found", f"at {_format_floor(floor)}")
    table.columns[3].overflow = "fold"
    edges = (("refused", calibration.refusable), ("answered", calibration.answerable))
    for expected, questions in edges:
        for question in questions[:_SHOWN_QUESTIONS]:
            outcome = "answered" if passes_floor(question.score, floor) else "refused"
            color = "green" if outcome == expected else "red"
            table.add_row(
                to_plain_text(question.name),
                expected,
                f"{question.score:.3f}",
                to_plain_text(question.top or ""),
                f"[{color}]{outcome}[/{color}]",
            )
    return table


def _print_unlisted(console: Console, calibration: FloorCalibration) -> None:
    """Print what the table of questions leaves out."""
    floor = calibration.proposed.floor
    wrong = (
        ("lost", calibration.lost(floor)),
        ("answered all the same", calibration.admitted(floor)),
    )
    for label, questions in wrong:
        if len(questions) > _SHOWN_QUESTIONS:
            console.print(f"{len(questions)} are {label}; --json lists every question.")
    if calibration.left_out:
        console.print(
            f"Left out are {len(calibration.left_out)} questions of the bank that score above the "
            "median of the answerable ones, so that your site is probably about them. Put those "
            "that it does not answer into the gold set with `expectAnswerMode: not-found`, where "
            "they count:"
        )
        for question in calibration.left_out:
            console.print(to_plain_text(_format_question(question)))
    console.print()


def _format_question(question: ScoredQuestion) -> str:
    return f"  {question.score:.3f}  {question.name}  ({question.top})"
