"""``answerable tune``: try settings; find the smallest bundle, or what passes most gold queries."""

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..evaluate.gate import describe_failing, is_failing
from ..evaluate.grid_search import (
    Trial,
    TrialSetting,
    count_failing,
    find_pareto_front,
    find_smallest_trial,
    judge_baseline,
    list_dimensions,
    rank_by_passing,
    run_trials,
)
from ..evaluate.report import format_timestamp
from ..evaluate.verdict import Verdict
from ..indexing.output.atomic_files import write_private_file
from ..indexing.progress import show_progress
from ..mkdocs.site_config import RebuiltSite, rebuild_site
from ..serve.errors import GoldError
from ..serve.provider_registry import embeds_in_process
from ..serve.vectors.encodings import ENCODING_NAMES, Encoding
from .context import SiteLocation
from .evaluate_options import REPORTS_FOLDER, TRIALS_FILE
from .gate import check_dimensions, make_judged_site

# Lengths of passages to try, beside the site's own, and how far its floor is moved either way.
PASSAGE_LENGTHS = (160, 240, 320)
FLOOR_STEP = 0.02

GOALS = ("size", "passing")
_SHOWN_BEST = 8


@dataclass(frozen=True, slots=True)
class TuneGrid:
    """Choose the settings to search; () stands for all that are worth a trial."""

    encodings: tuple[str, ...]
    dimensions: tuple[int, ...]
    words: tuple[int, ...]
    floors: tuple[float, ...]


@click.command("tune")
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
@click.option(
    "--for",
    "goal",
    type=click.Choice(GOALS),
    default=GOALS[0],
    show_default=True,
    help="Look for the smallest bundle, or for the most passing queries.",
)
@click.option("--all", "everything", is_flag=True, help="Print every trial.")
@click.option("--json", "as_json", is_flag=True, help="Print the trials as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    encoding: tuple[str, ...],
    dimensions: tuple[int, ...],
    words: tuple[int, ...],
    floor: tuple[float, ...],
    goal: str,
    everything: bool,
    as_json: bool,
) -> None:
    """Find the smallest bundle or the most passing queries; exit status 1 without any gain."""
    grid = TuneGrid(encoding, dimensions, words, floor)
    search = run_tune_for_passing if goal == "passing" else run_tune
    is_better = search(location[1], grid, everything=everything, as_json=as_json)
    raise SystemExit(0 if is_better else 1)


def run_tune_for_passing(
    config_file: Path, grid: TuneGrid, *, everything: bool, as_json: bool
) -> bool:
    """Judge a grid of settings, print those that pass most; return whether one passes more.

    More than the site's own settings at full precision. everything: as for ``run_tune``.
    """
    site = rebuild_site(config_file)
    baseline, trials = _collect_trials(site, config_file, grid)
    ranked = rank_by_passing(trials, site.words, site.profile.floor)
    passed = len(baseline) - count_failing(baseline)
    best = next((each for each in ranked[:1] if each.passed_count > passed), None)
    shown = ranked if everything else ranked[:_SHOWN_BEST]
    if as_json:
        body = {
            "trials": [_trial_as_json(trial) for trial in shown],
            "passed_now": passed,
            "best": _trial_as_json(best) if best else None,
        }
        click.echo(json.dumps(body, indent=2))
        return best is not None
    _print_trials(shown, best)
    if best is None:
        click.echo(f"No setting passes more queries than the site's own, {passed}.")
        return False
    click.echo(
        f"It passes {best.passed_count} of {best.total} queries, and the site's own settings "
        f"{passed}. For mkdocs.yml:\n"
    )
    click.echo(format_setting_lines(best.setting, site.profile.floor, site.words))
    return True


def run_tune(config_file: Path, grid: TuneGrid, *, everything: bool, as_json: bool) -> bool:
    """Judge a grid of settings and print the best; return whether one holds every verdict.

    No file of the site is changed. everything: print every trial, not only those that none
    dominates.
    """
    site = rebuild_site(config_file)
    baseline, trials = _collect_trials(site, config_file, grid)
    failing = [name for name, verdict in baseline.items() if is_failing(verdict)]
    if failing:
        click.echo(
            f"Warning: {describe_failing(failing)} ({', '.join(failing)}); try --for passing",
            err=True,
        )
    settings = (site.words, site.profile.floor)
    smallest = find_smallest_trial(trials, *settings)
    front = find_pareto_front(trials, *settings)
    _write_trials(site.cache / REPORTS_FOLDER / TRIALS_FILE, front)
    shown = sorted(trials, key=lambda trial: trial.bytes) if everything else front
    if as_json:
        body = {
            "trials": [_trial_as_json(trial) for trial in shown],
            "smallest": _trial_as_json(smallest) if smallest else None,
        }
        click.echo(json.dumps(body, indent=2))
    else:
        _print_trials(shown, smallest)
        if smallest is None:
            click.echo("No setting holds every verdict.")
        else:
            click.echo("The smallest that holds every verdict, for mkdocs.yml:\n")
            click.echo(format_setting_lines(smallest.setting, site.profile.floor, site.words))
    return smallest is not None


def _collect_trials(
    site: RebuiltSite, config_file: Path, grid: TuneGrid
) -> tuple[Mapping[str, Verdict], list[Trial]]:
    """Judge the site's own settings at full precision, and every point of the grid."""
    judged = make_judged_site(site)
    baseline = judge_baseline(judged)
    trials: list[Trial] = []
    with show_progress("judging") as report_progress:
        lengths = _list_passage_lengths(site, grid)
        encodings = _list_encodings(site, grid)
        floors = grid.floors or _list_floors(site.profile.floor)
        total = len(lengths) * len(encodings) * len(floors)
        for words in lengths:
            try:
                if words == site.words:
                    recut = judged
                else:
                    recut = make_judged_site(rebuild_site(config_file, words))
            except GoldError as error:
                click.echo(f"{words} words: {error}", err=True)
                continue
            for trial in run_trials(recut, words, baseline, encodings, floors):
                trials.append(trial)
                if report_progress:
                    report_progress(len(trials), total)
    return baseline, trials


def _write_trials(path: Path, front: Sequence[Trial]) -> None:
    """Write the trials that `answerable eval --html` draws."""
    made_at = format_timestamp(dt.datetime.now(dt.UTC))
    body = {"made_at": made_at, "trials": [_trial_as_json(trial) for trial in front]}
    write_private_file(path, (json.dumps(body, indent=1) + "\n").encode())


def _list_passage_lengths(site: RebuiltSite, grid: TuneGrid) -> Sequence[int]:
    if grid.words:
        return grid.words
    if not embeds_in_process(site.embedder.identity.provider):
        click.echo(
            "Only the site's own length of passages is tried: another one has to be embedded, "
            "which costs; name it with --words",
            err=True,
        )
        return (site.words,)
    return sorted({site.words, *PASSAGE_LENGTHS})


def _list_encodings(site: RebuiltSite, grid: TuneGrid) -> list[Encoding]:
    all_dimensions = site.embedder.identity.dimensions
    for dimensions in grid.dimensions:
        check_dimensions(dimensions, all_dimensions)
    return [
        Encoding(name, dimensions)
        for name in grid.encodings or ENCODING_NAMES
        for dimensions in grid.dimensions or list_dimensions(all_dimensions)
    ]


def _list_floors(floor: float) -> list[float]:
    """List a floor, and one a little lower and higher that an option accepts too."""
    moved = (round(floor + step, 4) for step in (-FLOOR_STEP, FLOOR_STEP))
    return sorted({floor, *(each for each in moved if 0 <= each <= 1)})


def _trial_as_json(trial: Trial) -> dict[str, object]:
    setting = trial.setting
    return {
        **setting.encoding.as_json(),
        "words": setting.words,
        "floor": setting.floor,
        "bytes": trial.bytes,
        "held": trial.held_count,
        "total": trial.total,
        "passed": trial.passed_count,
        "refused": trial.refused_count,
        "rho_min": round(trial.rho, 6),
        "scan_ms": round(trial.scan, 4),
    }


def _print_trials(trials: Iterable[Trial], best: Trial | None) -> None:
    """Print a table of trials; the arrow marks the best one."""
    console = Console()
    columns = ("", "encoding", "dimensions", "words", "floor", "MB", "verdicts", "pass", "rho")
    table = Table(*columns, "scan, ms")
    for trial in trials:
        setting = trial.setting
        table.add_row(
            "→" if trial is best else "",
            setting.encoding.name,
            str(setting.encoding.dimensions),
            str(setting.words),
            f"{setting.floor:g}",
            f"{trial.bytes / 1e6:.3f}",
            f"{trial.held_count}/{trial.total}",
            str(trial.passed_count),
            f"{trial.rho:.4f}",
            f"{trial.scan:.3f}",
        )
    console.print(table)


def format_setting_lines(setting: TrialSetting, floor: float, words: int) -> str:
    """Format the lines of mkdocs.yml that choose a setting, without what the site has already."""
    lines = [
        "plugins:",
        "  - answerable:",
        "      bundle:",
        f"        encoding: {setting.encoding.name}",
        f"        dimensions: {setting.encoding.dimensions}",
    ]
    if setting.words != words:
        lines += ["      passages:", f"        words: {setting.words}"]
    if setting.floor != floor:
        lines += ["      retrieval:", f"        floor: {setting.floor:g}"]
    return "\n".join(lines)
