"""List the letters of Unicode in runs of one script. Run as a module, it writes the list anew."""

import sys
from collections.abc import Iterator
from itertools import groupby

from answerable.indexing.browser_index.recipe import LETTERS_FILE
from answerable.serve.text.tokenization import read_script


def list_letter_runs() -> Iterator[str]:
    """List the script, the first and the last letter of each run."""
    letters = (letter for letter in map(chr, range(sys.maxunicode + 1)) if letter.isalpha())
    for script, run in groupby(letters, read_script):
        first, *others = run
        yield f"{script} {ord(first):x} {ord((others or [first])[-1]):x}"


if __name__ == "__main__":
    LETTERS_FILE.write_text("".join(f"{line}\n" for line in list_letter_runs()), "ascii")
