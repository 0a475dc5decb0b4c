"""Match the texts whose letters are all of some scripts: JavaScript has no names of characters."""

import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import groupby

from ...serve.text.tokenization import read_script


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
    for is_listed, runs in groupby(_list_letters(), lambda letter: letter[1] in scripts):
        codes = [code for code, _ in runs]
        if is_listed:
            yield codes[0], codes[-1]


@cache
def _list_letters() -> list[tuple[int, str]]:
    """List the code points of all letters, each with its script, in their order."""
    characters: Iterable[str] = map(chr, range(sys.maxunicode + 1))
    return [(ord(each), read_script(each)) for each in characters if each.isalpha()]


def _write_range(first: int, last: int) -> str:
    return rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")
