"""The line of a passage, and the sentences and lines that it and a quote are made of."""

from collections.abc import Mapping

import pytest

from answerable.engine.answers import quotes
from answerable.engine.answers.keyless import EXTRA_WORDS, LINE_WORDS, find_line
from answerable.engine.retrieval.question import QuestionReading
from answerable.engine.text.sentences import (
    MAX_WIDENED_SENTENCE,
    find_surrounding_sentences,
    widen_to_sentences,
)
from answerable.engine.types import Passage
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from support.doubles import record
from support.passage_blocks import block, passage


def sentence(number: int, words: int, *terms: str) -> str:
    """A sentence of some words, the terms behind the first one."""
    filler = [f"x{number}"] * (words - len(terms) - 1)
    return " ".join((f"X{number}", *terms, *filler)) + "."


def line_of(source: Passage | str, forms: Mapping[str, str] | None = None, **weights: float) -> str:
    if isinstance(source, str):
        source = passage(block("text", source))
    reading = QuestionReading(
        "", {}, idfs={source.language: weights}, forms={source.language: forms or {}}
    )
    return source.text[slice(*find_line(reading, source))]


def test_a_line_has_whole_sentences_and_is_the_first_of_equal_ones() -> None:
    sentences = [sentence(n, 10) for n in range(20)]
    sentences[12] = sentence(12, 10, "rope")
    assert line_of(" ".join(sentences), rope=1.0) == " ".join(sentences[8:13])
    assert line_of(" ".join(sentences), zeppelin=1.0) == " ".join(sentences[:5])


@pytest.mark.parametrize("extra", [EXTRA_WORDS, EXTRA_WORDS + 1])
def test_a_line_ends_where_a_sentence_does_within_fifteen_words_more(extra: int) -> None:
    text = f"{sentence(0, 40, 'rope')} {sentence(1, 5 + extra)} {sentence(2, 10)}"
    size = len(line_of(text, rope=1.0).split())
    assert size == (LINE_WORDS + extra if extra == EXTRA_WORDS else 40)


def test_a_sentence_that_is_too_long_is_cut() -> None:
    text = f"{sentence(0, 10)} {sentence(1, 200, 'rope')}"
    assert len(line_of(text, rope=1.0).split()) == LINE_WORDS


def test_the_rarest_words_make_a_line_and_a_repetition_adds_little() -> None:
    common = sentence(0, 45, "rope", "rope", "rope")
    rare = sentence(1, 45, "winch")
    both = sentence(2, 45, "rope", "knot")
    assert line_of(f"{common} {rare}", rope=1.0, winch=2.0) == rare
    assert line_of(f"{common} {both}", rope=1.0, knot=0.3) == both
    assert line_of(f"{common} {both}", rope=1.0, knot=0.1) == common


def test_a_line_of_code_begins_a_line() -> None:
    lines = [f"step_{n}(rope, 1, 2, 3, 4, 5, 6)" for n in range(30)]
    lines[20] = "set_winch(rope)"
    source = passage(block("text", "Do it so:"), block("code", "\n".join(lines)))
    line = line_of(source, winch=2.0)
    assert lines[20] in line
    assert all(each in lines for each in line.split("\n"))


@pytest.mark.parametrize(
    ("written", "forms"),
    [("setTimeout", {}), ("TIMEOUT", {}), ("timeouts", {"timeouts": "timeout"}), ("t.timeout", {})],
)
def test_words_are_read_as_an_index_reads_them(written: str, forms: Mapping[str, str]) -> None:
    text = f"{sentence(0, 50)} {sentence(1, 50, written)}"
    assert line_of(text, forms, timeout=1.0).startswith(f"X1 {written}")


def test_a_script_without_spaces_has_pairs_of_letters_for_words() -> None:
    first, second = "錨を下ろす前に水深を測る。" * 5, "鎖の太さは十二ミリです。" * 5
    source = passage(block("text", first), block("text", second), language="ja")
    assert line_of(source, 太さ=1.0) == second
    assert line_of(source, 水深=1.0) == first[: 4 * len(first) // 5]


@pytest.mark.parametrize("text", ["— …", "🚢"])
def test_a_passage_without_words_is_its_own_line(text: str) -> None:
    assert line_of(text, rope=1.0) == text


LONG = "A word of a sentence that has no end " * 10
HTML = (
    "<p>The winch is not safe without a guard. Check it: oil, bolts and brake.</p>"
    "<p>Start it with this command:</p><pre><code>winch start --slow\nwinch watch</code></pre>"
    f"<p>It stops by itself. {LONG}stops here and not there. Wind ends it.</p>"
    "<table><tr><td>brake</td><td>not for ships</td></tr></table>"
)
(WINCH,) = (cut.passage for cut in cut_passages(record("winch", HTML), PassageWindow(words=1_000)))


def place(words: str) -> tuple[int, int]:
    ((start, end),) = quotes.find_quotes(words, WINCH.text)
    return start, end


def test_a_quote_is_shown_with_its_short_sentences_and_lines() -> None:
    assert len(LONG) > MAX_WIDENED_SENTENCE
    for quote, shown in (
        ("safe without a", "The winch is not safe without a guard."),
        ("for ships", "brake · not for ships"),
        ("start --slow", "winch start --slow"),
        ("stops here and not", "stops here and not"),
        ("here and not there. Wind ends", "here and not there. Wind ends it."),
    ):
        assert WINCH.text[slice(*widen_to_sentences(WINCH, *place(quote)))] == shown


def test_a_lead_in_belongs_to_its_code() -> None:
    code = "winch start --slow\nwinch watch"
    assert find_surrounding_sentences(WINCH, *place("Start it with this")).endswith(code)
    lines = find_surrounding_sentences(WINCH, *place("winch watch")).split("\n")
    assert lines == ["Start it with this command:", "winch watch"]
    assert "winch" not in find_surrounding_sentences(WINCH, *place("It stops by itself"))
