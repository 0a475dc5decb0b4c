"""Measure what the plugin adds to `mkdocs build`: time and memory, without a cache and with one.

Each round builds a site three times, one after the other: without the plugin, with it and an
empty cache (cold), and with it once more (warm). Ratios are of one round, and the median of all
rounds is printed; of time of the processors, which other programs that run disturb less, too. The
site has this repository's own notebook, so that the leak audit has work.
"""

import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from mkdocs.utils.yaml import yaml_load
from tables import DataError, Results, Row, folders, main, measure_each

ROUNDS = int(os.environ.get("ANSWERABLE_ROUNDS") or 3)
# Pages of a generated site, which is built too if this is not 0.
GENERATED = int(os.environ.get("ANSWERABLE_PAGES") or 0)
NOTEBOOK = Path(__file__).parents[2] / "notebook"


@dataclass(frozen=True, slots=True)
class Run:
    """Hold one build: wall-clock seconds, those of processors, its most MB, and what it printed.

    ``cpu`` counts the processes that the build has started, too.
    """

    seconds: float
    cpu: float
    memory: float
    output: str


def measure(data: Path) -> Results:
    """Measure every site, and a generated one if that is asked for."""
    results = measure_each(folders(data / "sites"), _row, f"no folder sites/NAME in {data}")
    if not GENERATED:
        return results
    with tempfile.TemporaryDirectory() as folder:
        generated = _row(_generate(Path(folder, f"generated-{GENERATED}"), GENERATED))
    return Results([*results.rows, generated], results.skipped)


def _row(site: Path) -> Row:
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"{site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        try:
            _build(copy, "mkdocs.yml")
        except SystemExit as error:
            reason = f"its site does not build without the plugin either: {error}"
            raise DataError(reason) from None
        _write_notebook(copy)
        _add_plugin(copy)
        rounds = [_round(copy) for _ in range(ROUNDS)]
    plain, cold, warm = (list(runs) for runs in zip(*rounds, strict=True))
    return {
        "site": site.name,
        "pages": len(list(site.glob("docs/**/*.md"))),
        "plain_s": _median([run.seconds for run in plain]),
        "cold_s": _median([run.seconds for run in cold]),
        "warm_s": _median([run.seconds for run in warm]),
        "cold_adds": _median([c.seconds / p.seconds - 1 for p, c, _ in rounds]),
        "warm_adds": _median([w.seconds / p.seconds - 1 for p, _, w in rounds]),
        "cold_adds_cpu": _median([c.cpu / p.cpu - 1 for p, c, _ in rounds]),
        "warm_adds_cpu": _median([w.cpu / p.cpu - 1 for p, _, w in rounds]),
        "warm_embeds": max(_embedded(run.output) for run in warm),
        "plain_mb": _median([run.memory for run in plain]),
        "cold_mb": _median([run.memory for run in cold]),
        "warm_mb": _median([run.memory for run in warm]),
    }


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


def _add_plugin(site: Path) -> None:
    with (site / "mkdocs.yml").open(encoding="utf-8") as file:
        plugins = yaml_load(file).get("plugins", ["search"])
    if isinstance(plugins, dict):
        plugins = [{name: options or {}} for name, options in plugins.items()]
    plugins = [*plugins, {"answerable": {"notebook": "notes"}}]
    text = yaml.safe_dump({"INHERIT": "mkdocs.yml", "plugins": plugins})
    (site / "answerable.yml").write_text(text, encoding="utf-8")


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


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 3)


def _generate(site: Path, pages: int) -> Path:
    """Generate a site of pages that differ, each with sections of made-up prose and code."""
    words = random.Random(7)
    vocabulary = ["".join(_syllables(words)) for _ in range(20_000)]
    for number in range(pages):
        sections = [f"## Part {n}\n\n{_prose(words, vocabulary)}" for n in range(4)]
        page = site / "docs" / f"part-{number // 100}" / f"page-{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n\n".join([f"# Page {number}", *sections]), encoding="utf-8")
    (site / "docs" / "index.md").write_text("# Home\n\nA generated site.\n", encoding="utf-8")
    # A navigation of thousands of links in each page would be all that is measured.
    config = {
        "site_name": "Generated",
        "theme": "mkdocs",
        "nav": ["index.md"],
        "plugins": [],
        "validation": {"nav": {"omitted_files": "ignore"}},
    }
    (site / "mkdocs.yml").write_text(json.dumps(config), encoding="utf-8")
    return site


def _syllables(choice: random.Random) -> Iterator[str]:
    for _ in range(choice.randint(1, 4)):
        yield choice.choice("bcdfghklmnprstvz") + choice.choice("aeiou")


def _prose(choice: random.Random, vocabulary: Sequence[str]) -> str:
    sentences = (" ".join(choice.choices(vocabulary, k=12)).capitalize() for _ in range(8))
    return ". ".join(sentences) + "."


if __name__ == "__main__":
    main("Build time and memory with and without the plugin", measure)
