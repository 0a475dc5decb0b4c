"""Patterns that are translated to JavaScript match as Python's do."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.browser_index.recipe import LETTERS_FILE, translate_pattern
from answerable.serve.errors import AnswerableError
from answerable.serve.text.tokenization import read_script
from support.engine_process import engine


def list_letter_runs() -> Iterator[str]:
    """List the script, the first and the last letter of each run."""
    letters = (letter for letter in map(chr, range(sys.maxunicode + 1)) if letter.isalpha())
    for script, run in groupby(letters, read_script):
        first, *others = run
        yield f"{script} {ord(first):x} {ord((others or [first])[-1]):x}"


PATTERNS = (
    r"[^\W_]+",
    r"[^\S\n]{2,}",
    r"\bnot\b|n['’]t\b",
    r"[^\W\d_]+|[\W_]+?x|\d+(?:[.,]\d+)*",
    r"(?<![\w*])[*_]+(?![*\w])",
    r"(?P<word>\w+)\s+(?P=word)",
    r"^\s*(?:a|b[^c])$|\Z",
    r"[\u0e00-\u0eff\]^-]|[a-z-]{2}",
    r"--[\w-]+|-",
)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@given(
    text=st.text(st.sampled_from("aAbBcx not'’t _*-]^.,\n\t\r\x1c\x85\u200b٣½éßฟ🚀 0"), max_size=30)
)
def test_translated_pattern_finds_what_python_finds(pattern: str, flags: int, text: str) -> None:
    compiled = re.compile(pattern, flags)
    engine().call("recipe", "reviveRecipe", translate_pattern(compiled), save="pattern")
    matches = engine().call("patterns", "findTexts", {"$": "pattern"}, text)
    assert matches == [match.group() for match in compiled.finditer(text)]


@pytest.mark.parametrize(
    "pattern", ["i", "[^i]", "[h-k]", "[a-z]+", "[^a-z]", "K|ß|\u0130", "[\u0131x]"]
)
def test_case_is_ignored_as_python_does(pattern: str) -> None:
    cased = (chr(code) for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1)))
    text = " ".join(each for each in cased if each.lower() != each or each.upper() != each)
    compiled = re.compile(pattern, re.IGNORECASE)
    engine().call("recipe", "reviveRecipe", translate_pattern(compiled), save="pattern")
    matches = engine().call("patterns", "findTexts", {"$": "pattern"}, text)
    assert matches == [match.group() for match in compiled.finditer(text)]


@pytest.mark.parametrize("pattern", ["a++", "(?>a)", "(?i:a)b", "(a)?(?(1)b|c)"])
def test_construct_without_translation_is_refused(pattern: str) -> None:
    with pytest.raises(AnswerableError, match="has no translation"):
        translate_pattern(re.compile(pattern))


def test_shipped_letters_are_those_of_python() -> None:
    """A newer Python knows more letters than the list, which lies in the package ready-made."""
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip("the list is of Unicode 14.0.0, that of Python 3.11")
    assert LETTERS_FILE.read_text("ascii").splitlines() == list(list_letter_runs())


if __name__ == "__main__":
    LETTERS_FILE.write_text("".join(f"{line}\n" for line in list_letter_runs()), "ascii")
