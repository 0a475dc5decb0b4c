"""``answerable bench-cold``: time cold starts of a function, and print the median of each phase."""

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
    """Time one cold start: milliseconds by phase, and what came of the question.

    ``ranked``: how many candidates were found. ``mode``: of the answer, None if none was asked.
    """

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


@click.command("bench-cold")
@click.argument("function_dir", type=click.Path(path_type=Path))
@click.option("--question", default="", help="What to ask. Default: one about the first page.")
@click.option(
    "--runs",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="How many starts to time.",
)
@click.option("--skip-hashes", is_flag=True, help="As with ANSWERABLE_SKIP_HASHES=1.")
@click.option("--json", "as_json", is_flag=True, help="Print the times as JSON.")
def command(function_dir: Path, question: str, runs: int, skip_hashes: bool, as_json: bool) -> None:
    """Time FUNCTION_DIR from the start of a process to its first answer, phase by phase."""
    if not (function_dir / BUNDLE_FOLDER / MANIFEST_FILE).is_file():
        raise SiteError(
            f"{function_dir} is not a function's folder: name the one that holds "
            f"{BUNDLE_FOLDER}/{MANIFEST_FILE}"
        )
    # The first brings the files into memory; it is the disk's time more than the function's.
    first, *starts = (
        time_cold_start(function_dir, question, verify=not skip_hashes) for _ in range(runs + 1)
    )
    phases = {name: median(start.phases[name] for start in starts) for name in first.phases}
    total = median(start.total for start in starts)
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
    table = Table("phase", "ms")
    for name, value in phases.items():
        table.add_row(name, f"{value:.1f}")
    table.add_row("all", f"{total:.1f}")
    outcome = f"answered as {first.mode}" if first.mode else "ranked; the models were not asked"
    console = Console()
    console.print(table)
    console.print(
        to_plain_text(
            f"Median of {runs} starts after one more, which took {first.total:.0f} ms. "
            f"{first.question!r}: {first.ranked} candidates, {outcome}."
        )
    )


def time_cold_start(folder: Path, question: str = "", *, verify: bool = True) -> ColdStart:
    """Start a function's code once and time its phases; SiteError if it fails."""
    script = str(Path(cold_start_probe.__file__))
    hashes = "verify" if verify else "skip"
    arguments = [sys.executable, "-I", script, str(folder.resolve()), question, hashes]
    previous = time.perf_counter_ns()
    try:
        process = subprocess.run(
            arguments,
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
    if process.returncode:
        reason = process.stderr.strip().splitlines()[-1:] or ["no output"]
        raise SiteError(f"{folder}: the function does not start ({reason[0]}): build it again")
    output = json.loads(process.stdout)
    phases: dict[str, float] = {}
    for name, stamp in output["marks"]:
        phases[name] = (stamp - previous) / 1e6
        previous = stamp
    return ColdStart(phases, output["question"], output["ranked"], output["mode"])
