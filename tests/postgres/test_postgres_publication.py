"""Publishing to a database: all or nothing, and one build of a site after the other."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.errors import BundleError, StorageError
from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.store import Store
from answerable.postgres import publication
from answerable.postgres.connections import Database
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.rows import make_rows
from answerable.postgres.store import PostgresStore, open_postgres_store, read_served_key
from support import doubles
from support.deadlines import PATIENCE
from support.doubles import bundle_of, index_of, note, record
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
from support.scripted import LetterEmbedder

pytestmark = pytest.mark.deep

WORDS = "rope chain buoy lantern storm wind crew knot sail anchor tide mast keel oar".split()


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    database = Database(postgres_server.url(FUNCTION_ROLE))
    yield database
    database.close()


def bundle(folder: Path, words: Sequence[str], holds: str = "boat") -> Bundle:
    """A page and a note for each word."""
    pages = [record(word, f"<p>The {word} holds the {holds}.</p>") for word in words]
    notes = [note(word, f"{word} {holds}") for word in words]
    return bundle_of(folder, index_of(folder, pages, notes), Profile(floor=0.0, note_floor=0.0))


def served(database: Database, name: str) -> PostgresStore:
    return open_postgres_store(database.fetch, name)


def texts(store: Store) -> list[str]:
    vector = LetterEmbedder().embed(["rope holds"])[0]
    return [s.item.text for s in doubles.retrieve(store, "rope holds", vector, 20).passages]


def list_tables(server: PostgresServer) -> set[str]:
    rows = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'answerable'")
    return {str(name) for (name,) in rows}


def test_an_open_index_is_whole_until_the_second_build_after_it(
    postgres_server: PostgresServer, database: Database, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "builds")
    first, second, third = (bundle(tmp_path / str(n), WORDS[:n]) for n in (3, 4, 5))
    assert publish_bundle_rows(first, target) > 0
    assert publish_bundle_rows(first, target) == 0
    old = served(database, "builds")
    before = list_tables(postgres_server)
    publish_bundle_rows(second, target)
    assert texts(old) == texts(first)
    publish_bundle_rows(third, target)
    assert texts(served(database, "builds")) == texts(third)
    with pytest.raises(StorageError, match="a build has just replaced it"):
        texts(old)
    assert list_tables(postgres_server) & before == {"sites"}


def test_the_second_of_two_builds_waits_for_the_first(
    postgres_server: PostgresServer,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "two")
    one, other = bundle(tmp_path / "1", WORDS[:3]), bundle(tmp_path / "2", WORDS[:4])
    second = threading.Thread(target=publish_bundle_rows, args=(other, target))

    def start_second(*arguments: Any) -> Any:
        # The first build has the lock, and has filled no table.
        monkeypatch.setattr(publication, "make_rows", make_rows)
        second.start()
        # A site of another name does not wait.
        publish_bundle_rows(other, replace(target, name="elsewhere"))
        assert second.is_alive()
        return make_rows(*arguments)

    monkeypatch.setattr(publication, "make_rows", start_second)
    publish_bundle_rows(one, target)
    second.join(PATIENCE)
    assert texts(served(database, "two")) == texts(other)


PUBLISH_HALF = """
import sys, time
from pathlib import Path
from answerable.postgres import publication
from answerable.engine.bundle import open_bundle

def stall(bundle, kind):
    if kind != "postings":
        return make_rows(bundle, kind)
    print("half", flush=True)
    time.sleep(3600)

make_rows, publication.make_rows = publication.make_rows, stall
target = publication.DatabaseTarget(sys.argv[1], "killed")
publication.publish_bundle_rows(open_bundle(Path(sys.argv[2])), target)
"""


def test_a_killed_build_leaves_what_is_served_and_no_table(
    postgres_server: PostgresServer, database: Database, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "killed")
    one, other = bundle(tmp_path / "1", WORDS[:3]), bundle(tmp_path / "2", WORDS[:4])
    publish_bundle_rows(one, target)
    before = list_tables(postgres_server)
    command = [sys.executable, "-c", PUBLISH_HALF, target.url, str(tmp_path / "2" / "bundle")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        process.kill()
    assert texts(served(database, "killed")) == texts(one)
    assert list_tables(postgres_server) == before
    publish_bundle_rows(other, target)
    assert texts(served(database, "killed")) == texts(other)


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ("", r"check `store\.url`"),
        (FUNCTION_ROLE, "publish as a role that may create tables in the schema answerable"),
    ],
)
def test_a_publisher_without_a_database_or_rights_is_told_what_to_do(
    postgres_server: PostgresServer, tmp_path: Path, user: str, message: str
) -> None:
    url = postgres_server.url(user) if user else "postgresql://me:hunter2@127.0.0.1:9/docs"
    with pytest.raises(StorageError, match=message) as refused:
        publish_bundle_rows(bundle(tmp_path, WORDS[:2]), DatabaseTarget(url, "denied"))
    assert "hunter2" not in str(refused.value)


def test_the_owner_of_a_database_publishes_without_roles(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    postgres_server.execute("CREATE DATABASE owned")
    url = postgres_server.url("postgres", "owned")
    one = bundle(tmp_path, WORDS[:2])
    publish_bundle_rows(one, DatabaseTarget(url))
    database = Database(url)
    assert texts(served(database, "site")) == texts(one)
    database.close()


def test_an_index_that_is_missing_or_of_another_version_is_refused(
    postgres_server: PostgresServer, database: Database, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE), "other")
    publish_bundle_rows(bundle(tmp_path, WORDS[:2]), target)
    with pytest.raises(BundleError, match="serves nothing called 'nothing'"):
        read_served_key(database.fetch, "nothing")
    postgres_server.execute("UPDATE answerable.sites SET format = 99 WHERE name = 'other'")
    with pytest.raises(BundleError, match="of format 99"):
        served(database, "other")
