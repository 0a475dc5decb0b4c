"""Replies as JSON: numbers, markers and what a reader may see."""

import pytest

from answerable.engine.answers.wire import serialize_answer
from answerable.engine.bundle import Bundle
from answerable.engine.types import Answer, Claim, RecordCitation, Reply, RoutingHint
from support import sites

QUOTE = RecordCitation("mooring#chains", "/mooring/#chains", "Mooring › Chains", "Iron.")
OTHER = RecordCitation(
    "storms", "/storms/", "Storms", "Ropes.", "2026-01-02", href="/storms/#:~:text=Ropes."
)
HINT = RoutingHint("note:1", "Winch plans", "shelf", "/mooring/")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = sites.write_site(tmp_path_factory.mktemp("site"))
    sites.build_here(folder)
    return sites.opened(folder)


def test_citations_are_numbered_in_order_of_first_use(bundle: Bundle) -> None:
    claims = (Claim("One.", (OTHER,)), Claim("Two", (QUOTE, OTHER), "`Two`"))
    body = serialize_answer(Reply(Answer(claims, (HINT,)), "high"), bundle)
    assert [c["n"] for c in body["citations"]] == [1, 2, 3]
    assert [c["id"] for c in body["citations"]] == ["storms", "mooring#chains", "note:1"]
    assert body["claims"][1] == {"markdown": "`Two`", "citations": [2, 1]}
    assert body["answer"] == "One [1]. Two [2][1]. Related material: Winch plans (shelf) [3]."
    assert (body["mode"], body["confidence"]) == ("supported", "high")
    assert body["citations"][1]["href"] == QUOTE.url


def test_a_record_carries_its_quote_and_a_hint_only_its_surface(bundle: Bundle) -> None:
    reply = Reply(Answer((Claim("One.", (OTHER,)),), (HINT,)))
    record, hint = serialize_answer(reply, bundle)["citations"]
    assert record == {
        "n": 1, "kind": "record", "id": "storms", "url": "/storms/",
        "absolute_url": "https://harbour.example/storms/", "title": "Storms",
        "date": "2026-01-02", "language": None, "quote": "Ropes.",
        "href": "/storms/#:~:text=Ropes.",
    }  # fmt: skip
    assert hint == {
        "n": 2, "kind": "hint", "id": "note:1", "url": "/mooring/",
        "absolute_url": "https://harbour.example/mooring/", "label": "Winch plans",
        "locator": "shelf",
    }  # fmt: skip


def test_a_refusal_has_no_citations_on_the_wire(bundle: Bundle) -> None:
    body = serialize_answer(Reply(reason="no-evidence"), bundle)
    assert (body["mode"], body["reason"], body["answer"]) == ("not-found", "no-evidence", "")
    assert body["citations"] == body["claims"] == body["routes"] == []
    assert body["bundle"] == bundle.manifest.id
