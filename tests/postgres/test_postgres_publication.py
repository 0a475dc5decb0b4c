"""Publishing to a database: only what changed, all or nothing, and by one build at a time."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from answerable.postgres import catalog, publication
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE, PublisherConnection
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, PublishedRows, publish_bundle_rows
from answerable.postgres.rows import check_text
from answerable.postgres.store import PostgresStore, open_postgres_store, read_served_key
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.errors import BundleError, SiteError, StorageError
from answerable.serve.retrieval.store import Store
from answerable.serve.stores.bundle import Bundle
from support import doubles
from support.deadlines import until
from support.doubles import bundle_of, index_of, note, record
from support.postgres_server import PostgresServer
from support.scripted import LetterEmbedder
from support.sites import NOTES, build, failure, put, write_site

OPEN = Profile(floor=0.0, note_floor=0.0)
WORDS = "rope chain buoy lantern storm wind crew knot sail anchor tide mast keel oar".split()


@pytest.fixture(scope="module")
def connections(postgres_server: PostgresServer) -> Iterator[DatabaseConnections]:
    pool = DatabaseConnections(DatabaseOptions(postgres_server.url(FUNCTION_ROLE)))
    yield pool
    pool.close()


def bundle(folder: Path, words: Sequence[str], holds: str = "boat") -> Bundle:
    """A page and a note for each word."""
    pages = [record(word, f"<p>The {word} holds the {holds}.</p>") for word in words]
    return bundle_of(
        folder, index_of(folder, pages, [note(w, f"{w} {holds}") for w in words]), OPEN
    )


def served(connections: DatabaseConnections, name: str) -> PostgresStore:
    return open_postgres_store(connections.fetch, read_served_key(connections.fetch, name))


def texts(store: Store) -> list[str]:
    """List the texts of the first passages; all of them are of one bundle."""
    vector = LetterEmbedder().embed(["rope holds"])[0]
    return [s.item.text for s in doubles.retrieve(store, "rope holds", vector, 20).passages]


def tables(server: PostgresServer) -> set[str]:
    rows = server.execute(
        "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname LIKE 'answerable%'"
    )
    return {str(name) for (name,) in rows}


def test_all_rows_are_sent_once(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "changes")
    first = bundle(tmp_path / "1", WORDS)
    done = publish_bundle_rows(first, target)
    counts = first.manifest.counts
    rows = 2 * counts["passages"] + counts["hints"] + counts["windows"] + counts["terms"]
    assert done.sent > rows
    assert publish_bundle_rows(first, target) == PublishedRows(done.key)

    pages = [record(w, f"<p>The {w} holds the boat.</p>") for w in WORDS]
    pages[3] = record(WORDS[3], "<p>The lantern holds the ship.</p>")
    index = index_of(tmp_path / "2", pages, [note(w, f"{w} boat") for w in WORDS])
    assert publish_bundle_rows(bundle_of(tmp_path / "2", index, OPEN), target).sent > rows
    assert "The lantern holds the ship." in texts(served(connections, "changes"))


def test_a_bundle_that_was_served_before_is_served_again_at_once(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "back")
    one, other = bundle(tmp_path / "1", WORDS), bundle(tmp_path / "2", WORDS, "ship")
    keys = [publish_bundle_rows(each, target).key for each in (one, other)]
    assert publish_bundle_rows(one, target) == PublishedRows(keys[0])
    assert served(connections, "back").manifest.id == one.manifest.id


def test_a_superseded_bundle_is_removed_after_its_grace(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "grace")
    first = publish_bundle_rows(bundle(tmp_path / "1", WORDS[:3]), target)
    old = served(connections, "grace")
    publish_bundle_rows(bundle(tmp_path / "2", WORDS[:4]), target)
    assert len(texts(old)) == 3
    done = publish_bundle_rows(bundle(tmp_path / "3", WORDS[:5]), replace(target, grace=0.0))
    assert done.removed == 2
    assert not any(name.endswith(first.key) for name in tables(postgres_server))
    with pytest.raises(StorageError, match="no longer in the database"):
        texts(old)
    assert len(texts(served(connections, "grace"))) == 5


def test_a_bundle_published_again_during_its_removal_stays(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "again")
    one, other = bundle(tmp_path / "1", WORDS[:3]), bundle(tmp_path / "2", WORDS[:4])
    publish_bundle_rows(one, target)
    lock, turns = catalog.lock_site_name, iter([False, True])

    def late(connection: PublisherConnection, name: str) -> None:
        if next(turns, False):
            # The first has been listed as superseded; another build serves it again.
            publish_bundle_rows(one, target)
        lock(connection, name)

    monkeypatch.setattr(catalog, "lock_site_name", late)
    assert publish_bundle_rows(other, replace(target, grace=0.0)).removed == 0
    assert len(texts(served(connections, "again"))) == 3


def test_dropped_tables_are_created_again(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "dropped")
    served_bundle = bundle(tmp_path, WORDS[:3])
    key = publish_bundle_rows(served_bundle, target).key
    postgres_server.execute(f"DROP TABLE answerable.passages_{key}")
    assert publish_bundle_rows(served_bundle, target).sent > 0
    assert len(texts(served(connections, "dropped"))) == 3


def work_before_serving(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Do something once a bundle's tables are filled and before it is served, in that one time."""
    serve = catalog.serve_bundle_key

    def serve_later(*arguments: Any) -> None:
        monkeypatch.setattr(publication, "serve_bundle_key", serve)
        work()
        serve(*arguments)

    monkeypatch.setattr(publication, "serve_bundle_key", serve_later)


def test_the_grace_begins_when_another_is_served(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "clock")
    publish_bundle_rows(bundle(tmp_path / "1", WORDS[:3]), target)
    work_before_serving(monkeypatch, lambda: time.sleep(0.2))
    publish_bundle_rows(bundle(tmp_path / "2", WORDS[:4]), target)
    # What the second took before it was served is none of the first one's grace.
    ((gap,),) = postgres_server.execute(
        "SELECT extract(epoch FROM max(superseded_at) - max(published_at))::float "
        "FROM answerable.bundles WHERE name = 'clock'"
    )
    assert isinstance(gap, float)
    assert gap >= 0.2


def test_other_roles_cannot_publish(postgres_server: PostgresServer, tmp_path: Path) -> None:
    before = tables(postgres_server)
    with pytest.raises(StorageError, match="publish as answerable_publisher"):
        publish_bundle_rows(
            bundle(tmp_path, WORDS[:2]), DatabaseTarget(postgres_server.url(), "root")
        )
    assert tables(postgres_server) == before


def test_the_second_of_two_publishers_at_once_is_refused(
    postgres_server: PostgresServer,
    connections: DatabaseConnections,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "two")
    one, other = bundle(tmp_path / "1", WORDS[:3]), bundle(tmp_path / "2", WORDS[:4])

    def meanwhile() -> None:
        with pytest.raises(StorageError, match="another build is publishing 'two'"):
            publish_bundle_rows(other, target)
        # A site of another name is nobody's business.
        publish_bundle_rows(other, replace(target, name="elsewhere"))

    work_before_serving(monkeypatch, meanwhile)
    publish_bundle_rows(one, target)
    assert len(texts(served(connections, "two"))) == 3


PUBLISH = """
import sys
from pathlib import Path
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.serve.stores.bundle import open_bundle

url, *folders = sys.argv[1:]
print("ready", flush=True)
for folder in folders:
    publish_bundle_rows(open_bundle(Path(folder)), DatabaseTarget(url, "killed"))
"""


def test_a_publisher_killed_at_any_moment_leaves_what_is_served(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "killed")
    many = [f"{one}{other}" for one in WORDS for other in WORDS]
    bundles = [bundle(tmp_path / str(n), many, f"boat {word}") for n, word in enumerate(WORDS[:3])]
    bundle_by_id = {each.manifest.id: each for each in bundles}
    started = time.monotonic()
    publish_bundle_rows(bundles[0], target)
    length = time.monotonic() - started
    folders = [str(tmp_path / str(n) / "bundle") for n in (1, 2, 0)] * 20
    choice, killed = random.Random(3), 0
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISH, target.url, *folders], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(choice.uniform(0.1, 3) * length)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        process.stdout.close()
        store = served(connections, "killed")
        whole = bundle_by_id[store.manifest.id]
        assert texts(store) == texts(whole)
    assert killed == 10
    until_free(postgres_server)
    choice.shuffle(bundles)
    for each in bundles:
        publish_bundle_rows(each, replace(target, grace=0.0))
        assert texts(served(connections, "killed")) == texts(each)
    keys = {str(key) for (key,) in postgres_server.execute("SELECT key FROM answerable.bundles")}
    stray = {n for n in tables(postgres_server) if n.rpartition("_")[2] not in keys}
    assert stray == {"answerable.bundles", "answerable.served", "answerable.names"}


def until_free(server: PostgresServer) -> None:
    """Wait until the server has noticed that its publishers are gone."""
    statement = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%publisher'"
    until(lambda: server.execute(statement) == [(0,)])


def test_a_bundle_that_cannot_be_published_is_refused_with_the_reason(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    served_bundle = bundle(tmp_path, WORDS[:2])
    away = DatabaseTarget("postgresql://me:hunter2@127.0.0.1:9/docs")
    with pytest.raises(StorageError, match=r"check `store\.url`") as gone:
        publish_bundle_rows(served_bundle, away)
    assert "hunter2" not in str(gone.value)
    with pytest.raises(StorageError, match="answerable database roles"):
        publish_bundle_rows(
            served_bundle, DatabaseTarget(postgres_server.url(FUNCTION_ROLE), "denied")
        )
    postgres_server.execute("CREATE DATABASE latin ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(StorageError, match="encoding is not UTF8"):
        publish_bundle_rows(served_bundle, DatabaseTarget(postgres_server.url("postgres", "latin")))
    for text in ("a\0b", "a\ud800b"):
        with pytest.raises(SiteError, match=r"guide/page: it holds U\+0000 or half"):
            check_text(text, "guide/page")


def test_a_bundle_not_served_or_of_another_version_is_refused(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    key = publish_bundle_rows(
        bundle(tmp_path, WORDS[:2]), DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "other")
    ).key
    with pytest.raises(BundleError, match="serves nothing called 'nothing'"):
        read_served_key(connections.fetch, "nothing")
    for change, message in (
        ("format = 99", "of format 99"),
        ("manifest = replace(manifest, '\"wire\": 7', '\"wire\": 9')", "is not wire version 7"),
        ("manifest = '{'", "manifest is malformed"),
        ("id = repeat('0', 64)", "another id than its manifest"),
        ("""search = '{"how": "guess"}'""", "a search that this version does not know"),
    ):
        with psycopg.connect(postgres_server.url()) as connection:
            connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM answerable.bundles")
            connection.execute(
                f"UPDATE answerable.bundles SET {change} WHERE key = '{key}'".encode()
            )
            connection.commit()
            with pytest.raises(BundleError, match=message):
                open_postgres_store(connections.fetch, key)
            connection.execute(f"DELETE FROM kept WHERE key <> '{key}'".encode())
            connection.execute(
                b"UPDATE answerable.bundles b SET (format, manifest, id, search) = "
                b"(k.format, k.manifest, k.id, k.search) FROM kept k WHERE k.key = b.key"
            )
        assert open_postgres_store(connections.fetch, key)


def test_the_structure_of_a_passage_is_published_and_checked(
    postgres_server: PostgresServer, connections: DatabaseConnections, tmp_path: Path
) -> None:
    html = (
        "<p>Use <code>a</code> of <a href=/x/>it</a>:<pre>a()</pre><ol><li>one<li>two</ol>"
        "<table><tr><th>key<tr><td>rope</table>"
    )
    site_bundle = bundle_of(tmp_path, index_of(tmp_path, [record("page", html)]), OPEN)
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "structured")
    key = publish_bundle_rows(site_bundle, target).key
    store = served(connections, "structured")
    passage = store.passages_at([0])[0]
    assert passage == site_bundle.passage(0)
    assert {block.kind for block in passage.blocks} == {"text", "code", "item", "row"}
    assert {span.kind for span in passage.spans} == {"code", "link", "cell"}
    for damaged in (
        '[[["script", 0, 5]], []]',
        '[[], [["link", 0, 3, "javascript:x"]]]',
        "{",
        "[]",
    ):
        postgres_server.execute(f"UPDATE answerable.passages_{key} SET structure = '{damaged}'")
        with pytest.raises(BundleError, match=r"passage 'page' is malformed .*publish again"):
            store.passages_at([0])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("searched"), notes=NOTES)


def options(site: Path, server: PostgresServer, **store: object) -> None:
    write_site(site, notes=NOTES, options={"store": {"url": server.url(PUBLISHER_ROLE), **store}})


def test_an_index_is_published_if_the_gold_set_admits_it(
    site: Path, postgres_server: PostgresServer, connections: DatabaseConnections
) -> None:
    options(site, postgres_server, search="hnsw", name="gold")
    refused = build(site)
    assert "store.search: hnsw needs a gold set to certify it" in refused.stderr
    assert not (site / "function").exists()
    queries = [
        {"id": "chain", "query": "How thick is the chain?", "expectSources": ["mooring"]},
        {"id": "off", "query": "Who wrote Hamlet?", "expectAnswerMode": "not-found"},
    ]
    put(site / "eval" / "gold.yaml", json.dumps({"queries": queries}))
    done = build(site, "-v")
    assert done.returncode == 0, done.stderr
    assert served(connections, "gold").search == "hnsw"


def test_an_option_of_the_store_that_is_wrong_is_named(
    site: Path, postgres_server: PostgresServer
) -> None:
    for wrong, message in (
        ({"url": "mysql://host/db"}, "store.url: it has to begin with postgresql://"),
        ({"name": "a b"}, "store.name: 'a b' is not a valid name"),
    ):
        options(site, postgres_server, **wrong)
        assert message in failure(site)
    options(site, postgres_server, url=None)
    done = build(site, "--strict")
    assert (done.returncode, "store.url: it is empty" in done.stderr) == (1, True)
