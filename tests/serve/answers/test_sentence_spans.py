"""A quote is shown with the sentences that it stands in, and compared with them."""

from hypothesis import assume, given
from hypothesis import strategies as st

from answerable.indexing.pages.passages import PassageWindow, cut_passages
from answerable.serve.answers import quotes
from answerable.serve.answers.contract import enforce_contract
from answerable.serve.answers.statements import (
    MAX_WIDENED_SENTENCE,
    find_surrounding_sentences,
    widen_to_sentences,
)
from answerable.serve.text.normalization import fold_typography
from answerable.serve.types import Evidence, Passage, RecordCitation
from support.doubles import record
from support.fuzz_settings import fuzzed

LONG = "A word of a sentence that has no end " * 10
HTML = (
    "<p>The winch is not safe without a guard. Check it: oil, bolts and brake.</p>"
    "<p>Start it with this command:</p><pre><code>winch start --slow\nwinch watch</code></pre>"
    f"<p>It stops by itself. {LONG}stops here and not there. Wind ends it.</p>"
    "<table><tr><td>brake</td><td>not for ships</td></tr></table>"
)
(CUT,) = cut_passages(record("winch", HTML), PassageWindow(words=1_000))
WINCH = CUT.passage


def span(words: str, passage: Passage = WINCH) -> tuple[int, int]:
    ((start, end),) = quotes.find_quotes(words, passage.text)
    return start, end


def shown(words: str) -> str:
    return WINCH.text[slice(*widen_to_sentences(WINCH, *span(words)))]


def test_a_part_of_a_short_sentence_is_shown_whole() -> None:
    assert shown("safe without a") == "The winch is not safe without a guard."
    assert shown("guard. Check it") == (
        "The winch is not safe without a guard. Check it: oil, bolts and brake."
    )
    assert shown("for ships") == "brake · not for ships"


def test_a_part_of_code_is_shown_as_its_lines() -> None:
    assert shown("start --slow") == "winch start --slow"


def test_a_long_sentence_is_not_extended() -> None:
    assert len(LONG) > MAX_WIDENED_SENTENCE
    assert shown("stops here and not") == "stops here and not"
    assert shown("here and not there. Wind ends") == "here and not there. Wind ends it."


def test_a_lead_in_belongs_to_its_code() -> None:
    code = "winch start --slow\nwinch watch"
    assert find_surrounding_sentences(WINCH, *span("Start it with this")).endswith(code)
    lines = find_surrounding_sentences(WINCH, *span("winch watch")).split("\n")
    assert lines == ["Start it with this command:", "winch watch"]
    assert "winch" not in find_surrounding_sentences(WINCH, *span("It stops by itself"))


def test_a_text_without_sentences_is_divided_by_its_lines() -> None:
    plain = Passage("p", "p", "/p/", "P", "One two. Three four.\nFive six。七八")
    assert find_surrounding_sentences(plain, 10, 14) == "One two. Three four."
    assert widen_to_sentences(plain, 10, 12) == (0, 20)
    assert widen_to_sentences(plain, 22, 24) == (21, 32)


@fuzzed(100, 2_000)
@given(st.data())
def test_a_shown_quote_is_verbatim_and_holds_what_was_quoted(data: st.DataObject) -> None:
    ends = st.integers(0, len(WINCH.text))
    start, end = sorted((data.draw(ends), data.draw(ends)))
    draft = {"source": "s1", "quote": WINCH.text[start:end].strip() or "x"}
    assume(quotes.find_quotes(draft["quote"], WINCH.text))
    answer = enforce_contract(
        {"claims": [{"text": "it is so", "evidence": [draft]}]}, Evidence((WINCH,))
    )
    for citation in answer.citations:
        assert isinstance(citation, RecordCitation)
        assert WINCH.text.startswith(citation.quote, citation.start)
        needle = fold_typography(draft["quote"]).text.strip()
        assert needle in fold_typography(citation.quote).text
        assert citation.href.startswith(WINCH.url)
