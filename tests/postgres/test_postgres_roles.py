"""Who may do what in the database, and that no word of a note is anywhere in it."""

import zlib
from functools import partial
from pathlib import Path

import psycopg
import pytest

from answerable.indexing.audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import read_notebook
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


def test_the_function_reads_and_cannot_write(
    postgres_server: PostgresServer, tables: list[str]
) -> None:
    writes = ("DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}", "ALTER TABLE {} ADD COLUMN x text")
    refused = [write.format(name) for name in tables for write in writes]
    refused += ["CREATE TABLE answerable.more (x int)", "SET ROLE answerable_publisher"]
    with psycopg.connect(postgres_server.url(FUNCTION_ROLE), autocommit=True) as connection:
        # Its own guard against writing is taken away, as a thief would.
        connection.execute("SET default_transaction_read_only = off")
        for name in tables:
            connection.execute(f"SELECT * FROM {name}".encode())
        for statement in refused:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_nobody_else_reads_anything(postgres_server: PostgresServer, tables: list[str]) -> None:
    postgres_server.execute("CREATE ROLE stranger LOGIN")
    with psycopg.connect(postgres_server.url("stranger"), autocommit=True) as connection:
        for name in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {name}".encode())


def test_no_word_of_a_note_is_in_the_database(site: Path, postgres_server: PostgresServer) -> None:
    folder = str(postgres_server.folder)
    dump = postgres_server.tool("pg_dump", "--inserts", "-h", folder, "-U", "postgres", "postgres")
    ((columns,),) = postgres_server.execute("SELECT columns FROM answerable.sites")
    assert isinstance(columns, bytes)
    texts = {"dump.sql": dump.encode(), "columns": zlib.decompress(columns)}
    assert b"twelve millimetres" in texts["dump.sql"]
    assert b"Plans for the winch" in texts["columns"]
    notes = list(read_notebook(site / "notebook").notes)
    for name, text in texts.items():
        audit_artifacts(notes, [Artifact(name, partial(bytes, text))])
        assert not [word for word in PRIVATE if word.encode() in text.lower()]
