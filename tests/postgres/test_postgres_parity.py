"""The bundle and the database that it was published to: the same answers, to the last digit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.evaluate.gold import load_gold_queries
from answerable.function.mcp.pages import read_page
from answerable.postgres import store as postgres_store
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions as Address
from answerable.postgres.options import SearchMethod
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import PostgresStore, open_postgres_store, read_served_key
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.rank import Scored
from answerable.serve.retrieval.sections import POOL_SIZE
from answerable.serve.stores.bundle import Bundle
from support import doubles, sites
from support.doubles import TINY, bundle_of, index_of, note, record
from support.frozen_site import FrozenSite
from support.postgres_server import PostgresServer
from support.scripted import LetterEmbedder

pytestmark = pytest.mark.deep

# Scores are finished by the same code over the same codes.
CLOSE = 1e-4


@dataclass
class Database:
    """A server, and connections to it as the function has them."""

    server: PostgresServer
    connections: DatabaseConnections

    def publish(self, bundle: Bundle, name: str, search: SearchMethod = "exact") -> PostgresStore:
        """The store of a bundle, published and opened as a function would."""
        publish_bundle_rows(bundle, DatabaseTarget(self.server.url(PUBLISHER_ROLE), name, search))
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


def list_questions(site: FrozenSite) -> list[str]:
    gold = site.folder / "eval" / "gold.yaml"
    return [query.query for query in load_gold_queries(gold, "Ines Calloway")]


def test_database_ranks_the_frozen_site_as_the_bundle_does(
    database: Database, frozen_site: FrozenSite
) -> None:
    bundle = frozen_site.bundle
    store = database.publish(bundle, "frozen")
    assert check_alike(bundle, store, list_questions(frozen_site)) > 25
    check_pages_alike(bundle, store)


def check_pages_alike(bundle: Bundle, store: PostgresStore) -> None:
    """Both read the same text of each page, by its id and by its url."""
    for name in bundle.record_ids[::5]:
        text = read_page(bundle, name, None)
        assert text is not None
        url = text.split("\n")[1]
        assert read_page(store, name, None) == text == read_page(store, url, None)
    assert read_page(store, "no-such-page", None) is None


def test_threshold_algorithm_fetches_few_passages(
    database: Database, frozen_site: FrozenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, questions = frozen_site.bundle, list_questions(frozen_site)
    store = database.publish(bundle, "frozen")
    monkeypatch.setattr(postgres_store, "MIN_NEAREST", 40)
    monkeypatch.setattr(postgres_store, "ROWS_PER_FETCH", 7)
    fetched: list[int] = []
    passage_cosines = PostgresStore.passage_cosines

    def counting(store: PostgresStore, unit: Any, rows: Any) -> Any:
        fetched.append(len(rows))
        return passage_cosines(store, unit, rows)

    monkeypatch.setattr(PostgresStore, "passage_cosines", counting)
    assert check_alike(bundle, store, questions) > 25
    assert 0 < sum(fetched) / len(questions) < len(bundle.passage_ids) / 2


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


def test_hnsw_index_finds_nearly_all_passages(database: Database, frozen_site: FrozenSite) -> None:
    bundle = frozen_site.bundle
    exact = database.publish(bundle, "frozen")
    store = database.publish(bundle, "indexed", "hnsw")
    ((index,),) = database.server.execute(
        f"SELECT indexdef FROM pg_indexes WHERE tablename = 'vectors_{store.store_key}' "
        "AND indexdef LIKE '%hnsw%'"
    )
    assert "halfvec_cosine_ops" in str(index)
    one, other = (make_engine(opened, sites.local()) for opened in (exact, store))
    shared = total = 0
    for question in list_questions(frozen_site):
        ids = [{s.item.id for s in e.retrieve(question).passages} for e in (one, other)]
        shared, total = shared + len(ids[0] & ids[1]), total + len(ids[0])
    assert shared >= 0.98 * total > 0
