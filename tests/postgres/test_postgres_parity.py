"""A bundle and the database that it was published to: the same answers, to the last digit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.check.gold import load_gold_queries
from answerable.engine.bundle import Bundle
from answerable.engine.index.manifest import LOCAL_PROFILE, Profile
from answerable.engine.providers import make_engine
from answerable.engine.retrieval.retrieve import POOL_SIZE
from answerable.function.mcp.tools import read_page
from answerable.postgres import store as postgres_store
from answerable.postgres.connections import Database
from answerable.postgres.options import SearchMethod
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import PostgresStore, open_postgres_store
from support import doubles, sites
from support.doubles import TINY, bundle_of, index_of, note, record
from support.frozen_site import FrozenSite
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
from support.scripted import LetterEmbedder

pytestmark = pytest.mark.deep

Publish = Callable[..., PostgresStore]
TOP = 8
WORDS = "rope chain buoy lantern storm wind crew knot sail anchor tide".split()


@pytest.fixture(scope="module")
def publish(postgres_server: PostgresServer) -> Iterator[Publish]:
    """Publish a bundle under a name, and open its store as a function would."""
    database = Database(postgres_server.url(FUNCTION_ROLE))
    url = postgres_server.url(PUBLISHER_ROLE)

    def publish(bundle: Bundle, name: str, search: SearchMethod = "exact") -> PostgresStore:
        publish_bundle_rows(bundle, DatabaseTarget(url, name, search))
        return open_postgres_store(database.fetch, name)

    yield publish
    database.close()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many passages are fetched beside the nearest, of which there are few."""
    monkeypatch.setattr(postgres_store, "NEAREST", 40)
    monkeypatch.setattr(postgres_store, "ROWS_PER_FETCH", 7)
    counts: list[int] = []
    passage_cosines = PostgresStore.passage_cosines

    def counting(store: PostgresStore, unit: Any, rows: Any) -> Any:
        counts.append(len(rows))
        return passage_cosines(store, unit, rows)

    monkeypatch.setattr(PostgresStore, "passage_cosines", counting)
    return counts


def list_questions(site: FrozenSite) -> list[str]:
    gold = site.folder / "eval" / "gold.yaml"
    return [query.query for query in load_gold_queries(gold, "Ines Calloway")]


def test_database_answers_as_the_bundle_does(
    publish: Publish, frozen_site: FrozenSite, fetched: list[int]
) -> None:
    bundle, questions = frozen_site.bundle, list_questions(frozen_site)
    one, other = (
        make_engine(store, sites.local()) for store in (bundle, publish(bundle, "frozen"))
    )
    for question in questions:
        ours, theirs = (engine.retrieve(question, POOL_SIZE, None, 8) for engine in (one, other))
        assert theirs == ours, question
        assert other.answer_from(theirs) == one.answer_from(ours)
    assert 0 < sum(fetched) / len(questions) < len(bundle.index.passage_ids) / 2


def test_database_has_the_pages_of_the_bundle(publish: Publish, frozen_site: FrozenSite) -> None:
    bundle, store = frozen_site.bundle, publish(frozen_site.bundle, "frozen")
    for name in bundle.index.record_ids[::5]:
        text = read_page(bundle, name, None)
        assert text is not None
        url = text.split("\n")[1]
        assert read_page(store, name, None) == text == read_page(store, url, None)
    assert read_page(store, "no-such-page", None) is None


@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_database_ranks_languages_and_leading_dimensions_as_the_bundle_does(
    publish: Publish, tmp_path: Path, floor: float
) -> None:
    names = [f"{one}-{other}" for one in WORDS for other in WORDS]
    pages = [
        record(name, f"<p>A {name.replace('-', ' holds the ')} {n} times.</p>",
               date=f"20{n % 20 + 10}-01-01", themes=[WORDS[n % 7]])
        for n, name in enumerate(names)
    ]  # fmt: skip
    embedder = LetterEmbedder(replace(TINY, dimensions=40))
    index = index_of(
        tmp_path, pages, [note(word, f"{word} of the storm") for word in WORDS], embedder,
        languages=dict.fromkeys(names[::3], "fr") | dict.fromkeys(names[::40], "de"),
        weights={names[5]: 0.5}, dimensions=36,
    )  # fmt: skip
    bundle = bundle_of(tmp_path, index, replace(LOCAL_PROFILE, floor=floor), embedder.identity)
    store = publish(bundle, f"languages-{floor}")
    for question in ("Is the latest rope of the chain?", "wind anchor 7", "lantern", "?!"):
        vector = embedder.embed([question])[0]
        for language in (None, "fr", "en-GB", "de", "it"):
            ours, theirs = (
                doubles.retrieve(each, question, vector, TOP, language, 5)
                for each in (bundle, store)
            )
            if language or len(ours.passages) == TOP:
                # What is under the floor is not looked for where enough is above it.
                ours, theirs = (replace(found, near_passages=()) for found in (ours, theirs))
            assert theirs == ours


@pytest.mark.parametrize("words", [("", "rope"), ("rope", ""), ("", "")])
def test_database_serves_a_site_without_pages_or_notes(
    publish: Publish, tmp_path: Path, words: tuple[str, str]
) -> None:
    page, private = words
    pages = [record(page, f"<p>The {page}.</p>")] if page else []
    index = index_of(tmp_path, pages, [note("one", f"{private} of hemp")] if private else [])
    bundle = bundle_of(tmp_path, index, Profile(floor=0.0, note_floor=0.0))
    store = publish(bundle, f"{page}-{private}")
    vector = LetterEmbedder().embed(["rope"])[0]
    ours, theirs = (doubles.retrieve(each, "rope", vector, TOP) for each in (bundle, store))
    assert theirs == ours
    assert (bool(ours.passages), bool(ours.hints)) == (bool(page), bool(private))


def test_hnsw_index_finds_nearly_all_passages(
    publish: Publish, postgres_server: PostgresServer, frozen_site: FrozenSite
) -> None:
    exact, indexed = (
        make_engine(publish(frozen_site.bundle, search, search), sites.local())
        for search in ("exact", "hnsw")
    )
    statement = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw (codes halfvec_cosine%'"
    assert postgres_server.execute(statement) == [(1,)]
    shared = total = 0
    for question in list_questions(frozen_site):
        found = [{s.item.id for s in e.retrieve(question).passages} for e in (exact, indexed)]
        shared, total = shared + len(found[0] & found[1]), total + len(found[0])
    assert shared >= 0.98 * total > 0
