"""A bundle and the database that it was published to: the same answers, to the last digit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from answerable.evaluate.gold import load_gold_queries
from answerable.function.mcp.pages import read_page
from answerable.postgres import store as postgres_store
from answerable.postgres.connections import Database
from answerable.postgres.options import SearchMethod
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import PostgresStore, open_postgres_store
from answerable.serve.index.manifest import LOCAL_PROFILE, Profile
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.sections import POOL_SIZE
from answerable.serve.stores.bundle import Bundle
from support import doubles, sites
from support.doubles import TINY, bundle_of, index_of, note, record
from support.frozen_site import FrozenSite
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
from support.scripted import LetterEmbedder

pytestmark = pytest.mark.deep

TOP = 8
OPEN = Profile(floor=0.0, note_floor=0.0)
WORDS = "rope chain buoy lantern storm wind crew knot sail anchor tide".split()


@dataclass
class Databases:
    """A server, and connections to it as a function has them."""

    server: PostgresServer
    database: Database

    def publish(self, bundle: Bundle, name: str, search: SearchMethod = "exact") -> PostgresStore:
        """The store of a bundle, published and opened as a function would."""
        publish_bundle_rows(bundle, DatabaseTarget(self.server.url(PUBLISHER_ROLE), name, search))
        return open_postgres_store(self.database.fetch, name)


@pytest.fixture(scope="module")
def databases(postgres_server: PostgresServer) -> Iterator[Databases]:
    database = Database(postgres_server.url(FUNCTION_ROLE))
    yield Databases(postgres_server, database)
    database.close()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Few passages are fetched at a time; how many beside the nearest."""
    monkeypatch.setattr(postgres_store, "NEAREST", 40)
    monkeypatch.setattr(postgres_store, "ROWS_PER_FETCH", 7)
    counts: list[int] = []
    passage_cosines = PostgresStore.passage_cosines

    def counting(store: PostgresStore, unit: Any, rows: Any) -> Any:
        counts.append(len(rows))
        return passage_cosines(store, unit, rows)

    monkeypatch.setattr(PostgresStore, "passage_cosines", counting)
    return counts


def check_alike(bundle: Bundle, store: PostgresStore, questions: list[str]) -> None:
    """Both retrieve the same in the same order with the same scores, and answer the same."""
    one, other = (make_engine(each, sites.local()) for each in (bundle, store))
    for question in questions:
        ours, theirs = (engine.retrieve(question, POOL_SIZE, None, 8) for engine in (one, other))
        assert theirs == ours, question
        assert other.answer_from(theirs) == one.answer_from(ours)


def list_questions(site: FrozenSite) -> list[str]:
    gold = site.folder / "eval" / "gold.yaml"
    return [query.query for query in load_gold_queries(gold, "Ines Calloway")]


def test_database_answers_as_the_bundle_does(databases: Databases, frozen_site: FrozenSite) -> None:
    store = databases.publish(frozen_site.bundle, "frozen")
    check_alike(frozen_site.bundle, store, list_questions(frozen_site))


def test_database_proves_its_ranking_by_few_passages(
    databases: Databases, frozen_site: FrozenSite, fetched: list[int]
) -> None:
    bundle, questions = frozen_site.bundle, list_questions(frozen_site)
    check_alike(bundle, databases.publish(bundle, "frozen"), questions)
    assert 0 < sum(fetched) / len(questions) < len(bundle.index.passage_ids) / 2


def test_database_has_the_pages_of_the_bundle(
    databases: Databases, frozen_site: FrozenSite
) -> None:
    """Both read the same text of each page, by its id and by its url."""
    bundle, store = frozen_site.bundle, databases.publish(frozen_site.bundle, "frozen")
    for name in bundle.index.record_ids[::5]:
        text = read_page(bundle, name, None)
        assert text is not None
        url = text.split("\n")[1]
        assert read_page(store, name, None) == text == read_page(store, url, None)
    assert read_page(store, "no-such-page", None) is None


@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_database_ranks_languages_and_leading_dimensions_as_the_bundle_does(
    databases: Databases, tmp_path: Path, floor: float
) -> None:
    names = [f"{one}-{other}" for one in WORDS for other in WORDS]
    pages = [
        record(name, f"<p>A {name.replace('-', ' holds the ')} {n} times.</p>",
               date=f"20{n % 20 + 10}-01-01", themes=[WORDS[n % 7]])
        for n, name in enumerate(names)
    ]  # fmt: skip
    notes = [note(word, f"{word} of the storm") for word in WORDS]
    embedder = LetterEmbedder(replace(TINY, dimensions=40))
    index = index_of(
        tmp_path, pages, notes, embedder, dimensions=36, weights={names[5]: 0.5},
        languages=dict.fromkeys(names[::3], "fr") | dict.fromkeys(names[::40], "de"),
    )  # fmt: skip
    profile = replace(LOCAL_PROFILE, floor=floor)
    bundle = bundle_of(tmp_path, index, profile, embedder.identity)
    store = databases.publish(bundle, f"languages-{floor}")
    for question in ("Is the latest rope of the chain?", "wind anchor 7", "lantern", "?!"):
        vector = embedder.embed([question])[0]
        for language in (None, "fr", "en-GB", "de", "it"):
            for near in (0, 5):
                ours, theirs = (
                    doubles.retrieve(each, question, vector, TOP, language, near)
                    for each in (bundle, store)
                )
                if language or len(ours.passages) == TOP:
                    # What is under the floor is not looked for where enough is above it.
                    ours, theirs = (replace(x, near_passages=()) for x in (ours, theirs))
                assert theirs == ours


@pytest.mark.parametrize(
    ("pages", "notes"),
    [
        ([], [note("one", "rope of hemp")]),
        ([record("rope", "<p>The rope.</p>")], []),
        ([], []),
    ],
    ids=["notes", "pages", "nothing"],
)
def test_database_serves_a_site_without_pages_or_notes(
    databases: Databases, tmp_path: Path, pages: list[Any], notes: list[Any]
) -> None:
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages, notes), OPEN)
    store = databases.publish(bundle, f"{len(pages)}-{len(notes)}")
    vector = LetterEmbedder().embed(["rope"])[0]
    ours, theirs = (doubles.retrieve(each, "rope", vector, 8) for each in (bundle, store))
    assert theirs == ours
    assert (bool(ours.passages), bool(ours.hints)) == (bool(pages), bool(notes))


def test_hnsw_index_finds_nearly_all_passages(
    databases: Databases, frozen_site: FrozenSite
) -> None:
    exact, indexed = (
        make_engine(databases.publish(frozen_site.bundle, search, search), sites.local())
        for search in ("exact", "hnsw")
    )
    statement = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw (codes halfvec_cosine%'"
    assert databases.server.execute(statement) == [(1,)]
    shared = total = 0
    for question in list_questions(frozen_site):
        found = [{s.item.id for s in e.retrieve(question).passages} for e in (exact, indexed)]
        shared, total = shared + len(found[0] & found[1]), total + len(found[0])
    assert shared >= 0.98 * total > 0
