"""Publishing to a database: only what changed, all or nothing, and by one build at a time."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.postgres import catalog, publication
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, PublishedRows, publish_bundle_rows
from answerable.postgres.rows import check_text
from answerable.postgres.store import PostgresStore, open_postgres_store, read_served_key
from answerable.serve.errors import BundleError, SiteError, StorageError
from answerable.serve.index.manifest import Profile
from answerable.serve.retrieval.store import Store
from answerable.serve.stores.bundle import Bundle
from support import doubles
from support.deadlines import until
from support.doubles import bundle_of, index_of, note, record
from support.postgres_server import PostgresServer
from support.scripted import LetterEmbedder

pytestmark = pytest.mark.deep

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


def test_the_second_of_two_publishers_at_once_is_refused(
    postgres_server: PostgresServer,
    connections: DatabaseConnections,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "two")
    one, other = bundle(tmp_path / "1", WORDS[:3]), bundle(tmp_path / "2", WORDS[:4])

    serve = catalog.serve_bundle_key

    def serve_later(*arguments: Any) -> None:
        # The tables of the first are filled, and it is not served yet.
        monkeypatch.setattr(publication, "serve_bundle_key", serve)
        with pytest.raises(StorageError, match="another build is publishing 'two'"):
            publish_bundle_rows(other, target)
        # A site of another name is nobody's business.
        publish_bundle_rows(other, replace(target, name="elsewhere"))
        serve(*arguments)

    monkeypatch.setattr(publication, "serve_bundle_key", serve_later)
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
    publish_bundle_rows(bundles[0], target)
    folders = [str(tmp_path / str(n) / "bundle") for n in (1, 2, 0)] * 20
    choice = random.Random(3)
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISH, target.url, *folders], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(choice.uniform(0, 2))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        store = served(connections, "killed")
        whole = bundle_by_id[store.manifest.id]
        assert texts(store) == texts(whole)
    # The server has to notice that its publishers are gone.
    statement = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%publisher'"
    until(lambda: postgres_server.execute(statement) == [(0,)])
    choice.shuffle(bundles)
    for each in bundles:
        publish_bundle_rows(each, replace(target, grace=0.0))
        assert texts(served(connections, "killed")) == texts(each)
    keys = {str(key) for (key,) in postgres_server.execute("SELECT key FROM answerable.bundles")}
    stray = {n for n in tables(postgres_server) if n.rpartition("_")[2] not in keys}
    assert stray == {"answerable.bundles", "answerable.served", "answerable.names"}


def test_a_bundle_that_cannot_be_published_is_refused_with_the_reason(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    served_bundle = bundle(tmp_path, WORDS[:2])
    away = DatabaseTarget("postgresql://me:hunter2@127.0.0.1:9/docs")
    with pytest.raises(StorageError, match=r"check `store\.url`") as gone:
        publish_bundle_rows(served_bundle, away)
    assert "hunter2" not in str(gone.value)
    with pytest.raises(StorageError, match="publish as answerable_publisher"):
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
    for column, value, message in (
        ("format", "99", "of format 99"),
        ("manifest", "'{'", "manifest is malformed"),
        ("id", "repeat('0', 64)", "another id than its manifest"),
        ("search", """'{"how": "guess"}'""", "a search that this version does not know"),
    ):
        row = f"answerable.bundles WHERE key = '{key}'"
        ((before,),) = postgres_server.execute(f"SELECT {column}::text FROM {row}")
        for change, error in ((value, message), (f"$${before}$$", None)):
            statement = f"UPDATE answerable.bundles SET {column} = {change} WHERE key = '{key}'"
            postgres_server.execute(statement)
            if error:
                with pytest.raises(BundleError, match=error):
                    open_postgres_store(connections.fetch, key)
        assert open_postgres_store(connections.fetch, key)
