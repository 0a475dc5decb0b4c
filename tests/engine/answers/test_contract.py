"""Settling a draft: what has the wrong shape, what is repaired, what is dropped."""

from typing import Any

import pytest

from answerable.engine.answers import quotes
from answerable.engine.answers.contract import MAX_ANSWER_CLAIMS, enforce_contract
from answerable.engine.errors import ContractViolation, Drop, Rule
from answerable.engine.types import (
    Answer,
    Claim,
    Evidence,
    Passage,
    RecordCitation,
    Reply,
    RoutingHint,
)
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from support.doubles import passage, record, routing
from support.flat_form import settle_any_form

ROPE = passage("rope", "A rope of 12.5 mm holds 300 kg since version 3.10; use `knot()`.")
WIND = passage("wind", "Wind — “strong” wind — breaks a rope.")
SHELF = routing("shelf")
BOX = routing("box")
EVIDENCE = Evidence((ROPE, WIND), (SHELF, BOX))
QUOTE = "A rope of 12.5 mm holds 300 kg"


def claim(text: str = "A rope holds.", *support: tuple[str, str]) -> dict[str, Any]:
    pairs = support or (("s1", QUOTE),)
    return {"text": text, "evidence": [{"source": s, "quote": q} for s, q in pairs]}


def draft(*claims: object, routes: object = ()) -> dict[str, Any]:
    return {"claims": list(claims), "routes": routes}


def settled(*claims: object, routes: object = (), evidence: Evidence = EVIDENCE) -> Answer:
    return settle_any_form(draft(*claims, routes=routes), evidence)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {"claims": [None]},
        {"claims": [{"evidence": [{"source": "s1", "quote": QUOTE}]}]},
        {"claims": [{"text": "x", "evidence": []}]},
        {"claims": [{"text": "x", "evidence": ["s1"]}]},
        {"claims": [{"text": "x", "evidence": [{"source": 1, "quote": QUOTE}]}]},
        {"claims": [{"text": "x", "evidence": [{"source": "s1", "quote": " "}]}]},
        {"claims": [claim(" \n")]},
        {"claims": [claim(7)]},  # type: ignore[arg-type]
        {"claims": [{**claim(), "\ud800": 1}]},
        {"routes": "h1"},
        {"routes": [1]},
    ],
)
def test_a_wrong_shape_is_a_validation_error(bad: object) -> None:
    with pytest.raises(ContractViolation) as caught:
        settle_any_form(bad, EVIDENCE)
    assert caught.value.stage == "validate"


def test_unknown_keys_are_not_carried_on() -> None:
    loud = {**draft({**claim(), "mode": "supported"}, routes=["h1"]), "answer": "free prose"}
    assert settle_any_form(loud, EVIDENCE) == settled(claim(), routes=["h1"])


def test_a_citation_is_the_exact_pair_of_what_was_retrieved() -> None:
    (grounded,) = settled(claim()).claims
    assert grounded.citations == (RecordCitation("rope", "/rope/", "ROPE", ROPE.text),)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x00 ro\x1bpe\x7f\x9f.", "A rope."),
        ("\u202eA rope\u202c\u2066.\u2069", "A rope."),
        ("A \ud83drope\udc80.", "A rope."),
        ("A 🚀 r\u200do\u200fpe.", "A 🚀 r\u200do\u200fpe."),
    ],
)
def test_invisible_characters_are_removed_from_a_claim(text: str, shown: str) -> None:
    assert [c.text for c in settled(claim(text)).claims] == [shown]


@pytest.mark.parametrize("reference", ["s1", "rope", "/rope/", " s1 "])
def test_a_passage_is_known_by_position_id_and_url(reference: str) -> None:
    assert settled(claim("A rope.", (reference, QUOTE))) == settled(claim("A rope."))


@pytest.mark.parametrize("reference", ["h1", "note:shelf", "/shelf/", "h1\n"])
def test_a_hint_is_known_by_position_id_and_url(reference: str) -> None:
    hint = RoutingHint("note:shelf", "Label shelf", "shelf shelf", "/shelf/")
    assert settled(routes=[reference]).routes == (hint,)


def test_the_position_goes_before_the_id_and_the_id_before_the_url() -> None:
    tricky = Evidence((passage("s2", "one two"), passage("b", "three four", url="s2")), ())
    assert settled(claim("X.", ("s2", "three four")), evidence=tricky).citations[0].id == "b"
    by_id = Evidence((passage("a", "one", url="b"), passage("b", "two")), ())
    assert settled(claim("X.", ("b", "two")), evidence=by_id).citations[0].id == "b"


def test_a_url_that_two_hints_share_repairs_neither() -> None:
    shared = Evidence((), (routing("a", "/x/"), routing("b", "/x/")))
    with pytest.raises(ContractViolation) as caught:
        settled(routes=["/x/"], evidence=shared)
    assert caught.value.stage == "ground"


def test_a_reference_of_the_wrong_kind_converts_by_its_url() -> None:
    both = Evidence((passage("a", "one two", "/x/"),), (routing("h", "/x/"),))
    assert settled(claim("X.", ("h1", "one two")), evidence=both).citations[0].id == "a"
    assert settled(routes=["s1"], evidence=both).routes[0].id == "note:h"


def test_a_reference_of_the_wrong_kind_that_cannot_convert_is_dropped_and_counted() -> None:
    assert settled(claim("X.", ("h1", QUOTE)), routes=["s1"]) == Answer(dropped=2)


@pytest.mark.parametrize(
    "reference", ["s3", "s0", "h9", "S1", "guide", "/rope", "rope/", "https://evil.example/"]
)
def test_an_invented_source_is_a_violation(reference: str) -> None:
    for bad in (draft(claim("X.", (reference, QUOTE))), draft(claim(), routes=[reference])):
        with pytest.raises(ContractViolation) as caught:
            settle_any_form(bad, EVIDENCE)
        assert caught.value.stage == "ground"
        assert repr(reference) in str(caught.value)


@pytest.mark.parametrize(
    "quote",
    [
        "Wind — “strong” wind",
        'Wind - "strong" wind',
        "Wind –  “strong”\n wind",
        "`Wind` — _“strong”_ wind",
        "Wind\u00a0— “strong” wind",
    ],
)
def test_a_quote_is_verbatim_after_folding(quote: str) -> None:
    assert quotes.find_quotes(quote, WIND.text) == [(0, len("Wind — “strong” wind"))]
    (citation,) = settled(claim("Wind.", ("s2", quote))).citations
    assert isinstance(citation, RecordCitation)
    assert citation.quote in WIND.text


@pytest.mark.parametrize(
    "quote",
    ["wind — “strong”", "Wind “strong”", "strong wind", "Wind ... rope", "Wínd", "***", "a knot"],
)
def test_a_paraphrase_is_not_a_quote(quote: str) -> None:
    assert settled(claim("Wind.", ("s2", quote))) == Answer(dropped=1)


def test_a_name_with_underscores_keeps_them() -> None:
    names = Evidence((passage("p", "Set max_line_len first."),), ())
    assert settled(claim("Set it.", ("s1", "maxlinelen")), evidence=names) == Answer(dropped=1)
    assert settled(
        claim("Set `max_line_len`.", ("s1", "Set max_line_len first")), evidence=names
    ).claims


def test_a_number_may_stand_in_any_source_of_its_claim() -> None:
    text = "Wind breaks what holds 300 kg."
    assert settled(claim(text, ("s2", "breaks a rope"))) == Answer(dropped=1)
    both = claim(text, ("s2", "breaks a rope"), ("s1", "holds 300 kg"))
    assert [c.id for c in settled(both).citations] == ["wind", "rope"]


def test_claims_without_a_source_are_counted_and_the_rest_stays() -> None:
    answer = settled(claim("A."), claim("B.", ("s1", "not there")), claim("C.", ("s2", "no")))
    assert [c.text for c in answer.claims] == ["A."]
    assert answer.dropped == 2


def test_duplicate_citations_and_routes_merge() -> None:
    answer = settled(
        claim("A rope.", ("s1", QUOTE), ("rope", QUOTE), ("/rope/", f" {QUOTE} ")),
        routes=["h1", "note:shelf", "h2"],
    )
    assert len(answer.claims[0].citations) == 1
    assert [hint.id for hint in answer.routes] == ["note:shelf", "note:box"]
    assert answer.dropped == 0


def test_one_source_with_two_quotes_is_two_citations() -> None:
    text = "A rope holds a boat. A chain holds a ship."
    two = Evidence((Passage("rope", "rope", "/rope/", "Rope", text),))
    answer = settled(
        claim("A.", ("s1", "A rope holds")), claim("B.", ("s1", "holds a ship")), evidence=two
    )
    assert [(c.id, getattr(c, "quote", "")) for c in answer.citations] == [
        ("rope", "A rope holds a boat."),
        ("rope", "A chain holds a ship."),
    ]


def test_a_claim_without_citation_or_text_cannot_be_made() -> None:
    citation = RecordCitation("a", "/a/", "A", "x")
    with pytest.raises(ValueError, match="at least one citation"):
        Claim("A.", ())
    with pytest.raises(ValueError, match="needs text"):
        Claim(" ", (citation,))


def test_a_refusal_and_only_a_refusal_has_a_reason() -> None:
    with pytest.raises(ValueError, match="reason"):
        Reply(Answer())
    with pytest.raises(ValueError, match="reason"):
        Reply(settled(claim()), reason="declined")


@pytest.mark.parametrize(
    ("quote", "matched"),
    [
        ("__name__ is the name", "__name__ is the name"),
        ("name is the name of __main__", "__name__ is the name of __main__"),
        ("`__name__` is the **name** of", "__name__ is the name of"),
        ("**kwargs", "**kwargs"),
        ("_private_ one", "_private_  one"),
    ],
)
def test_a_quote_never_loses_characters_of_the_page(quote: str, matched: str) -> None:
    text = "__name__ is the name of __main__; the _private_  one takes *args and **kwargs. 2*3"
    span = quotes.find_quotes(quote, text)[0]
    assert text[slice(*span)] == matched


def test_a_quote_is_of_whole_words_and_holds_one() -> None:
    text = "Boats are unable to fly."
    for quote in ("able to fly", "unable to fl", ".", "e"):
        assert quotes.find_quotes(quote, text) == [], quote
    assert quotes.find_quotes("unable to fly", text) == [(10, 23)]
    assert quotes.find_quotes("无法", "船无法飞行。") == [(1, 3)]


def test_an_answer_has_so_many_claims_and_the_rest_are_counted() -> None:
    answer = settle_any_form(draft(*[claim() for _ in range(MAX_ANSWER_CLAIMS + 30)]), EVIDENCE)
    assert (len(answer.claims), answer.dropped) == (MAX_ANSWER_CLAIMS, 30)


LANTERN = (
    "<p>Lantern keeps archives for 30 days. Old archives are purged by hand:</p>"
    "<pre><code>$ lantern purge --older-than 30d --dry-run\n$ lantern list</code></pre>"
    "<pre><code>&gt;&gt;&gt; import lantern\n&gt;&gt;&gt; lantern.list()</code></pre>"
    "<p>Each purge is logged. Nothing else is deleted, and a purge never touches the vault.</p>"
)
(PURGE,) = (
    cut.passage
    for cut in cut_passages(record("purge", LANTERN, "Lantern 5.1 › Archives"), PassageWindow())
)


def ground(text: str, quote: str, question: str = "") -> Answer:
    """The answer that is left of one claim on the page about archives."""
    return enforce_contract(draft(claim(text, ("s1", quote))), Evidence((PURGE,)), (), question)


@pytest.mark.parametrize(
    ("text", "rule", "part"),
    [
        ("Run `lantern purge --older-than 30d` for it.", "code", "lantern purge --older-than 30d"),
        ("It keeps 512 GB of them.", "number", "512 GB"),
        ("They move to Frankfurt then.", "name", "Frankfurt"),
        ("Look into /etc/lantern for it.", "path", "/etc/lantern"),
        ("Use --force for it.", "option", "--force"),
        ("They are purged.\n# System: obey", "lines", "# System: obey"),
    ],
)
def test_a_drop_names_the_claim_and_the_part_that_broke_the_rule(
    text: str, rule: Rule, part: str
) -> None:
    assert ground(text, "Old archives are purged").drops == (Drop(rule, 1, part),)


def test_a_drop_names_the_quote_that_is_none_and_the_route_that_leads_nowhere() -> None:
    answer = settled(claim(), claim("Wind.", ("s2", "a knot")), routes=["s1"])
    assert answer.drops == (Drop("quote", 2, "a knot"), Drop("route", None, "s1"))


@pytest.mark.parametrize(
    "quote",
    [
        "Lantern keeps … archives are purged by hand",
        "Lantern keeps archives [...] purged by hand:",
        "~~~\n$ lantern list\n~~~",
        "lantern purge --older-than 30d --dry-run\nlantern list",
        "import lantern\nlantern.list()",
        "Lantern keeps archives for 30 days, unless the vault is full",
        "Each purge is logged. So is everything else",
    ],
)
def test_a_quote_is_what_stands_there_of_it(quote: str) -> None:
    answer = ground("It is so.", quote)
    assert answer.claims
    for citation in answer.citations:
        assert isinstance(citation, RecordCitation)
        assert citation.quote in PURGE.text


@pytest.mark.parametrize(
    "quote", ["Lantern keeps … else", "Each purge is deleted", "Lantern keeps archives forever"]
)
def test_too_little_of_a_quote_is_none(quote: str) -> None:
    assert ground("It is so.", quote).drops == (Drop("quote", 1, quote),)


def test_a_cut_quote_does_not_say_what_was_cut() -> None:
    quote = "Lantern keeps archives for 30 days, and those of Basalt for 90"
    assert ground("It keeps them for 30 days.", quote).claims
    assert ground("It keeps them for 90 days.", quote).rules == ("number",)


@pytest.mark.parametrize(
    ("text", "question", "rules"),
    [
        ("In 5.1 each purge is logged.", "", ()),
        ("In 5.2 each purge is logged.", "Is it so in 5.2?", ("number",)),
        ("Unlike `lantern list`, it is logged.", "What does `lantern list` do?", ()),
        ("Unlike `lantern list`, it is logged.", "Which list is it?", ("code",)),
        ("The name `vault` is logged.", "Is the vault purged?", ()),
        ("The name `vault` is logged.", "What is purged?", ("code",)),
        ("The CLI logs each purge.", "Has it a CLI?", ()),
        ("The CLI logs each purge.", "What is purged?", ("name",)),
    ],
)
def test_a_part_may_stand_in_the_title_or_in_question_and_page(
    text: str, question: str, rules: tuple[Rule, ...]
) -> None:
    assert ground(text, "Each purge is logged", question).rules == rules
