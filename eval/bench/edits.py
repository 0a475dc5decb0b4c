"""Measure what an edit of three words changes of a site that answers in its readers' browsers.

``differ``: files below ``assets/answerable`` that the edited build has and the one before has not;
``of_model``: those of them that are the model's. ``again_kB``: what a reader fetches who asks the
same question after the edit, as the median of all questions, from the copy that the browser keeps;
``first_kB`` and ``waves``: what the question took before it, without scripts, and how many times
files were asked for that others had to come before.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from real_sites import RealSite, build_site, make_parser, run_benchmark
from tables import Row

from support.engine_process import ENGINE, WAVES, node_command

_ASSETS = Path("site", "assets", "answerable")
_QUESTIONS = 40


def measure(site: RealSite) -> list[Row]:
    """Build a site, ask it, edit a page, and do both again."""
    questions = [row["question"] for row in site.questions][:_QUESTIONS]
    with site.copy() as folder:
        build_site(folder)
        before, first = _list_files(folder), _ask(folder, questions)
        _edit_page(folder)
        build_site(folder)
        after, second = _list_files(folder), _ask(folder, questions)
    changed = [name for name, content in after.items() if before.get(name) != content]
    again = [
        sum(size for name, size in _sum(new["first"]).items() if name not in _sum(old["first"]))
        for old, new in zip(first, second, strict=True)
    ]
    row = {
        "site": site.name,
        "questions": len(questions),
        "differ": len(changed),
        "of_model": sum(name.startswith("model/") for name in changed),
        "again_kB": median(again) / 1000,
        "again_kB_max": max(again) / 1000,
        "first_kB": median(sum(_sum(row["first"]).values()) for row in first) / 1000,
        "first_kB_max": max(sum(_sum(row["first"]).values()) for row in first) / 1000,
        "later_kB": median(sum(_sum(row["later"]).values()) for row in first) / 1000,
        "waves": median(len(row["first"]) for row in first),
        "waves_max": max(len(row["first"]) for row in first),
    }
    return [row]


def _edit_page(site: Path) -> None:
    """Replace three words in the longest line that begins with a letter, of a page's prose."""
    pages = {path: path.read_text("utf-8").splitlines() for path in site.glob("docs/**/*.md")}
    prose = [
        (path, place)
        for path, lines in sorted(pages.items())
        for place, line in enumerate(lines)
        if line[:1].isalpha()
    ]
    page, place = max(prose, key=lambda line: len(pages[line[0]][line[1]]))
    words = pages[page][place].split(" ")
    words[4:7] = ["otherwise", "unchanged", "harbours"]
    pages[page][place] = " ".join(words)
    page.write_text("\n".join(pages[page]), "utf-8")


def _list_files(site: Path) -> Mapping[str, bytes]:
    folder = site / _ASSETS
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _ask(site: Path, questions: Sequence[str]) -> list[dict[str, Any]]:
    entry = (ENGINE / "site_index.js").as_uri()
    done = subprocess.run(
        [*node_command(), str(WAVES), entry, str(site / _ASSETS)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
    )
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports


def _sum(waves: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """Return the bytes of each file of some waves."""
    return {file["path"]: file["bytes"] for wave in waves for file in wave}


if __name__ == "__main__":
    run_benchmark(
        "What an edit of three words changes in the browser",
        make_parser(__doc__).parse_args(),
        measure,
    )
