"""The rules that the browser's engine reads from an index: `rules.json`, and what a site adds."""

from collections.abc import Collection, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from ..engine.index.column_types import SiteMetadata
from ..engine.rules import RULES


def collect_recipe(site: SiteMetadata) -> dict[str, Any]:
    """Collect the rules by module and name, and what a site makes of some."""
    scripts = write_script_pattern(site.scripts)
    return {
        **RULES,
        "tokenization": {**RULES["tokenization"], "SITE_SCRIPTS": scripts},
    }


def write_script_pattern(scripts: Collection[str]) -> dict[str, str]:
    """Write a JavaScript pattern of the texts without a letter of another script.

    scripts: as ``detect_scripts`` lists them; any text matches where there are none.
    """
    if not scripts:
        return {"source": "", "flags": "u"}
    ranges = "".join(_write_range(*run) for run in _join_runs(scripts))
    return {"source": rf"^[\P{{L}}{ranges}]*$", "flags": "u"}


def _join_runs(scripts: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last letter of each run of neighboring letters of the scripts.

    Between the letters of a run may be characters that are not letters.
    """
    for is_listed, group in groupby(_read_letter_runs(), lambda run: run[0] in scripts):
        runs = list(group)
        if is_listed:
            yield runs[0][1], runs[-1][2]


# Runs of letters of one script in the order of code points, with the first and the last one, as
# `tests/browser_engine/test_text_twins.py` lists them: to look at all takes a second.
LETTERS_FILE = Path(__file__).with_name("letters.txt")


@cache
def _read_letter_runs() -> list[tuple[str, int, int]]:
    rows = (line.split() for line in LETTERS_FILE.read_text("ascii").splitlines())
    return [(script, int(first, 16), int(last, 16)) for script, first, last in rows]


def _write_range(first: int, last: int) -> str:
    return rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")
