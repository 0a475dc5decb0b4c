"""The engine in the browser reads texts as Python does: terms, words, normal forms, questions."""

import json
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.retrieval.question import clean_question, find_question_problem
from answerable.engine.text import tokenization
from answerable.engine.text.markdown import read_markdown
from answerable.engine.text.sentences import find_sentences
from answerable.indexing.letters import LETTERS_FILE
from support.engine_process import engine
from support.fuzz_settings import fuzzed

# Cases, sigmas, composed and full-width letters, digits of all kinds, scripts without spaces,
# marks, emoji, controls, blanks, typography, and what frames of questions and names are made of.
_PIECES = (
    "a b c A B Z É e\u0301 ß ẞ İ ı i̇ ſ K Å ﬁ ǅ Σ σ ς ΑΣ Я ё Ⅷ ½ ² ① ٣ ๓ 𝟗 𝐀 Ａ ｆ ７ ㊷ ª µ 𐐀 𐐨 𠮷 "
    "日本 語 カ ガ ﾊﾟ ไทย ที่ နိုင် ខ្មែរ 한 \u1100\u1161 \u3164 \u115f \u2800 हिन् עב ال 🚀 👩\u200d💻 "
    "\ufe0f \u200b \u00ad \u202e \u2067 \ufeff \ue000 \U000e0100 \U0010ffff _ __ * ** ` `` ' ’ “ » "
    "‐ — − . ? ! , : / ( ) - … getValue HTTPServer2 parse_url running inter flies"
).split(" ")
_SPACES = (
    *(" ", "  ", "\n", "\t", "\r\n", "\x0b", "\x1c", "\x1f", "\x85", "\xa0", "\u2028"),
    "\u3000",
)
_CONTROLS = ("\x00", "\x07", "\x1b", "\x7f", "\x9f", "\ud800")


def odd_texts(words: str = "") -> st.SearchStrategy[str]:
    """Make texts of odd pieces, any characters, and some words of the test's own."""
    pieces = st.sampled_from((*_PIECES, *_SPACES, *_CONTROLS, *words.split()))
    letters = st.characters(exclude_categories=("Cs", "Cn"))
    parts = st.one_of(pieces, pieces, pieces, letters)
    return st.builds(str.join, st.sampled_from(("", " ")), st.lists(parts, max_size=12))


# By module and function, the twin in Python of a text.
ORACLES: dict[tuple[str, str], Callable[[str], Any]] = {
    ("languages", "baseLanguage"): tokenization.base_language,
    ("tokenization", "normalizePhrase"): tokenization.normalize_phrase,
    ("question", "cleanQuestion"): clean_question,
    ("tokenization", "extractWords"): tokenization.extract_words,
    ("tokenization", "splitWords"): tokenization.split_words,
    ("tokenization", "isSpaceDelimited"): tokenization.is_space_delimited,
    ("tokenization", "splitLowercaseWords"): tokenization.split_lowercase_words,
    ("question", "findQuestionProblem"): find_question_problem,
}


@pytest.mark.parametrize("twin", ORACLES, ids=lambda twin: twin[1])
@fuzzed(few=70)
@given(text=odd_texts("--no-cache MAX_AGE HTTPStatusError httpx.Client iOS e.g. U.S. a.b.c x"))
def test_text_is_read_as_in_python(twin: tuple[str, str], text: str) -> None:
    assert engine().call(*twin, text) == ORACLES[twin](text)


def list_letter_runs() -> Iterator[str]:
    """List the script, the first and the last letter of each run, as letters.txt does."""
    letters = (letter for letter in map(chr, range(sys.maxunicode + 1)) if letter.isalpha())
    for script, run in groupby(letters, tokenization.read_script):
        first, *others = run
        yield f"{script} {ord(first):x} {ord((others or [first])[-1]):x}"


def test_shipped_letters_are_those_of_python() -> None:
    """A newer Python knows more letters than the list, which lies in the package ready-made."""
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip("the list is of Unicode 14.0.0, that of Python 3.11")
    assert LETTERS_FILE.read_text("ascii").splitlines() == list(list_letter_runs())


def test_characters_of_white_space_are_those_of_python() -> None:
    characters = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    assert engine().call("tokenization", "splitAtSpace", characters) == characters.split()


CASES_FILE = Path(__file__).with_name("markdown_cases.jsonl")
CASES = [json.loads(line)["markdown"] for line in CASES_FILE.read_text("utf-8").splitlines()]
PIECES = (
    *("`", "``", "[", "]", "(", ")", "](/u)", "\\", "|", "a", "B", " ", "*", "_", "<b>", "&amp;"),
    *("- ", "1. ", '=== "x"', '!!! "y"', ":   ", "\n", "\n\n", "    ", "```", "| --- |", "---"),
    *("#", "https://x.y/", "\U0001f680", "。", "~~~", "\\\n", ". ", "e.g. ", "! ", "\r"),
)


def test_markdown_is_read_as_in_python() -> None:
    chance = random.Random(7)
    odd = ["".join(chance.choices(PIECES, k=chance.randint(1, 25))) for _ in range(2_000)]
    for markdown in [*CASES, *odd]:
        passage = read_markdown(markdown)
        read = engine().call("markdown", "readMarkdown", markdown)
        sentences = engine().call("units", "findSentences", read)
        assert read["text"] == passage.text, markdown
        for block in read["blocks"]:
            del block["line"]
        assert read["blocks"] == [
            {
                **block._asdict(),
                "start": _count_units(passage.text[:start]),
                "end": _count_units(passage.text[:end]),
                "spans": [
                    {
                        "kind": span.kind,
                        "start": _count_units(block.text[: span.start]),
                        "end": _count_units(block.text[: span.end]),
                        **({"url": span.url} if span.url else {}),
                    }
                    for span in block.spans
                ],
            }
            for block, start, end in passage.blocks
        ], markdown
        assert sentences == [
            [_count_units(passage.text[:start]), _count_units(passage.text[:end])]
            for start, end in find_sentences(markdown)
        ], markdown


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
