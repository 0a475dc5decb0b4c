"""The letters that a site's pages are written with, as a pattern for the browser's engine."""

from collections.abc import Collection, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path


def write_letters_pattern(scripts: Collection[str]) -> str:
    """Write the source of a RegExp that matches texts without a letter of another script.

    scripts: as ``detect_scripts`` lists them; any text matches where there are none.
    """
    if not scripts:
        return ""
    ranges = "".join(_write_range(*run) for run in _join_runs(scripts))
    return rf"^[\P{{L}}{ranges}]*$"


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
LETTERS_FILE = Path(__file__).with_suffix(".txt")


@cache
def _read_letter_runs() -> list[tuple[str, int, int]]:
    rows = (line.split() for line in LETTERS_FILE.read_text("ascii").splitlines())
    return [(script, int(first, 16), int(last, 16)) for script, first, last in rows]


def _write_range(first: int, last: int) -> str:
    return rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")
