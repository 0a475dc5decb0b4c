"""The bundle and the database that it was published to: the same answers, to the last digit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from answerable.evaluate.gold import load_gold_queries
from answerable.indexing.index import SiteInfo, build_index
from answerable.indexing.pages.page_index import index_record
from answerable.indexing.pages.records import PageBlock, PageMetadata, Record, Section
from answerable.postgres import store as postgres_store
from answerable.postgres import store as threshold_algorithm
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions as Address
from answerable.postgres.options import VectorSearch
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import PostgresStore, open_postgres_store, read_served_key
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.engine import Engine
from answerable.serve.http.mcp.pages import count_pages, list_pages, read_page
from answerable.serve.http.protections import Question, make_cache_key
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.rank import Scored
from answerable.serve.retrieval.sections import POOL_SIZE
from answerable.serve.stores.bundle import Bundle
from support import doubles, sites
from support.doubles import TINY, bundle_of, index_of, note, record
from support.postgres_server import PostgresServer
from support.scripted import LetterEmbedder

# Scores are finished by the same code over the same codes.
CLOSE = 1e-4


@dataclass
class Database:
    """A server, and connections to it as the function has them."""

    server: PostgresServer
    connections: DatabaseConnections

    def publish(self, bundle: Bundle, name: str, **search: Any) -> PostgresStore:
        """The store of a bundle, published and opened as a function would."""
        publish_bundle_rows(
            bundle, DatabaseTarget(self.server.url(PUBLISHER_ROLE), name, VectorSearch(**search))
        )
        return open_postgres_store(
            self.connections.fetch, read_served_key(self.connections.fetch, name)
        )


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    connections = DatabaseConnections(Address(postgres_server.url(FUNCTION_ROLE)))
    yield Database(postgres_server, connections)
    connections.close()


def check_alike(bundle: Bundle, store: PostgresStore, questions: Sequence[str]) -> int:
    """Both retrieve the same in the same order with the same scores; how many found anything."""
    one, other = (make_engine(each, sites.local()) for each in (bundle, store))
    answered = 0
    for question in questions:
        ours, theirs = (engine.retrieve(question, POOL_SIZE, None, 1) for engine in (one, other))
        for expected, got in ((ours.passages, theirs.passages), (ours.hints, theirs.hints)):
            assert [s.item for s in got] == [s.item for s in expected], question
            assert np.allclose(parts(got), parts(expected), rtol=0, atol=CLOSE), question
        # A bundle chooses near misses by their estimates, a database by their scores.
        for best, least in (
            (theirs.near_passages, ours.near_passages),
            (theirs.near_hints, ours.near_hints),
        ):
            assert len(best) == len(least)
            assert not best or best[0].score >= least[0].score
        assert one.answer_from(ours) == other.answer_from(theirs)
        answered += bool(ours.passages or ours.hints)
    return answered


def parts(scored: Sequence[Scored[Any]]) -> list[list[float]]:
    return [[s.score, s.base, s.lexical, s.dense, s.boost, s.page] for s in scored]


def test_database_ranks_our_manual_as_the_bundle_does(database: Database, tmp_path: Path) -> None:
    bundle = sites.opened(sites.own_manual(tmp_path))
    queries = load_gold_queries(sites.ROOT / "eval" / "gold.yaml", "The answerable authors")
    store = database.publish(bundle, "own")
    assert check_alike(bundle, store, [query.query for query in queries[::3]]) > 25
    check_pages_alike(bundle, store)


def check_pages_alike(bundle: Bundle, store: PostgresStore) -> None:
    """Both list the same pages, and read the same text of each by its id and by its url."""
    pages = list_pages(bundle, 0, count_pages(bundle))
    assert list_pages(store, 0, count_pages(store)) == pages
    assert len(pages) == len(bundle.record_ids)
    for page in pages[::5]:
        text = read_page(bundle, page.id, None)
        assert text is not None
        assert read_page(store, page.id, None) == text == read_page(store, page.url, None)
    assert read_page(store, "no-such-page", None) is None


def test_database_ranks_a_real_site_as_the_bundle_does(database: Database, tmp_path: Path) -> None:
    source = sites.DATA / "sites" / "httpx"
    if not source.is_dir():
        pytest.skip("the example sites are not there")
    config: Any = yaml.safe_load((source / "mkdocs.yml").read_text(encoding="utf-8"))
    config["plugins"] = ["search", {"answerable": {}}]
    config["docs_dir"] = str(source / "docs")
    sites.put(tmp_path / "mkdocs.yml", json.dumps(config))
    assert sites.build(tmp_path, "-q").returncode == 0
    bundle = sites.opened(tmp_path)
    lines = (sites.DATA / "questions" / "httpx.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    assert check_alike(bundle, database.publish(bundle, "httpx"), questions) > 20


@pytest.fixture(scope="module")
def clapnq(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, list[str]]:
    """A public question set: its texts as a bundle, and a part of its questions."""
    folder = sites.DATA / "retrieval" / "clapnq"
    if not folder.is_dir():
        pytest.skip("the question sets are not there")
    rows = [
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for name in ("corpus", "queries")
    ]
    pages = [
        Record(row["id"], f"/{n}/", row["title"], PageMetadata(), (_section(row["text"]),))
        for n, row in enumerate(rows[0])
    ]
    work = tmp_path_factory.mktemp("clapnq")
    site = SiteInfo("clapnq", None, "en")
    index = build_index(
        site, map(index_record, pages), [], lambda about: about, sites.local(), work / "cache"
    )
    bundle = bundle_of(work, index, LOCAL_PROFILE, sites.local().identity,
                       sites.local().identity.dimensions)  # fmt: skip
    return bundle, [row["text"] for row in rows[1]]


def _section(text: str) -> Section:
    parts = (part.strip() for part in text.split("\n"))
    return Section((), "", tuple(PageBlock("text", part) for part in parts if part))


def test_database_ranks_a_public_question_set_as_the_bundle_does(
    database: Database, clapnq: tuple[Bundle, list[str]]
) -> None:
    bundle, questions = clapnq
    store = database.publish(bundle, "clapnq")
    assert len(bundle.passage_ids) > postgres_store.MIN_NEAREST
    assert check_alike(bundle, store, questions[::4]) > 80


def test_threshold_algorithm_fetches_few_passages(
    database: Database, clapnq: tuple[Bundle, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, questions = clapnq
    store = database.publish(bundle, "clapnq")
    monkeypatch.setattr(postgres_store, "MIN_NEAREST", 40)
    monkeypatch.setattr(threshold_algorithm, "ROWS_PER_FETCH", 7)
    fetched: list[int] = []
    passage_cosines = PostgresStore.passage_cosines

    def counting(store: PostgresStore, unit: Any, rows: Any) -> Any:
        fetched.append(len(rows))
        return passage_cosines(store, unit, rows)

    monkeypatch.setattr(PostgresStore, "passage_cosines", counting)
    sample = questions[:30]
    assert check_alike(bundle, store, sample) > 20
    # The nearest alone prove it for some questions, and a few more at a time for the others.
    assert 0 < max(fetched) <= 7
    assert sum(fetched) / len(sample) < len(bundle.passage_ids) / 2


def test_database_ranks_the_leading_dimensions_as_the_bundle_does(
    database: Database, tmp_path: Path
) -> None:
    words = "rope chain buoy lantern storm wind crew knot sail anchor tide".split()
    pages = [
        record(f"{one}-{other}", f"<p>A {one} holds the {other} {n} times.</p>")
        for n, one in enumerate(words)
        for other in words
    ]
    notes = [note(f"{n}", f"{one} of the {words[n - 1]}") for n, one in enumerate(words)]
    embedder = LetterEmbedder(replace(TINY, dimensions=40))
    index = index_of(tmp_path, pages, notes, embedder)
    profile = replace(LOCAL_PROFILE, floor=0.3, note_floor=0.5)
    bundle = bundle_of(tmp_path, index, profile, embedder.identity, 36)
    store = database.publish(bundle, "leading")
    for question in ("Which rope holds the chain?", "wind anchor 7", "lantern"):
        vector = embedder.embed([question])[0]
        ours = doubles.retrieve(bundle, question, vector, POOL_SIZE)
        theirs = doubles.retrieve(store, question, vector, POOL_SIZE)
        assert theirs == ours


def test_database_snapshot_equals_the_bundle(database: Database, tmp_path: Path) -> None:
    pages = [
        record("rope", "<p>The latest rope of hemp holds.</p>", date="2024-01-01"),
        record("chain", "<p>The rope of the chain holds.</p>", date="2020-01-01", themes=["hemp"]),
        record("corde", "<p>La corde de chanvre tient la chaîne.</p>", aliases=["rope hemp"]),
    ]
    index = index_of(
        tmp_path, pages, [note("one", "rope of hemp")], languages={"corde": "fr"},
        weights={"chain": 0.5},
    )  # fmt: skip
    bundle = bundle_of(tmp_path, index, replace(LOCAL_PROFILE, floor=0.0, note_floor=0.0))
    store = database.publish(bundle, "languages")
    assert store.site == bundle.site
    for language in (None, "fr", "en-GB", "de"):
        for question in ("Is the latest rope hemp?", "corde", "chaîne rope", "?!"):
            vector = LetterEmbedder().embed([question])[0]
            one, other = (
                doubles.retrieve(each, question, vector, 8, language, 1) for each in (bundle, store)
            )
            assert one == other


def test_distant_language_is_searched_separately(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "MIN_NEAREST", 10)
    # Nothing is looked at beside what a search gives.
    for most in ("_MAX_PROOF_ROWS", "_MAX_INDEX_EXTRAS"):
        monkeypatch.setattr(postgres_store, most, 0)
    words = "rope chain buoy lantern storm wind crew knot sail anchor tide".split()
    english = [record(f"a{n}-{w}", f"<p>The {w} of rope {n}.</p>") for n in range(3) for w in words]
    french = [record(f"z-{w}", f"<p>Quelque jolie {w}.</p>") for w in words]
    index = index_of(tmp_path, english + french, [], languages={each.id: "fr" for each in french})
    bundle = bundle_of(tmp_path, index, replace(LOCAL_PROFILE, floor=0.05))
    vector = LetterEmbedder().embed(["The rope of wind"])[0]
    for how in ("exact", "hnsw"):
        store = database.publish(bundle, f"few-{how}", how=how, ef_search=10)
        result = doubles.retrieve(store, "The rope of wind", vector, 4, "fr")
        assert sum(scored.item.language == "fr" for scored in result.passages) >= 4


def test_database_serves_a_site_without_pages_or_notes(database: Database, tmp_path: Path) -> None:
    profile = replace(LOCAL_PROFILE, floor=0.0, note_floor=0.0)
    vector = LetterEmbedder().embed(["rope"])[0]
    for name, pages, notes in (
        ("notes", [], [note("one", "rope of hemp")]),
        ("pages", [record("rope", "<p>The rope.</p>")], []),
        ("nothing", [], []),
    ):
        bundle = bundle_of(tmp_path / name, index_of(tmp_path / name, pages, notes), profile)
        store = database.publish(bundle, name)
        one, other = (doubles.retrieve(each, "rope", vector, 8) for each in (bundle, store))
        assert one == other
        assert (bool(one.passages), bool(one.hints)) == (bool(pages), bool(notes))


def test_hnsw_index_finds_nearly_all_passages(
    database: Database, clapnq: tuple[Bundle, list[str]]
) -> None:
    bundle, questions = clapnq
    exact = database.publish(bundle, "clapnq")
    store = database.publish(bundle, "indexed", how="hnsw", ef_search=80)
    ((index,),) = database.server.execute(
        f"SELECT indexdef FROM pg_indexes WHERE tablename = 'vectors_{store.store_key}' "
        "AND indexdef LIKE '%hnsw%'"
    )
    assert "halfvec_cosine_ops" in str(index)
    one, other = (engine_of(each) for each in (exact, store))
    # An answer by the one is none by the other.
    assert make_cache_key(one, Question("Who?")) != make_cache_key(other, Question("Who?"))
    shared = total = 0
    for question in questions[:40]:
        ids = [{s.item.id for s in e.retrieve(question).passages} for e in (one, other)]
        shared, total = shared + len(ids[0] & ids[1]), total + len(ids[0])
    assert shared >= 0.98 * total > 0


def engine_of(store: PostgresStore) -> Engine:
    return make_engine(store, sites.local())


def test_hint_is_found_by_its_label_alone(database: Database, tmp_path: Path) -> None:
    notes = [note(f"n{n:03}", f"storm at sea {n} " + "abcdefgh"[n % 8] * n) for n in range(150)]
    notes[77] = replace(notes[77], label="Postmortem of the March outage", body="zzz qqq xxx")
    pages = [record("rope", "<p>The rope.</p>")]
    profile = replace(LOCAL_PROFILE, floor=0.0, note_floor=0.0)
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages, notes), profile)
    store = database.publish(bundle, "labels")
    for question in ("storm at the March outage", "Label n014 of the sea", "storm"):
        (vector,) = LetterEmbedder().embed([question])
        ours, theirs = (
            doubles.retrieve(each, question, vector, POOL_SIZE) for each in (bundle, store)
        )
        assert [s.item for s in theirs.hints] == [s.item for s in ours.hints]
        assert np.allclose(parts(theirs.hints), parts(ours.hints), rtol=0, atol=CLOSE)
