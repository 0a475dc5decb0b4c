"""Judging agrees with the reference pipeline, verdict by verdict and issue by issue."""

from typing import Any

import pytest

from answerable.check.gold import GoldQuery
from answerable.check.judge import JudgedAnswer, judge_answer, judge_retrieval
from answerable.engine.types import Passage
from support import conformance_cases


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


def outcome(data: dict[str, Any]) -> JudgedAnswer:
    kinds = {citation["kind"] for citation in data["citations"]}
    return JudgedAnswer(data["mode"], data["answer"], "record" in kinds, "hint" in kinds)


@pytest.mark.parametrize("row", conformance_cases.rows("judge"))
def test_verdict_equals_reference(row: dict[str, Any]) -> None:
    query = gold(row["gold"])
    items = [Passage(name, name, "/", "Title", "Text.") for name in row["retrieved_ids"]]
    sources = {*query.expect_sources, *query.forbid_sources}
    issues = judge_retrieval(query, items, {}, sources)
    assert issues == row["retrieval"]["issues"]
    judged = judge_answer(query, outcome(row["answer"]))
    # The reference repeats a pattern, which goes by its number here.
    expected = "\n".join(row["answer_judgement"]["issues"])
    for number, pattern in enumerate(query.forbid_answer_patterns, 1):
        expected = expected.replace(f"/{pattern}/", f"number {number}")
    assert "\n".join(judged) == expected
