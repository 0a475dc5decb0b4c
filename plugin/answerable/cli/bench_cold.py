"""``answerable bench-cold``: how long a function takes from its start to its first answer."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.table import Table

from ..serve.bundle_format.manifest import MANIFEST_FILE
from ..serve.errors import SiteError
from ..serve.settings import BUNDLE_FOLDER
from . import cold_start_probe
from .render import to_plain_text

_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class ColdStart:
    """One cold start: milliseconds by phase, and what came of the question."""

    phases: dict[str, float]
    question: str
    ranked: int
    mode: str | None

    @property
    def total(self) -> float:
        """Milliseconds from the start of the process to its last phase's end."""
        return sum(self.phases.values())

    @property
    def ranking(self) -> float:
        """Milliseconds from the start of the process to its first ranked result."""
        return self.total - self.phases.get("answer", 0.0)


def bench_cold_starts(
    folder: Path, question: str, runs: int, *, verify: bool, as_json: bool
) -> None:
    """Start a function's code so many times and print the median of each phase.

    SiteError if the folder is no function, or its code fails.
    """
    if not (folder / BUNDLE_FOLDER / MANIFEST_FILE).is_file():
        raise SiteError(
            f"{folder} is no function's folder: name the one that holds "
            f"{BUNDLE_FOLDER}/{MANIFEST_FILE}"
        )
    # The first brings the files into memory; it is the disk's time more than the function's.
    first, *rest = (time_cold_start(folder, question, verify=verify) for _ in range(runs + 1))
    phases = {name: median(each.phases[name] for each in rest) for name in first.phases}
    total = median(each.total for each in rest)
    if as_json:
        body = {
            "question": first.question,
            "ranked": first.ranked,
            "mode": first.mode,
            "phases_ms": {name: round(value, 3) for name, value in phases.items()},
            "total_ms": round(total, 3),
            "first_ms": round(first.total, 3),
        }
        click.echo(json.dumps(body, indent=2))
        return
    console = Console()
    table = Table("phase", "ms")
    for name, value in phases.items():
        table.add_row(name, f"{value:.1f}")
    table.add_row("all", f"{total:.1f}")
    console.print(table)
    console.print(to_plain_text(_summarize_starts(first, runs)))


def _summarize_starts(first: ColdStart, runs: int) -> str:
    what = f"answered as {first.mode}" if first.mode else "ranked; the models were not asked"
    return (
        f"Median of {runs} starts after one more, which took {first.total:.0f} ms. "
        f"{first.question!r}: {first.ranked} candidates, {what}."
    )


def time_cold_start(folder: Path, question: str = "", *, verify: bool = True) -> ColdStart:
    """One cold start of a function's code; SiteError if it fails."""
    script = str(Path(cold_start_probe.__file__))
    told = "verify" if verify else "skip"
    command = [sys.executable, "-I", script, str(folder.resolve()), question, told]
    before = time.perf_counter_ns()
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise SiteError(
            f"{folder}: the function has not answered within {_TIMEOUT_SECONDS} seconds: "
            "build it again"
        ) from None
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise SiteError(f"{folder}: the function does not start ({reason[0]}): build it again")
    found = json.loads(done.stdout)
    phases: dict[str, float] = {}
    for name, stamp in found["marks"]:
        phases[name] = (stamp - before) / 1e6
        before = stamp
    return ColdStart(phases, found["question"], found["ranked"], found["mode"])
