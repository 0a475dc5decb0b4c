"""Time cold starts of a function's folder, and print the median milliseconds of each phase.

``python eval/bench/start.py function`` times the function of a site that was built.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from answerable.serve.errors import SiteError

_PROBE = Path(__file__).with_name("start_probe.py")
_RUNS = 5

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


def time_cold_start(folder: Path, question: str = "", *, verify: bool = True) -> ColdStart:
    """Start a function's code once and time its phases; SiteError if it fails."""
    hashes = "verify" if verify else "skip"
    arguments = [sys.executable, "-I", str(_PROBE), str(folder.resolve()), question, hashes]
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


def main() -> None:
    """Print the phases of the function in a folder, the first argument."""
    folder = Path(sys.argv[1])
    # The first brings the files into memory; it is the disk's time more than the function's.
    first, *starts = (time_cold_start(folder) for _ in range(_RUNS + 1))
    for name in first.phases:
        print(f"{name:12} {median(start.phases[name] for start in starts):8.1f}")
    print(f"{'all':12} {median(start.total for start in starts):8.1f}")


if __name__ == "__main__":
    main()
