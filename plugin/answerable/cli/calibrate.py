"""``answerable calibrate``: propose score floors from gold queries, guarded by off-topic ones."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ..evaluate.calibration import (
    HELD_OUT_HALVES,
    MIN_ANSWERABLE,
    MIN_NEAR_REFUSALS,
    NEAR_SHARE,
    FloorCalibration,
    ScoredQuestion,
    find_endangered,
    make_calibration,
    passes_floor,
    read_off_topic_questions,
    score_questions,
    trace_floor_curve,
)
from ..evaluate.gold import load_gold_queries
from ..evaluate.page import Page, ReportSection, Table
from ..evaluate.sources import check_gold_sources, list_public_sources
from ..mkdocs.options import describe_stale_floors, resolve_identity
from ..mkdocs.site_config import find_plugin, load_mkdocs_config, load_site_config
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.stores.bundle import Bundle
from .context import SiteLocation, open_engine, read_function_settings
from .eval import confirm_cost, gold_option, read_note_sources
from .render import print_page


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
    profile = engine.store.manifest.profile
    scored = score_questions(engine, queries, notes.ids, bank)
    passages = make_calibration(profile.floor, scored[0])
    hints = make_calibration(profile.note_floor, scored[1])
    if passages.missing_answerable and hints.missing_answerable:
        raise GoldError(
            f"{path}: queries that expect a page: {len(passages.questions.answerable)}, a note: "
            f"{len(hints.questions.answerable)}; a floor needs at least {MIN_ANSWERABLE} of a "
            f"kind, and {MIN_NEAR_REFUSALS} that have to be refused: write more"
        )
    is_judged = bool(passages.proposed or hints.proposed)
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
        sections = [*_lay_out("floor", "a page", passages)]
        if len(engine.store.hints):
            sections += _lay_out("note_floor", "a note", hints)
        print_page(Page("", sections=tuple(sections)), wraps=True)
        if is_judged:
            click.echo(f"For mkdocs.yml:\n\n{lines}")
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


def _lay_out(option: str, source: str, calibration: FloorCalibration) -> Iterator[ReportSection]:
    """Lay out what the floors near the best one do, and the site's own, and what is proposed."""
    questions, current = calibration.questions, calibration.current
    best = calibration.best or current
    opening = [
        f"retrieval.{option}: queries that expect {source}: {len(questions.answerable)}; to be "
        f"refused: {len(questions.refusable)}, {calibration.near_refusals} of them near your "
        f"subject; bank: {len(questions.off_topic)} off-topic questions"
    ]
    if calibration.near_limit is not None:
        opening.append(
            f"Near your subject is a score above {calibration.near_limit:.3f}, which "
            f"{NEAR_SHARE:.0%} of the bank do not pass."
        )
    near = [
        point
        for point in trace_floor_curve(questions)
        if abs(round(100 * (point.floor - best.floor))) <= 4
    ]
    rows = []
    for _, point in sorted({point.floor: point for point in [*near, current, best]}.items()):
        marks = {"the site's": point == current, "proposed": point == calibration.proposed}
        rows.append(
            (
                _format_floor(point.floor),
                f"{point.answered} of {point.answerable}",
                f"{point.refused} of {point.refusable}",
                str(point.wrong),
                f"{point.off_topic_refused} of {point.off_topic}",
                ", ".join(name for name, is_marked in marks.items() if is_marked),
            )
        )
    columns = ("floor", "answered", "refused", "wrong", "bank refused", "")
    yield ReportSection(lines=tuple(opening))
    lines = [_describe_outcome(calibration)]
    floor = (calibration.proposed or current).floor
    admitted = [question for question in questions.refusable if passes_floor(question.score, floor)]
    lost = [
        question for question in questions.answerable if not passes_floor(question.score, floor)
    ]
    for kind, wrong in (("Answered all the same", admitted), ("Lost", lost)):
        if wrong:
            lines.append(f"{kind} at {_format_floor(floor)}: {_format_names(wrong, limit=8)}")
    if left_out := calibration.left_out:
        lines.append(
            f"Left out are {len(left_out)} questions of the bank that score above the median of "
            "the answerable ones, so that your site is probably about them. Put those that it does "
            "not answer into the gold set with `expectAnswerMode: not-found`, where they count: "
            f"{_format_names(left_out, limit=len(left_out))}"
        )
    yield ReportSection(
        lines=tuple(f"{line}\n" for line in lines), table=Table(columns, tuple(rows))
    )


def _describe_outcome(calibration: FloorCalibration) -> str:
    """Describe what is proposed and why, or what the gold set lacks for a proposal."""
    current, best, questions = calibration.current, calibration.best, calibration.questions
    if best is None:
        few_answerable = (
            f" A floor takes at least {MIN_ANSWERABLE} queries to be answered: add "
            f"{calibration.missing_answerable}."
        )
        few_refusals = (
            f" A floor takes at least {MIN_NEAR_REFUSALS} refusals near your subject, and the gold "
            f"set has {calibration.near_refusals}: add {calibration.missing_refusals} with "
            "`expectAnswerMode: not-found`. Near are questions that your readers may ask and your "
            "pages do not answer: of neighboring products, of features that there are not, of "
            "other versions. `answerable gaps` lists those of your readers. Nearest among yours: "
            f"{_format_names(questions.refusable) or 'none'}."
        )
        missing = few_answerable if calibration.missing_answerable else ""
        return f"No proposal.{missing}{few_refusals if calibration.missing_refusals else ''}"
    own, other = _format_floor(current.floor), _format_floor(best.floor)
    if calibration.outcome == "best":
        return f"Keep {own}: no floor has a better mean of both shares."
    if calibration.outcome == "unsafe":
        names = _format_names(find_endangered(best.floor, current.floor, questions))
        return (
            f"Keep {own}: {other} has a better mean of both shares, but may show wrong answers "
            f"that {own} does not, to these questions or to others like them: {names}."
        )
    held_out = (
        "Floors that were chosen by half of the questions change the mean of both shares on the "
        f"other half by {100 * (calibration.gain or 0):+.1f} points, and show more wrong answers "
        f"on {calibration.worse} of {HELD_OUT_HALVES} halves."
    )
    if calibration.outcome == "chance":
        return f"Keep {own}: that {other} is better may be chance. {held_out}"
    return f"Proposed is {other} instead of {own}. {held_out}"


def _format_names(questions: Sequence[ScoredQuestion], limit: int = 3) -> str:
    return ", ".join(f"{question.name} ({question.score:.3f})" for question in questions[:limit])


def _format_floor(floor: float) -> str:
    return f"{floor:.2f}" if round(floor, 2) == floor else f"{floor:g}"
