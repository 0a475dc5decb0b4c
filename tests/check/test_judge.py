"""Judging: what a gold query requires of a retrieval and of an answer."""

from dataclasses import replace

import pytest

from answerable.check.gold import GoldQuery
from answerable.check.judge import JudgedAnswer, judge_answer, judge_retrieval, summarize_reply
from answerable.engine.answers.contract import EvidenceItem
from answerable.engine.errors import ContractViolation
from answerable.engine.text.languages import get_translation
from answerable.engine.types import (
    Answer,
    Claim,
    Mode,
    Passage,
    RecordCitation,
    Reply,
    RoutingHint,
)

CHAINS = Passage("mooring#chains", "mooring", "/mooring/#chains", "Mooring › Chains", "Iron.")
WINCH = RoutingHint("note:1", "Winch", "shelf", "/mooring/")
NOTES = {"winch.md": "note:1", "other.md": "note:2"}
PUBLIC = {"storms", "mooring", "mooring#chains", "mooring#chains~2", "mooring#ropes", "storms#rope"}
CITED = RecordCitation(CHAINS.id, CHAINS.url, CHAINS.title, "Iron.")
PARTIAL = Reply(Answer(claims=(Claim("Iron.", (CITED,)),)), "low")
RELATED = Reply(Answer(routes=(RoutingHint("note:1", "Winch", "shelf", "/mooring/"),)), "low")


def retrieval(query: GoldQuery, items: list[EvidenceItem]) -> list[str]:
    return judge_retrieval(query, items, NOTES, PUBLIC)


def answer(query: GoldQuery, reply: Reply) -> list[str]:
    return judge_answer(query, summarize_reply(reply, get_translation("en").route, NOTES), PUBLIC)


def cite(name: str) -> Reply:
    """Make a reply of one claim that cites a passage."""
    citation = RecordCitation(name, "/mooring/", "Mooring", "Iron.")
    return Reply(Answer(claims=(Claim("Iron.", (citation,)),)), "low")


def test_a_record_a_passage_and_a_note_are_sources() -> None:
    query = GoldQuery("a", "q", expect_sources=("mooring", "mooring#chains", "winch.md"))
    assert retrieval(query, [CHAINS, WINCH]) == []


def test_retrieved_source_below_top_is_an_issue_of_top_source() -> None:
    query = GoldQuery("a", "q", top_source="winch.md")
    assert retrieval(query, [WINCH, CHAINS]) == []
    assert "top source" in retrieval(query, [CHAINS, WINCH])[0]
    assert "top source" in retrieval(query, [])[0]


def test_a_broken_contract_fails_even_a_query_that_wants_a_refusal() -> None:
    query = GoldQuery("a", "q", expect_answer_mode="not-found")
    assert answer(query, Reply(reason="declined")) == []
    assert "contract" in answer(query, Reply(reason="contract"))[0]


def test_one_of_several_modes_is_enough() -> None:
    query = GoldQuery("a", "q", expect_answer_mode=("supported", "related-material"))
    assert answer(query, RELATED) == []
    assert answer(query, PARTIAL) == [
        "answer mode 'partial' (expected 'supported' or 'related-material')"
    ]


def test_a_model_may_decline_what_a_keyless_site_finds_nothing_for() -> None:
    nothing = GoldQuery("a", "q", expect_reason="no-evidence")
    declined = GoldQuery("a", "q", expect_reason="declined")
    assert answer(nothing, Reply(reason="no-evidence")) == []
    assert answer(nothing, Reply(reason="declined")) == []
    assert answer(declined, Reply(reason="no-evidence")) == [
        "reason 'no-evidence' (expected 'declined')"
    ]
    assert answer(nothing, PARTIAL) == ["reason 'None' (expected 'no-evidence')"]


@pytest.mark.parametrize(
    ("source", "cited", "is_cited"),
    [
        ("mooring", "mooring#chains~2", True),
        ("mooring", "moorings#chains", False),
        ("mooring#chains", "mooring#chains~2", True),
        ("mooring#chains~2", "mooring#chains~2", True),
        ("mooring#chains~2", "mooring#chains", False),
        ("mooring#ropes", "mooring#chains", False),
    ],
)
def test_page_or_section_has_to_be_cited(source: str, cited: str, is_cited: bool) -> None:
    query = GoldQuery("a", "q", expect_cited=(source,))
    issue = f"expected source '{source}' not cited"
    assert answer(query, cite(cited)) == ([] if is_cited else [issue])


def test_note_has_to_be_cited_by_its_path() -> None:
    query = GoldQuery("a", "q", expect_cited=("winch.md",))
    window = Reply(Answer(routes=(RoutingHint("note:1~2", "W", "s", "/m/"),)), "low")
    assert (answer(query, RELATED), answer(query, window)) == ([], [])
    assert answer(query, PARTIAL) == ["expected source (a note) not cited"]
    other = GoldQuery("a", "q", expect_cited=("other.md",))
    assert answer(other, RELATED) == ["expected source (a note) not cited"]


@pytest.mark.parametrize(
    ("mode", "about_mode"), [("partial", "record-only"), ("related-material", "hint-only")]
)
def test_issues_stand_in_the_order_of_the_reference(mode: Mode, about_mode: str) -> None:
    """Mode, forbidden records, the mode's citations, patterns; what the reference lacks follows."""
    both = JudgedAnswer("supported", "Iron.", cites_records=True, cites_hints=True)
    query = GoldQuery(
        "a",
        "q",
        mode,
        forbid_record_citations=True,
        forbid_answer_patterns=("iron",),
        require_answer_patterns=("rope",),
        expect_reason="declined",
        expect_cited=("storms",),
    )
    assert judge_answer(query, both, PUBLIC) == [
        f"answer mode 'supported' (expected '{mode}')",
        "answer must not cite public records for this query",
        f"{mode} mode requires {about_mode} citations",
        "answer matched forbidden pattern number 1",
        "answer lacks required pattern number 1",
        "reason 'None' (expected 'declined')",
        "expected source 'storms' not cited",
    ]


def test_issues_name_pages_and_neither_patterns_nor_notes() -> None:
    query = GoldQuery(
        "a",
        "q",
        expect_sources=("storms", "other.md"),
        forbid_sources=("winch.md",),
        expect_any_source=("storms", "third.md"),
        top_source="other.md",
        expect_cited=("storms#rope", "other.md"),
        forbid_answer_patterns=("copper", "iron"),
        require_answer_patterns=("rope",),
    )
    assert [*retrieval(query, [CHAINS, WINCH]), *answer(query, PARTIAL)] == [
        "expected source 'storms' not retrieved",
        "expected source (a note) not retrieved",
        "forbidden source (a note) was retrieved",
        "none of the sources 'storms', (a note) was retrieved",
        "top source is not (a note)",
        "answer matched forbidden pattern number 2",
        "answer lacks required pattern number 1",
        "expected source 'storms#rope' not cited",
        "expected source (a note) not cited",
    ]


def test_a_claim_that_turns_round_what_it_quotes_is_an_issue() -> None:
    claim = Claim("It is not true that iron holds.", (CITED,))
    turned = replace(PARTIAL, answer=Answer(claims=(claim,)))
    assert answer(GoldQuery("a", "q"), turned) == [
        "claim 'It is not true that iron holds.' and the quoted sentence 'Iron.' disagree in "
        "negation"
    ]
    assert answer(GoldQuery("a", "q", language="fr"), turned) == []


def test_a_keyless_answer_in_the_place_of_a_model_s_fails() -> None:
    fallback = replace(PARTIAL, failure=ContractViolation("ground", "quote", "no quote"))
    assert "contract" in answer(GoldQuery("a", "q"), fallback)[0]
