"""Every case of the reference pipeline, through `settle`: same stage of failure or same answer."""

from typing import Any

import pytest

from answerable.engine.errors import ContractViolation
from answerable.engine.types import Answer, Evidence, Passage, RoutingHint
from support import conformance_cases
from support.flat_form import settle_any_form


def evidence(data: dict[str, Any]) -> Evidence:
    return Evidence(
        tuple(Passage(r["id"], r["id"], r["url"], r["title"], r["body"]) for r in data["records"]),
        tuple(RoutingHint(h["hintId"], h["label"], h["locator"], h["url"]) for h in data["hints"]),
    )


def cited(answer: Answer) -> set[tuple[str, str, str]]:
    return {
        ("hint" if isinstance(citation, RoutingHint) else "record", citation.id, citation.url)
        for citation in answer.citations
    }


@pytest.mark.parametrize("row", conformance_cases.rows("contract"))
def test_a_case_of_the_reference(row: dict[str, Any]) -> None:
    outcome = row["outcome"]
    draft, retrieved = row["input"]["answer"], evidence(row["input"]["evidence"])
    if not outcome["ok"]:
        with pytest.raises(ContractViolation) as violation:
            settle_any_form(draft, retrieved)
        assert violation.value.stage == outcome["stage"]
        return
    answer = settle_any_form(draft, retrieved)
    expected = outcome["result"]
    assert answer.mode == expected["mode"]
    assert cited(answer) == {
        (c["kind"], c.get("recordId") or c.get("hintId", ""), c["url"])
        for c in expected["citations"]
    }
    assert len(answer.citations) == len(expected["citations"])
    if answer.claims:
        assert answer.claims[0].text == expected["answer"]
