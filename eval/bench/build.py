"""Measure what the plugin adds to `mkdocs build`: time and memory, without a cache and with one.

Each round builds a site three times, one after the other: without the plugin, with it and an
empty cache (cold), and with it once more (warm). Ratios are of one round, and the median of all
rounds is printed; of time of the processors, which other programs that run disturb less, too. The
site has this repository's own notebook, so that the leak audit has work.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml
from real_sites import DataError, RealSite, add_plugin, make_parser, run_benchmark
from tables import Row, find_median

ROUNDS = int(os.environ.get("ANSWERABLE_ROUNDS") or 3)
NOTEBOOK = Path(__file__).parents[2] / "notebook"


@dataclass(frozen=True, slots=True)
class Run:
    """One build: wall-clock seconds, those of processors, its most MB, and what it printed.

    ``cpu`` counts the processes that the build has started, too.
    """

    seconds: float
    cpu: float
    memory: float
    output: str


def measure(site: RealSite) -> list[Row]:
    """Build a site in some rounds."""
    with site.copy() as folder:
        try:
            _build(folder, "mkdocs.yml")
        except SystemExit as error:
            raise DataError(f"it does not build without the plugin either: {error}") from None
        pages = len(list(folder.glob("docs/**/*.md")))
        _write_notebook(folder)
        options = {"answerable": {"notebook": "notes"}}
        plugins = add_plugin(folder / "mkdocs.yml", options)
        text = yaml.safe_dump({"INHERIT": "mkdocs.yml", "plugins": plugins})
        (folder / "answerable.yml").write_text(text, encoding="utf-8")
        rounds = [_round(folder) for _ in range(ROUNDS)]
    plain, cold, warm = (list(runs) for runs in zip(*rounds, strict=True))
    row = {
        "site": site.name,
        "pages": pages,
        "plain_s": find_median(run.seconds for run in plain),
        "cold_s": find_median(run.seconds for run in cold),
        "warm_s": find_median(run.seconds for run in warm),
        "cold_adds": find_median(c.seconds / p.seconds - 1 for p, c, _ in rounds),
        "warm_adds": find_median(w.seconds / p.seconds - 1 for p, _, w in rounds),
        "cold_adds_cpu": find_median(c.cpu / p.cpu - 1 for p, c, _ in rounds),
        "warm_adds_cpu": find_median(w.cpu / p.cpu - 1 for p, _, w in rounds),
        "warm_embeds": max(_embedded(run.output) for run in warm),
        "plain_mb": find_median(run.memory for run in plain),
        "cold_mb": find_median(run.memory for run in cold),
        "warm_mb": find_median(run.memory for run in warm),
    }
    return [row]


def _round(site: Path) -> tuple[Run, Run, Run]:
    for folder in (".cache", "function", "site"):
        shutil.rmtree(site / folder, ignore_errors=True)
    plain = _build(site, "mkdocs.yml")
    cold = _build(site, "answerable.yml")
    return plain, cold, _build(site, "answerable.yml")


def _build(site: Path, config: str) -> Run:
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", config]
    log = site / "build.log"
    started = time.perf_counter()
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=site, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    output = log.read_text(encoding="utf-8")
    if status != 0:
        raise SystemExit(output)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def _write_notebook(site: Path) -> None:
    shutil.copytree(NOTEBOOK, site / "notes")
    for note in (site / "notes").glob("*.md"):
        text = note.read_text(encoding="utf-8")
        about = re.sub(r"^about: .*$", "about: https://notes.example/", text, flags=re.MULTILINE)
        note.write_text(about, encoding="utf-8")


def _embedded(output: str) -> int:
    match = re.search(r"(\d+) texts? embedded", output)
    if match is None:
        raise SystemExit(f"the build does not say how many texts it has embedded:\n{output}")
    return int(match[1])


if __name__ == "__main__":
    run_benchmark(
        "Build time and memory with and without the plugin",
        make_parser(__doc__).parse_args(),
        measure,
    )
