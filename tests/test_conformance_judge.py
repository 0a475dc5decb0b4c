"""Judging agrees with the reference pipeline, verdict by verdict and issue by issue."""

from typing import Any

import pytest

import conformance
from answerable.evaluate import judge
from answerable.evaluate.gold import GoldQuery


def gold(data: dict[str, Any]) -> GoldQuery:
    return GoldQuery(
        id=data["id"],
        query=data["query"],
        expect_answer_mode=data["expectAnswerMode"],
        expect_sources=tuple(data.get("expectSources", ())),
        forbid_sources=tuple(data.get("forbidSources", ())),
        forbid_record_citations=data.get("forbidRecordCitations", False),
        forbid_answer_patterns=tuple(data.get("forbidAnswerPatterns", ())),
    )


def outcome(data: dict[str, Any]) -> judge.Outcome:
    kinds = {citation["kind"] for citation in data["citations"]}
    return judge.Outcome(data["mode"], data["answer"], "record" in kinds, "hint" in kinds)


@pytest.mark.parametrize("row", conformance.rows("judge"))
def test_a_verdict_of_the_reference(row: dict[str, Any]) -> None:
    query = gold(row["gold"])
    ids: list[str] = row["retrieved_ids"]
    found = judge.retrieval(query, ids, lambda item, source: item == source)
    assert found == row["retrieval"]["issues"]
    assert judge.answer(query, outcome(row["answer"])) == row["answer_judgement"]["issues"]
