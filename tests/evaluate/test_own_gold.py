"""Rules that our own gold set keeps, read from the file alone."""

from collections import Counter

import pytest
import yaml

from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.indexing.notes.notebook import read_notebook
from support import sites

PATH = sites.ROOT / "eval" / "gold.yaml"
# How many queries of each kind there have to be at least.
KINDS = {
    "direct": 20,
    "theme": 5,
    "vocabulary": 5,
    "boundary": 6,
    "close": 6,
    "off-topic": 6,
    "private-person": 3,
    "future": 3,
}
REFUSED = {"close", "off-topic", "private-person", "future"}


@pytest.fixture(scope="module")
def queries() -> tuple[GoldQuery, ...]:
    config = yaml.safe_load((sites.ROOT / "mkdocs.yml").read_text("utf-8"))
    return load_gold_queries(PATH, config["site_author"])


def kinds(query: GoldQuery) -> list[str]:
    return [tag for tag in query.tags if tag in KINDS]


def test_own_gold_set_is_large_enough(queries: tuple[GoldQuery, ...]) -> None:
    assert len(queries) >= 60


def test_own_gold_questions_are_unique(queries: tuple[GoldQuery, ...]) -> None:
    assert [name for name, n in Counter(q.id for q in queries).items() if n > 1] == []
    counts = Counter(" ".join(q.query.lower().split()) for q in queries)
    assert [question for question, n in counts.items() if n > 1] == []


def test_every_query_has_one_kind(queries: tuple[GoldQuery, ...]) -> None:
    assert [query.id for query in queries if len(kinds(query)) != 1] == []
    assert [query.id for query in queries if len(set(query.tags)) != len(query.tags)] == []


def test_own_gold_set_has_every_kind(queries: tuple[GoldQuery, ...]) -> None:
    counts = Counter(kind for query in queries for kind in kinds(query))
    assert {kind: counts[kind] for kind, least in KINDS.items() if counts[kind] < least} == {}


def test_every_query_says_in_one_sentence_what_it_guards(queries: tuple[GoldQuery, ...]) -> None:
    notes = Counter(query.note for query in queries)
    assert [note for note, n in notes.items() if n > 1] == []
    for query in queries:
        assert query.note[:1].isupper(), query.id
        assert query.note.endswith("."), query.id
        assert ". " not in query.note, query.id
        assert len(query.note.split()) >= 5, query.id


def test_each_note_that_readers_are_led_to_is_asked_for(queries: tuple[GoldQuery, ...]) -> None:
    """A note that nobody asks for would stand below answers about something else."""
    notebook = read_notebook(sites.ROOT / "notebook", writes_key=False)
    routed = {note.path for note in notebook.notes}
    expected = {source for query in queries for source in query.expect_sources or ()}
    expected |= {query.top_source for query in queries if query.top_source}
    assert sorted(routed - expected) == []


def test_every_query_requires_something(queries: tuple[GoldQuery, ...]) -> None:
    asks_nothing = [
        query.id
        for query in queries
        if not (query.expect_answer_mode or query.expect_sources or query.top_source)
    ]
    assert asks_nothing == []


def test_every_must_answer_query_says_what_its_answer_cites_and_holds(
    queries: tuple[GoldQuery, ...],
) -> None:
    for query in queries:
        if "not-found" in query.expected_modes:
            continue
        assert query.expected_modes, query.id
        assert query.expect_cited, query.id
        assert query.require_answer_patterns, query.id


def test_a_required_pattern_is_a_fact_and_no_sentence(queries: tuple[GoldQuery, ...]) -> None:
    """A pattern that copies a sentence passes one wording of the docs, and no paraphrase."""
    too_long = [
        (query.id, alternative)
        for query in queries
        for pattern in query.require_answer_patterns
        for alternative in pattern.split("|")
        if len(alternative.split()) > 6
    ]
    assert too_long == []


def test_few_queries_require_a_model(queries: tuple[GoldQuery, ...]) -> None:
    """Only questions so close that no score can refuse them: all others are held keyless."""
    required = [query for query in queries if query.requires_model]
    assert 0 < len(required) <= len(queries) / 4
    for query in required:
        assert kinds(query)[0] in REFUSED, query.id
        assert (query.expect_answer_mode, query.expect_reason) == ("not-found", "declined"), (
            query.id
        )


def test_refusals_of_own_gold_set_expect_a_reason(queries: tuple[GoldQuery, ...]) -> None:
    for query in queries:
        refused = kinds(query)[0] in REFUSED
        assert (query.expect_answer_mode == "not-found") == refused, query.id
        assert (query.expect_reason in ("no-evidence", "declined")) == refused, query.id


def test_a_boundary_expects_a_note_and_forbids_its_words(queries: tuple[GoldQuery, ...]) -> None:
    folder = sites.ROOT / "notebook"
    for query in queries:
        if "boundary" not in query.tags:
            continue
        source = query.top_source or query.expect_sources[0]
        text = " ".join((folder / source).read_text("utf-8").lower().split())
        assert query.forbid_answer_patterns, query.id
        for pattern in query.forbid_answer_patterns:
            assert pattern.replace("\\", "").lower() in text, (query.id, pattern)
        if query.expect_answer_mode == "related-material":
            assert query.forbid_record_citations, query.id


def test_a_theme_query_names_who_has_to_lead(queries: tuple[GoldQuery, ...]) -> None:
    assert [q.id for q in queries if "theme" in q.tags and not q.top_source] == []
