"""The letters that a site's pages are written with, as a pattern for the browser's engine."""

from collections.abc import Collection
from itertools import groupby
from pathlib import Path

# Runs of letters of one script in the order of code points, with the first and the last one, as
# `tests/browser_engine/test_text_twins.py` lists them: to look at all takes a second.
LETTERS_FILE = Path(__file__).with_suffix(".txt")


def write_letters_pattern(scripts: Collection[str]) -> str:
    """Write the source of a RegExp that matches texts without a letter of another script.

    scripts: as ``detect_scripts`` lists them; any text matches where there are none.
    """
    if not scripts:
        return ""
    rows = [line.split() for line in LETTERS_FILE.read_text("ascii").splitlines()]
    ranges = ""
    for is_listed, group in groupby(rows, lambda row: row[0] in scripts):
        # Between the letters of neighboring runs may be characters that are not letters.
        runs = list(group)
        first, last = int(runs[0][1], 16), int(runs[-1][2], 16)
        if is_listed:
            ranges += rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")
    return rf"^[\P{{L}}{ranges}]*$"
