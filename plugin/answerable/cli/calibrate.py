"""``answerable calibrate``: propose score floors from gold queries, guarded by off-topic ones."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.calibration import FloorCalibration, calibrate_floors
from ..evaluate.floor_curve import FloorPoint, passes_floor
from ..evaluate.floor_proposal import MIN_ANSWERABLE, MIN_NEAR_REFUSALS, NEAR_SHARE
from ..evaluate.floor_questions import ScoredQuestion, read_off_topic_questions
from ..evaluate.gold import load_gold_queries
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
_SHOWN_NEAREST = 3


@click.command("calibrate")
@gold_option
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
@click.pass_obj
def command(location: SiteLocation, gold: Path | None, as_json: bool) -> None:
    """Propose floors from the gold set, or say what it lacks; exit status 1 if it lacks that."""
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
    if passages.missing_answerable and hints.missing_answerable:
        raise GoldError(
            f"{path}: queries that expect a page: {len(passages.answerable)}, a note: "
            f"{len(hints.answerable)}; a floor needs at least {MIN_ANSWERABLE} of a kind, and "
            f"{MIN_NEAR_REFUSALS} that have to be refused: write more"
        )
    is_judged = passages.is_judged or hints.is_judged
    warnings = _collect_warnings(engine, config_file)
    lines = format_floor_lines(passages, hints, engine.embedder.identity.label)
    if as_json:
        body = {
            "bundle": engine.store.manifest.id,
            "embedder": engine.embedder.identity.label,
            "warnings": warnings,
            "passages": passages.as_json(),
            "notes": hints.as_json() if len(engine.store.hints) else None,
            "lines": lines if is_judged else None,
        }
        click.echo(json.dumps(body, indent=2))
    else:
        for warning in warnings:
            click.echo(f"Warning: {warning}", err=True)
        console = Console()
        _print_calibration(console, "floor", "a page", passages)
        if len(engine.store.hints):
            _print_calibration(console, "note_floor", "a note", hints)
        if is_judged:
            console.print("For mkdocs.yml:\n")
            click.echo(lines)
    raise SystemExit(0 if is_judged else 1)


def format_floor_lines(passages: FloorCalibration, notes: FloorCalibration, label: str) -> str:
    """Format the lines of mkdocs.yml that set the floors to use. label: of the embedder."""
    lines = ["plugins:", "  - answerable:", "      retrieval:"]
    for name, calibration in (("floor", passages), ("note_floor", notes)):
        if calibration.proposed:
            lines.append(f"        {name}: {_format_floor(calibration.proposed.floor)}")
    # A JSON text is a YAML text, whatever a model is called.
    return "\n".join([*lines, f"        calibrated_for: {json.dumps(label)}"])


def _collect_warnings(engine: Engine[Bundle], config_file: Path) -> list[str]:
    options = find_plugin(load_mkdocs_config(config_file)).config
    warnings = [stale] if (stale := describe_stale_floors(options)) else []
    built, configured = engine.embedder.identity.label, resolve_identity(options).label
    if built != configured:
        warnings.append(
            f"the bundle was built with {built}, and the embedder is {configured}: build first"
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
    console.print(
        f"retrieval.{option}: queries that expect {source}: {len(calibration.answerable)}; to be "
        f"refused: {len(calibration.refusable)}, {len(calibration.near_refusals)} of them near "
        f"your subject; bank: {len(calibration.off_topic)} off-topic questions"
    )
    if calibration.near_limit is not None:
        console.print(
            f"Near your subject is a score above {calibration.near_limit:.3f}, which "
            f"{NEAR_SHARE:.0%} of the bank do not pass."
        )
    console.print(_make_floor_table(calibration))
    console.print(
        f"AUROC {_format_auroc(calibration.auroc)} against your own refusals, "
        f"{_format_auroc(calibration.off_topic_auroc)} against the bank.\n"
    )
    console.print(f"{to_plain_text(_describe_proposal(calibration))}\n")
    console.print(_make_question_table(calibration))
    _print_unlisted(console, calibration)


def _describe_proposal(calibration: FloorCalibration) -> str:
    """Describe what is proposed and why, or what the gold set lacks for a proposal."""
    proposal, current = calibration.proposal, calibration.current
    own = _format_floor(current.floor)
    if proposal.best is None:
        return _describe_shortage(calibration)
    best = _format_floor(proposal.best.floor)
    if proposal.outcome == "best":
        return f"Keep {own}: no floor has a better mean of both shares."
    if proposal.outcome == "unsafe":
        names = _format_names(calibration.endangered(proposal.best.floor)[:_SHOWN_NEAREST])
        return (
            f"Keep {own}: {best} has a better mean of both shares, but may show wrong answers that "
            f"{own} does not, to these questions or to others like them: {names}."
        )
    check = proposal.check
    held_out = (
        "Floors that were chosen by half of the questions change the mean on the other half by "
        f"{100 * check.gain:+.1f} points, and show more wrong answers on {check.worse} of "
        f"{check.halves} halves."
        if check
        else ""
    )
    if proposal.outcome == "chance":
        return (
            f"Keep {own}: {best} has a better mean of both shares for these questions, which may "
            f"be chance. {held_out}"
        )
    answered = _format_change(current.answered, proposal.best.answered)
    refused = _format_change(current.refused, proposal.best.refused)
    return (
        f"Proposed is {best} instead of {own}: of the gold set it answers {answered} and refuses "
        f"{refused}. {held_out}"
    )


def _describe_shortage(calibration: FloorCalibration) -> str:
    """Describe how many questions of which kind have to be added for a proposal."""
    parts = ["No proposal."]
    if calibration.missing_answerable:
        parts.append(
            f"A floor takes at least {MIN_ANSWERABLE} queries to be answered: add "
            f"{calibration.missing_answerable}."
        )
    if calibration.missing_refusals:
        near = len(calibration.near_refusals)
        parts.append(
            f"A floor takes at least {MIN_NEAR_REFUSALS} refusals near your subject, and the gold "
            f"set has {near}: add {calibration.missing_refusals} with `expectAnswerMode: "
            "not-found`. Near are questions that your readers may ask and your pages do not "
            "answer: of neighboring products, of features that there are not, of other versions. "
            "`answerable gaps` lists those of your readers."
        )
        if calibration.refusable:
            nearest = _format_names(calibration.refusable[:_SHOWN_NEAREST])
            parts.append(f"Nearest among yours: {nearest}.")
    return " ".join(parts)


def _format_names(questions: Iterable[ScoredQuestion]) -> str:
    return ", ".join(f"{each.name} ({each.score:.3f})" for each in questions)


def _format_change(before: int, after: int) -> str:
    """Format how a count changes."""
    if after == before:
        return "as many"
    return f"{abs(after - before)} {'more' if after > before else 'fewer'}"


def _format_auroc(auroc: float | None) -> str:
    # Not rounded up: only a clean cut is 1.
    return "-" if auroc is None else f"{math.floor(1000 * auroc) / 1000:.3f}"


def _format_floor(floor: float) -> str:
    return f"{floor:.2f}" if round(floor, 2) == floor else f"{floor:g}"


def _make_floor_table(calibration: FloorCalibration) -> Table:
    """Tabulate what the floors near the best one do, and the site's own."""
    table = Table("floor", "answered", "refused", "mean of both", "wrong", "bank refused", "")
    current = calibration.current
    best = calibration.proposal.best or current
    points = {
        point.floor: point
        for point in calibration.points
        if abs(round(100 * (point.floor - best.floor))) <= _SHOWN_FLOORS
    } | {current.floor: current, best.floor: best}
    for _, point in sorted(points.items()):
        marks = {
            "the site's": point == current,
            "proposed": calibration.is_judged and point == calibration.proposed,
        }
        table.add_row(
            _format_floor(point.floor),
            f"{point.answered} of {point.answerable}",
            f"{point.refused} of {point.refusable}",
            _format_balance(point),
            str(point.wrong),
            f"{point.off_topic_refused} of {point.off_topic}",
            ", ".join(name for name, is_marked in marks.items() if is_marked),
        )
    return table


def _format_balance(point: FloorPoint) -> str:
    is_defined = point.answerable and point.refusable
    return f"{100 * float(point.balance):.1f} %" if is_defined else "-"


def _make_question_table(calibration: FloorCalibration) -> Table:
    """Tabulate the questions that the floor to use is most likely to get wrong."""
    floor = (calibration.proposed or calibration.current).floor
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
    floor = (calibration.proposed or calibration.current).floor
    wrong: Sequence[tuple[str, Sequence[ScoredQuestion]]] = (
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
