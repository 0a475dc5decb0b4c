"""The keyless answerer: verbatim sentences, and the rule that decides between both streams."""

import re
from typing import Any, cast

import pytest

import sites
from answerable.serve import contract
from answerable.serve.extractive import MAX_CLAIMS, ROUTES_LAG, ROUTES_ONLY_LEAD, ExtractiveAnswerer
from answerable.serve.types import Evidence, Passage, RoutingHint


@pytest.fixture(scope="module")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> ExtractiveAnswerer:
    folder = sites.write_site(tmp_path_factory.mktemp("site"))
    sites.build_here(folder)
    return ExtractiveAnswerer(sites.opened(folder), sites.local())


def passage(number: int, text: str, title: str = "Mooring") -> Passage:
    ends = [match.end() for match in re.finditer(r"[.:?](?=\s|$)", text)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    spans = tuple(zip(starts, ends, strict=True))
    return Passage(f"p{number}", f"p{number}", f"/{number}/", title, text, spans)


def draft(answerer: ExtractiveAnswerer, question: str, evidence: Evidence) -> dict[str, Any]:
    return cast("dict[str, Any]", answerer.draft(question, evidence))


CHAIN = passage(1, "The chain of a mooring is twelve millimetres thick. Cats dislike wet decks.")
HINT = RoutingHint("note:1", "Winch", "shelf", "/mooring/")


def test_a_claim_is_a_sentence_and_its_quote(answerer: ExtractiveAnswerer) -> None:
    found = draft(answerer, "How thick is the chain of a mooring?", Evidence((CHAIN,)))
    (claim,) = found["claims"]
    assert claim["text"] == "The chain of a mooring is twelve millimetres thick."
    assert claim["evidence"] == [{"source": "s1", "quote": claim["text"]}]


def test_it_keeps_the_contract(answerer: ExtractiveAnswerer) -> None:
    evidence = Evidence((CHAIN,), (HINT,))
    answer = contract.settle(draft(answerer, "How thick is a mooring chain?", evidence), evidence)
    assert (answer.mode, answer.dropped) == ("supported", 0)


def test_no_supporting_sentence_declines(answerer: ExtractiveAnswerer) -> None:
    found = draft(answerer, "Who wrote the lantern opera?", Evidence((CHAIN,)))
    assert found == {"claims": [], "routes": []}


def test_there_are_few_claims_and_no_duplicates(answerer: ExtractiveAnswerer) -> None:
    same = tuple(passage(n, CHAIN.text) for n in range(1, 4))
    more = tuple(
        passage(n, f"The chain of mooring number {n} is {n} millimetres thick.")
        for n in range(4, 9)
    )
    claims = draft(answerer, "How thick is the chain of a mooring?", Evidence(same + more))[
        "claims"
    ]
    texts = [claim["text"] for claim in claims]
    assert len(texts) == len(set(texts)) <= MAX_CLAIMS


def test_a_question_and_a_fragment_are_no_statements(answerer: ExtractiveAnswerer) -> None:
    text = "How thick is the chain of a mooring? Thick mooring chain."
    assert draft(answerer, "How thick is the chain?", Evidence((passage(1, text),)))["claims"] == []


def test_the_notebook_alone_answers_where_it_leads(answerer: ExtractiveAnswerer) -> None:
    question = "How thick is the chain of a mooring?"
    led = Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD)
    assert draft(answerer, question, led) == {"claims": [], "routes": ["h1"]}
    close = Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD - 0.01)
    assert draft(answerer, question, close)["claims"]


def test_a_note_that_lags_far_behind_is_not_shown_beside_claims(
    answerer: ExtractiveAnswerer,
) -> None:
    question = "How thick is the chain of a mooring?"
    near = Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG)
    assert draft(answerer, question, near)["routes"] == ["h1"]
    far = Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG - 0.01)
    assert draft(answerer, question, far)["routes"] == []
    unanswered = draft(answerer, "Who wrote the lantern opera?", far)
    assert unanswered == {"claims": [], "routes": ["h1"]}


def test_at_most_two_routes(answerer: ExtractiveAnswerer) -> None:
    hints = tuple(RoutingHint(f"note:{n}", f"N{n}", "", "/mooring/") for n in range(5))
    assert draft(answerer, "winch", Evidence((), hints, 0.5))["routes"] == ["h1", "h2"]
