"""Judging: what a gold query requires of a retrieval and of an answer."""

from answerable.evaluate.gold import GoldQuery
from answerable.evaluate.gold_sources import matches_source
from answerable.evaluate.judge import judge_answer, judge_retrieval, summarize_reply
from answerable.serve.answers.contract import EvidenceItem
from answerable.serve.text.languages import get_translation
from answerable.serve.types import (
    Answer,
    Claim,
    HintCitation,
    Passage,
    RecordCitation,
    Reply,
    Route,
    RoutingHint,
)

CHAINS = Passage("mooring#chains", "mooring", "/mooring/#chains", "Mooring › Chains", "Iron.")
WINCH = RoutingHint("note:1", "Winch", "shelf", "/mooring/")
NOTES = {"winch.md": "note:1", "other.md": "note:2"}
CITED = RecordCitation(CHAINS.id, CHAINS.url, CHAINS.title, "Iron.", 0)
PARTIAL = Reply(Answer(claims=(Claim("Iron.", (CITED,)),)), 0.5)
RELATED = Reply(Answer(routes=(Route(HintCitation("note:1", "/mooring/", "Winch", "shelf")),)), 0.5)


def retrieval(query: GoldQuery, items: list[EvidenceItem]) -> list[str]:
    return judge_retrieval(query, items, lambda item, source: matches_source(item, source, NOTES))


def answer(query: GoldQuery, reply: Reply) -> list[str]:
    return judge_answer(query, summarize_reply(reply, get_translation("en").route))


def test_a_record_a_passage_and_a_note_are_sources() -> None:
    query = GoldQuery("a", "q", expect_sources=("mooring", "mooring#chains", "winch.md"))
    assert retrieval(query, [CHAINS, WINCH]) == []


def test_a_missing_source_is_an_issue() -> None:
    query = GoldQuery("a", "q", expect_sources=("storms", "other.md"))
    issues = retrieval(query, [CHAINS, WINCH])
    assert [("storms" in issues[0]), ("other.md" in issues[1])] == [True, True]


def test_a_forbidden_source_is_an_issue() -> None:
    query = GoldQuery("a", "q", forbid_sources=("mooring",))
    assert "forbidden source 'mooring'" in retrieval(query, [CHAINS])[0]


def test_retrieved_source_below_top_is_an_issue_of_top_source() -> None:
    query = GoldQuery("a", "q", top_source="winch.md")
    assert retrieval(query, [WINCH, CHAINS]) == []
    assert "top source" in retrieval(query, [CHAINS, WINCH])[0]
    assert "top source" in retrieval(query, [])[0]


def test_unexpected_mode_is_an_issue() -> None:
    query = GoldQuery("a", "q", expect_answer_mode="partial")
    assert answer(query, PARTIAL) == []
    assert "answer mode 'related-material'" in answer(query, RELATED)[0]


def test_citations_that_contradict_expected_mode_are_an_issue() -> None:
    partial = GoldQuery("a", "q", expect_answer_mode="partial")
    related = GoldQuery("a", "q", expect_answer_mode="related-material")
    assert "record-only" in answer(partial, RELATED)[1]
    assert "hint-only" in answer(related, PARTIAL)[1]


def test_record_citations_can_be_forbidden() -> None:
    query = GoldQuery("a", "q", forbid_record_citations=True)
    assert answer(query, RELATED) == []
    assert "must not cite public records" in answer(query, PARTIAL)[0]


def test_patterns_can_be_forbidden() -> None:
    query = GoldQuery("a", "q", forbid_answer_patterns=("IRON",))
    assert "IRON" in answer(query, PARTIAL)[0]


def test_a_broken_contract_fails_even_a_query_that_wants_a_refusal() -> None:
    query = GoldQuery("a", "q", expect_answer_mode="not-found")
    assert answer(query, Reply(reason="declined")) == []
    assert "contract" in answer(query, Reply(reason="contract"))[0]
