"""Who may do what in the database, and that no word of a note is anywhere in it."""

import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from answerable.indexing.audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import read_notebook
from answerable.serve.errors import LeakError
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
from support.sites import NOTES, build_here, write_site

pytestmark = pytest.mark.deep

# Every word of the note that stands nowhere else.
PRIVATE = ("gearbox", "scrapped", "tractor", "electric")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Path:
    """A site with notes that a build has published to the database."""
    store = {"url": postgres_server.url(PUBLISHER_ROLE)}
    folder = write_site(tmp_path_factory.mktemp("roles"), notes=NOTES, options={"store": store})
    build_here(folder)
    return folder


@pytest.fixture
def tables(site: Path, postgres_server: PostgresServer) -> list[str]:
    """The full name of each table."""
    assert site
    statement = "SELECT 'answerable.' || tablename FROM pg_tables WHERE schemaname = 'answerable'"
    return [str(name) for (name,) in postgres_server.execute(statement)]


@pytest.fixture
def function(postgres_server: PostgresServer) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """The function's role, with its own guard against writing taken away, as a thief would."""
    with psycopg.connect(postgres_server.url(FUNCTION_ROLE), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        yield connection


def test_the_function_reads_and_cannot_write(
    function: psycopg.Connection[tuple[object, ...]], tables: list[str]
) -> None:
    for name in tables:
        function.execute(f"SELECT * FROM {name}".encode())
        for statement in (
            *(f"INSERT INTO {name} SELECT * FROM {name}", f"DELETE FROM {name}"),
            *(f"TRUNCATE {name}", f"DROP TABLE {name}", f"ALTER TABLE {name} ADD COLUMN more text"),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                function.execute(statement.encode())
    for statement in ("CREATE TABLE answerable.more (x int)", "SET ROLE answerable_publisher"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            function.execute(statement.encode())


def test_nobody_else_reads_anything(postgres_server: PostgresServer, tables: list[str]) -> None:
    postgres_server.execute("CREATE ROLE stranger LOGIN")
    with psycopg.connect(postgres_server.url("stranger"), autocommit=True) as connection:
        for name in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {name}".encode())


def test_no_word_of_a_note_is_in_the_database(site: Path, postgres_server: PostgresServer) -> None:
    notes = list(read_notebook(site / "notebook").notes)
    dump = partial(
        postgres_server.tool, "pg_dump", "-h", str(postgres_server.folder), "-U", "postgres"
    )
    dumped = dump("--inserts", "postgres").encode()
    assert b"twelve millimetres" in dumped
    (columns,) = postgres_server.execute("SELECT columns FROM answerable.sites")[0]
    assert isinstance(columns, bytes)
    assert b"Plans for the winch" in zlib.decompress(columns)
    for name, data in (("dump.sql", dumped), ("columns.z", columns)):
        audit_artifacts(notes, [Artifact(name, partial(bytes, data))])
    for data in (dumped, zlib.decompress(columns)):
        assert not [word for word in PRIVATE if word.encode() in data.lower()]
    # The audit does find a note that lies there.
    postgres_server.execute(
        f"CREATE TABLE answerable.leak AS SELECT $${notes[0].body}$$::text AS words"
    )
    leaking = dump("postgres").encode()
    postgres_server.execute("DROP TABLE answerable.leak")
    with pytest.raises(LeakError, match=r"winch\.md"):
        audit_artifacts(notes, [Artifact("dump.sql", lambda: leaking)])
