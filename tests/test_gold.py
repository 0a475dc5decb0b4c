"""The gold file: every mistake is named by file, query and field."""

from pathlib import Path

import pytest

from answerable.evaluate import gold
from answerable.serve.errors import GoldError


def load(folder: Path, text: str, author: str | None = None) -> tuple[gold.GoldQuery, ...]:
    path = folder / "gold.yaml"
    path.write_text(text, encoding="utf-8")
    return gold.load(path, author)


def test_every_field_is_read(tmp_path: Path) -> None:
    (query,) = load(
        tmp_path,
        """
queries:
  - id: moor
    query: What did {{author}} say of chains?
    expectAnswerMode: supported
    expectSources: [mooring, winch.md]
    forbidSources: [storms]
    topSource: mooring#chains
    forbidRecordCitations: true
    forbidAnswerPatterns: ["rope"]
    note: why
""",
        author="Ada",
    )
    assert query == gold.GoldQuery(
        id="moor",
        query="What did Ada say of chains?",
        expect_answer_mode="supported",
        expect_sources=("mooring", "winch.md"),
        forbid_sources=("storms",),
        top_source="mooring#chains",
        forbid_record_citations=True,
        forbid_answer_patterns=("rope",),
        note="why",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("queries: []", ["gold.yaml", "queries"]),
        ("queries: [", ["gold.yaml", "not YAML"]),
        ("queries: [{query: q}]", ["query 1", "id"]),
        ("queries: [{id: a}]", ["'a'", "query has to be"]),
        ("queries: [{id: a, query: q}, {id: a, query: r}]", ["'a'", "twice"]),
        ("queries: [{id: a, query: q, expectMode: partial}]", ["'a'", "expectMode"]),
        ("queries: [{id: a, query: q, expectAnswerMode: yes please}]", ["expectAnswerMode"]),
        ("queries: [{id: a, query: q, expectSources: mooring}]", ["expectSources"]),
        ("queries: [{id: a, query: q, forbidAnswerPatterns: ['(']}]", ["forbidAnswerPatterns"]),
        ("queries: [{id: a, query: q, forbidRecordCitations: 1}]", ["forbidRecordCitations"]),
        ("queries: [{id: a, query: 'who is {{author}}'}]", ["'a'", "site_author"]),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(GoldError) as error:
        load(tmp_path, text)
    for word in ["gold.yaml", *words]:
        assert word in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldError, match=r"nowhere\.yaml"):
        gold.load(tmp_path / "nowhere.yaml", None)


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    queries = load(tmp_path, "queries: [{id: a, query: q, topSource: nowhere}]")
    with pytest.raises(GoldError, match=r"'a': topSource: there is no .* 'nowhere'"):
        gold.check_sources(queries, tmp_path / "gold.yaml", frozenset({"mooring"}))
