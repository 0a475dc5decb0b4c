"""The keyless answerer: whole passages, and the rule that decides between both streams."""

from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.answers.contract import enforce_contract
from answerable.engine.answers.keyless import ROUTES_LAG, ROUTES_ONLY_LEAD, ExtractiveAnswerer
from answerable.engine.answers.wire import serialize_answer
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import Profile
from answerable.engine.text.markdown import BlockKind, plain_text
from answerable.engine.types import Evidence, Passage, RecordCitation, RoutingHint
from support import passage_blocks
from support.doubles import bundle_of, index_of, record
from support.passage_blocks import block
from support.scripted import LetterEmbedder

QUESTION = "How thick is the chain of a mooring?"
HINT = RoutingHint("note:1", "Winch", "shelf", "/mooring/")


def passage(number: int, text: str) -> Passage:
    return passage_blocks.passage(block("text", text), name=f"p{number}", title="Mooring")


CHAIN = passage(1, "The chain of a mooring is twelve millimetres thick. Cats dislike wet decks.")


def draft(evidence: Evidence) -> dict[str, Any]:
    return cast("dict[str, Any]", ExtractiveAnswerer().draft(QUESTION, evidence))


@pytest.mark.parametrize("sentences", [1, 200])
def test_a_whole_passage_of_any_length_is_a_claim_and_its_own_quote(sentences: int) -> None:
    code = "chain = Chain(\n    millimetres=12,\n)"
    text = " ".join(f"The chain of mooring {n} is {n} millimetres thick." for n in range(sentences))
    source = passage_blocks.passage(block("text", text), block("code", code), name="p1")
    answer = enforce_contract(draft(Evidence((source,))), Evidence((source,)))
    [claim] = answer.claims
    [citation] = claim.citations
    assert claim.text == citation.quote == source.text
    assert (claim.markdown, answer.dropped) == (f"{text}\n\n```\n{code}\n```", 0)


def test_the_first_two_passages_are_quoted_in_their_order() -> None:
    evidence = Evidence(tuple(passage(n, f"Mooring {n} has a thick chain.") for n in (3, 1, 2)))
    answer = enforce_contract(draft(evidence), evidence)
    assert [claim.citations[0].id for claim in answer.claims] == ["p3", "p1"]


ODD_WORDS = (
    *"mooring chain: chain. thick The … 🤓 · __name__ *a* `x` \u202e \x07 - ( 12,".split(" "),
    *("…\n", "\n    ", "a\tb", "word" * 90),
)
ODD_TEXTS = st.lists(st.sampled_from(ODD_WORDS), min_size=1, max_size=60).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["text", "row", "code"]), ODD_TEXTS), max_size=4))
def test_no_claim_is_dropped_whatever_the_page_holds(blocks: list[tuple[BlockKind, str]]) -> None:
    source = passage_blocks.passage(block("text", "A"), *(block(*each) for each in blocks))
    answer = enforce_contract(draft(Evidence((source,))), Evidence((source,)))
    assert (len(answer.claims), answer.dropped) == (1, 0)


def test_the_notebook_alone_answers_where_it_leads() -> None:
    led = Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD)
    assert draft(led) == {"claims": [], "routes": ["h1"]}
    assert draft(Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD - 0.01))["claims"]


def test_a_note_that_lags_far_behind_is_not_shown_beside_claims() -> None:
    assert draft(Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG))["routes"] == ["h1"]
    assert draft(Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG - 0.01))["routes"] == []


def test_at_most_two_routes() -> None:
    hints = tuple(RoutingHint(f"note:{n}", f"N{n}", "", "/mooring/") for n in range(5))
    assert draft(Evidence((), hints, -0.5)) == {"claims": [], "routes": ["h1", "h2"]}
    assert draft(Evidence()) == {"claims": [], "routes": []}


def test_on_the_wire_a_passage_is_cited_by_its_line(tmp_path: Path) -> None:
    filler = "".join(
        f"<p>Paragraph {n} tells of ropes, of decks and of cats.</p>" for n in range(9)
    )
    page = record("mooring", f"{filler}<p>The chain is twelve millimetres thick.</p>{filler}")
    bundle = bundle_of(tmp_path, index_of(tmp_path, [page]), Profile(floor=0.0))
    reply = Engine(bundle, LetterEmbedder(), ExtractiveAnswerer()).answer("a chain so thick")
    [source] = reply.passages
    [citation] = reply.answer.citations
    assert isinstance(citation, RecordCitation)
    assert citation.quote in source.text
    assert "The chain is twelve millimetres thick." in citation.quote
    assert len(citation.quote.split()) <= 60 < len(source.text.split())
    body = serialize_answer(reply, bundle)
    assert body["claims"] == [{"markdown": source.markdown, "citations": [1]}]
    assert plain_text(source.markdown) == source.text
    assert body["citations"][0]["quote"] == citation.quote
    assert body["citations"][0]["href"].startswith("/mooring/#:~:text=Paragraph")
