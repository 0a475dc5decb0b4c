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

from ..build import files
from ..evaluate import gate as gates
from ..evaluate import reports, tuning
from ..evaluate.gate import Report
from ..evaluate.tuning import Setting, Site, Trial
from ..faces import progress
from ..mkdocs import rebuilding
from ..mkdocs.rebuilding import Rebuilt
from ..serve import provided
from ..serve.encoding import NAMES, Encoding
from ..serve.errors import GoldError, SiteError
from . import evaluating, showing

# Lengths of passages to try, beside the site's own, and how far its floor is moved either way.
WORDS = (160, 240, 320)
STEP = 0.02


@dataclass(frozen=True, slots=True)
class Grid:
    """What to search; nothing named is what is worth a trial."""

    encodings: tuple[str, ...]
    dimensions: tuple[int, ...]
    words: tuple[int, ...]
    floors: tuple[float, ...]


def gate(
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
    site = rebuilding.rebuild(config_file)
    chosen = Encoding(
        encoding or site.encoding.name,
        site.encoding.dimensions
        if dimensions is None
        else _within(dimensions, site.embedder.identity.dimensions),
    )
    case = gates.case(site.gold, site.author, site.index, site.private, full=site.full, ids=ids)
    report = gates.of_encoding(site.index, chosen, site.embedder, site.profile, case, site.cache)
    if as_json:
        body = dataclasses.asdict(report) | {"decision": report.word, "held": report.held}
        click.echo(json.dumps(body, indent=2))
    else:
        _show(report)
    return report.certified


def _within(dimensions: int, whole: int) -> int:
    if not 1 <= dimensions <= whole:
        raise SiteError(f"--dimensions: {dimensions} is not between 1 and {whole}")
    return dimensions


def _show(report: Report) -> None:
    console = Console()
    table = Table("query", "full precision", report.lever, "rho", "what has changed")
    for found in report.comparisons:
        table.add_row(
            showing.plain(found.id),
            _verdict(passed=found.passed_before),
            _verdict(passed=found.passed_after),
            f"{found.rho:.4f}",
            showing.plain("; ".join(found.flips)),
        )
    console.print(table)
    console.print(showing.plain(gates.summary(report)))
    if not report.certified and report.is_whole:
        console.print(showing.plain(f"Flipped: {gates.flipped(report)}"))


def _verdict(*, passed: bool) -> str:
    return "[green]pass[/green]" if passed else "[red]FAIL[/red]"


def tune(config_file: Path, grid: Grid, *, everything: bool, as_json: bool) -> bool:
    """Judge a grid of settings and print what is worth having; whether one holds every verdict.

    No file is changed. ``everything``: print every trial, not only those that none dominates.
    """
    own = rebuilding.rebuild(config_file)
    site = _site(own)
    before = tuning.baseline(site, own.cache)
    found: list[Trial] = []
    with progress.reporting("judging") as report:
        windows = _windows(own, grid)
        encodings = _encodings(own, grid)
        floors = grid.floors or _around(own.profile.floor)
        total = len(windows) * len(encodings) * len(floors)
        for words in windows:
            try:
                each = site if words == own.words else _site(rebuilding.rebuild(config_file, words))
            except GoldError as error:
                click.echo(f"{words} words: {error}", err=True)
                continue
            for trial in tuning.trials(each, before, encodings, floors, own.cache):
                found.append(trial)
                if report:
                    report(len(found), total)
    now = (own.words, own.profile.floor)
    best = tuning.smallest(found, *now)
    shown = sorted(found, key=lambda t: t.bytes) if everything else tuning.pareto(found, *now)
    _keep(own.cache / evaluating.KEPT / evaluating.TRIALS, tuning.pareto(found, *now))
    if as_json:
        body = {"trials": [_row(t) for t in shown], "smallest": _row(best) if best else None}
        click.echo(json.dumps(body, indent=2))
    else:
        _print(shown, best, own)
    return best is not None


def _keep(path: Path, front: Sequence[Trial]) -> None:
    """Keep what was found, for the report that `answerable eval --html` draws."""
    made_at = reports.stamp(dt.datetime.now(dt.UTC))
    body = {"made_at": made_at, "trials": [_row(trial) for trial in front]}
    files.write_private(path, (json.dumps(body, indent=1) + "\n").encode())


def _site(built: Rebuilt) -> Site:
    case = gates.case(built.gold, built.author, built.index, built.private, full=built.full)
    return Site(built.words, built.index, built.embedder, built.profile, case)


def _windows(own: Rebuilt, grid: Grid) -> Sequence[int]:
    if grid.words:
        return grid.words
    if not provided.embeds_here(own.embedder.identity.provider):
        click.echo(
            "Only the site's own length of passages is tried: another one has to be embedded, "
            "which costs; name it with --words",
            err=True,
        )
        return (own.words,)
    return sorted({own.words, *WORDS})


def _encodings(own: Rebuilt, grid: Grid) -> list[Encoding]:
    whole = own.embedder.identity.dimensions
    dimensions = [_within(each, whole) for each in grid.dimensions] or tuning.dimensions_of(whole)
    return [Encoding(name, each) for name in grid.encodings or NAMES for each in dimensions]


def _around(floor: float) -> list[float]:
    """A floor, and one a little lower and higher that an option accepts too."""
    moved = (round(floor + step, 4) for step in (-STEP, STEP))
    return sorted({floor, *(each for each in moved if 0 <= each <= 1)})


def _row(trial: Trial) -> dict[str, object]:
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


def _print(shown: Iterable[Trial], best: Trial | None, own: Rebuilt) -> None:
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
    click.echo(lines(best.setting, own.profile.floor, own.words))


def lines(setting: Setting, floor: float, words: int) -> str:
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
