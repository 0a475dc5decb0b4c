"""``answerable gate`` and ``answerable tune``: encodings and settings, judged by the gold set."""

import dataclasses
import datetime as dt
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.gate import (
    GateReport,
    format_regressions,
    judge_encoding,
    load_gate_case,
    summarize_gate_report,
)
from ..evaluate.grid_search import (
    Trial,
    TrialSetting,
    TrialSite,
    find_pareto_front,
    find_smallest_trial,
    judge_baseline,
    list_dimensions,
    run_trials,
)
from ..evaluate.report_files import format_timestamp
from ..indexing.output.atomic_files import write_private_file
from ..indexing.progress import show_progress
from ..mkdocs.rebuild import RebuiltSite, rebuild_site
from ..serve.errors import GoldError, SiteError
from ..serve.provider_registry import is_embedder_local
from ..serve.vectors.encodings import ENCODING_NAMES, Encoding
from . import evaluate
from .render import to_plain_text

# Lengths of passages to try, beside the site's own, and how far its floor is moved either way.
PASSAGE_LENGTHS = (160, 240, 320)
FLOOR_STEP = 0.02


@dataclass(frozen=True, slots=True)
class TuneGrid:
    """What to search; nothing named is what is worth a trial."""

    encodings: tuple[str, ...]
    dimensions: tuple[int, ...]
    words: tuple[int, ...]
    floors: tuple[float, ...]


def run_gate(
    config_file: Path,
    encoding: str | None,
    dimensions: int | None,
    ids: Sequence[str],
    *,
    as_json: bool,
) -> bool:
    """Judge an encoding by the gold set and print the verdicts; whether it is certified.

    The site is built into a folder that is thrown away. An encoding or a number of dimensions that
    is not named is the site's own.
    """
    site = rebuild_site(config_file)
    chosen = Encoding(
        encoding or site.encoding.name,
        site.encoding.dimensions
        if dimensions is None
        else _check_dimensions(dimensions, site.embedder.identity.dimensions),
    )
    case = load_gate_case(site.gold, site.author, site.index, site.private, full=site.full, ids=ids)
    report = judge_encoding(site.index, chosen, site.embedder, site.profile, case, site.cache)
    if as_json:
        body = dataclasses.asdict(report) | {"decision": report.word, "held": report.held}
        click.echo(json.dumps(body, indent=2))
    else:
        _print_gate_report(report)
    return report.certified


def _check_dimensions(dimensions: int, whole: int) -> int:
    if not 1 <= dimensions <= whole:
        raise SiteError(f"--dimensions: {dimensions} is not between 1 and {whole}")
    return dimensions


def _print_gate_report(report: GateReport) -> None:
    console = Console()
    table = Table("query", "full precision", report.lever, "rho", "what has changed")
    for found in report.comparisons:
        table.add_row(
            to_plain_text(found.id),
            _format_verdict(passed=found.passed_before),
            _format_verdict(passed=found.passed_after),
            f"{found.rho:.4f}",
            to_plain_text("; ".join(found.flips)),
        )
    console.print(table)
    console.print(to_plain_text(summarize_gate_report(report)))
    if not report.certified and report.is_whole:
        console.print(to_plain_text(f"Flipped: {format_regressions(report)}"))


def _format_verdict(*, passed: bool) -> str:
    return "[green]pass[/green]" if passed else "[red]FAIL[/red]"


def run_tune(config_file: Path, grid: TuneGrid, *, everything: bool, as_json: bool) -> bool:
    """Judge a grid of settings and print what is worth having; whether one holds every verdict.

    No file is changed. ``everything``: print every trial, not only those that none dominates.
    """
    own = rebuild_site(config_file)
    site = _make_trial_site(own)
    before = judge_baseline(site, own.cache)
    found: list[Trial] = []
    with show_progress("judging") as report:
        windows = _list_passage_lengths(own, grid)
        encodings = _list_encodings(own, grid)
        floors = grid.floors or _list_floors(own.profile.floor)
        total = len(windows) * len(encodings) * len(floors)
        for words in windows:
            try:
                each = (
                    site
                    if words == own.words
                    else _make_trial_site(rebuild_site(config_file, words))
                )
            except GoldError as error:
                click.echo(f"{words} words: {error}", err=True)
                continue
            for trial in run_trials(each, before, encodings, floors, own.cache):
                found.append(trial)
                if report:
                    report(len(found), total)
    now = (own.words, own.profile.floor)
    best = find_smallest_trial(found, *now)
    shown = sorted(found, key=lambda t: t.bytes) if everything else find_pareto_front(found, *now)
    _write_trials(
        own.cache / evaluate.REPORTS_FOLDER / evaluate.TRIALS_FILE, find_pareto_front(found, *now)
    )
    if as_json:
        body = {
            "trials": [_trial_as_json(t) for t in shown],
            "smallest": _trial_as_json(best) if best else None,
        }
        click.echo(json.dumps(body, indent=2))
    else:
        _print_trials(shown, best, own)
    return best is not None


def _write_trials(path: Path, front: Sequence[Trial]) -> None:
    """Keep what was found, for the report that `answerable eval --html` draws."""
    made_at = format_timestamp(dt.datetime.now(dt.UTC))
    body = {"made_at": made_at, "trials": [_trial_as_json(trial) for trial in front]}
    write_private_file(path, (json.dumps(body, indent=1) + "\n").encode())


def _make_trial_site(built: RebuiltSite) -> TrialSite:
    case = load_gate_case(built.gold, built.author, built.index, built.private, full=built.full)
    return TrialSite(built.words, built.index, built.embedder, built.profile, case)


def _list_passage_lengths(own: RebuiltSite, grid: TuneGrid) -> Sequence[int]:
    if grid.words:
        return grid.words
    if not is_embedder_local(own.embedder.identity.provider):
        click.echo(
            "Only the site's own length of passages is tried: another one has to be embedded, "
            "which costs; name it with --words",
            err=True,
        )
        return (own.words,)
    return sorted({own.words, *PASSAGE_LENGTHS})


def _list_encodings(own: RebuiltSite, grid: TuneGrid) -> list[Encoding]:
    whole = own.embedder.identity.dimensions
    dimensions = [_check_dimensions(each, whole) for each in grid.dimensions] or list_dimensions(
        whole
    )
    return [
        Encoding(name, each) for name in grid.encodings or ENCODING_NAMES for each in dimensions
    ]


def _list_floors(floor: float) -> list[float]:
    """A floor, and one a little lower and higher that an option accepts too."""
    moved = (round(floor + step, 4) for step in (-FLOOR_STEP, FLOOR_STEP))
    return sorted({floor, *(each for each in moved if 0 <= each <= 1)})


def _trial_as_json(trial: Trial) -> dict[str, object]:
    setting = trial.setting
    return {
        **setting.encoding.as_json(),
        "words": setting.words,
        "floor": setting.floor,
        "bytes": trial.bytes,
        "held": trial.held,
        "total": trial.total,
        "rho_min": round(trial.rho, 6),
        "scan_ms": round(trial.scan, 4),
    }


def _print_trials(shown: Iterable[Trial], best: Trial | None, own: RebuiltSite) -> None:
    console = Console()
    columns = ("", "encoding", "dimensions", "words", "floor", "MB", "verdicts", "rho", "scan, ms")
    table = Table(*columns)
    for trial in shown:
        setting = trial.setting
        table.add_row(
            "→" if trial is best else "",
            setting.encoding.name,
            str(setting.encoding.dimensions),
            str(setting.words),
            f"{setting.floor:g}",
            f"{trial.bytes / 1e6:.3f}",
            f"{trial.held}/{trial.total}",
            f"{trial.rho:.4f}",
            f"{trial.scan:.3f}",
        )
    console.print(table)
    if best is None:
        console.print("No setting holds every verdict.")
        return
    console.print("The smallest that holds every verdict, for mkdocs.yml:\n")
    click.echo(format_setting_lines(best.setting, own.profile.floor, own.words))


def format_setting_lines(setting: TrialSetting, floor: float, words: int) -> str:
    """The lines of mkdocs.yml that choose a setting, without what the site has already."""
    chosen = setting.encoding
    found = [
        "plugins:",
        "  - answerable:",
        "      bundle:",
        f"        encoding: {chosen.name}",
        f"        dimensions: {chosen.dimensions}",
    ]
    if setting.words != words:
        found += ["      passages:", f"        words: {setting.words}"]
    if setting.floor != floor:
        found += ["      retrieval:", f"        floor: {setting.floor:g}"]
    return "\n".join(found)
