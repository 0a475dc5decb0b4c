"""Who may do what in the database, and that no word of a note is anywhere in it."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from answerable.indexing.audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import read_notebook
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import read_served_key
from answerable.serve.errors import LeakError
from support.doubles import bundle_of, index_of, record
from support.postgres_server import ROLES_FILE, PostgresServer, bare
from support.sites import NOTES, build_here, write_site

pytestmark = pytest.mark.deep

# Every word of the note that stands nowhere else.
PRIVATE = ("gearbox", "scrapped", "tractor", "electric")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Path:
    postgres_server.execute(
        "CREATE SCHEMA payroll; CREATE TABLE payroll.people (name text); "
        "INSERT INTO payroll.people VALUES ('Ada')"
    )
    folder = write_site(
        tmp_path_factory.mktemp("roles"),
        notes=NOTES,
        options={"store": {"url": postgres_server.url(PUBLISHER_ROLE)}},
    )
    build_here(folder)
    return folder


@pytest.fixture(scope="module")
def tables(site: Path, postgres_server: PostgresServer) -> dict[str, str]:
    """The full name of each table by its kind."""
    assert site
    rows = postgres_server.execute(
        "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname ~ '^answerable'"
    )
    return {re.split(r"[._]", str(name).removeprefix("answerable_"))[1]: str(name)
            for (name,) in rows}  # fmt: skip


@pytest.fixture
def function(postgres_server: PostgresServer) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """The function's role, with its own guard against writing taken away, as a thief would."""
    with psycopg.connect(postgres_server.url(FUNCTION_ROLE), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        yield connection


def test_the_function_cannot_write(
    function: psycopg.Connection[tuple[object, ...]], tables: dict[str, str]
) -> None:
    for name in tables.values():
        for statement in (
            *(f"INSERT INTO {name} SELECT * FROM {name}", f"DELETE FROM {name}"),
            *(f"TRUNCATE {name}", f"DROP TABLE {name}", f"ALTER TABLE {name} ADD COLUMN more text"),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                function.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE answerable.more (x int)", "CREATE TABLE answerable_private.more (x int)",
        "CREATE TABLE public.more (x int)", "CREATE TEMP TABLE more (x int)",
        "CREATE SCHEMA more", "CREATE ROLE more", "CREATE DATABASE more",
        "SELECT * FROM payroll.people", "SELECT * FROM pg_authid",
        "COPY answerable.served TO '/tmp/served'", "COPY answerable.served TO PROGRAM 'true'",
        "SET ROLE answerable_publisher", "SET ROLE postgres",
        "SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')",
        "SELECT lo_import('/etc/hostname')", "SELECT * FROM answerable.names FOR UPDATE",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("site")
def test_the_function_can_do_nothing_else(
    function: psycopg.Connection[tuple[object, ...]], statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        function.execute(statement.encode())


def test_nobody_else_reads_anything(
    postgres_server: PostgresServer, tables: dict[str, str]
) -> None:
    postgres_server.execute("CREATE ROLE stranger LOGIN")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(postgres_server.url("stranger"))
    # One that an administrator lets in.
    postgres_server.execute("GRANT CONNECT ON DATABASE postgres TO stranger")
    with psycopg.connect(postgres_server.url("stranger"), autocommit=True) as connection:
        for name in tables.values():
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {name}".encode())


def test_an_administrator_need_not_be_a_superuser(tmp_path: Path) -> None:
    with bare() as server:
        server.execute("CREATE ROLE admin LOGIN CREATEROLE")
        server.execute("CREATE DATABASE docs OWNER admin")
        with psycopg.connect(server.url("postgres", "docs"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        with psycopg.connect(server.url("admin", "docs"), autocommit=True) as connection:
            for _ in range(2):
                connection.execute(ROLES_FILE.read_bytes())
        site_bundle = bundle_of(tmp_path, index_of(tmp_path, [record("a", "<p>A rope.</p>")]))
        key = publish_bundle_rows(
            site_bundle, DatabaseTarget(server.url(PUBLISHER_ROLE, "docs"))
        ).key
        connections = DatabaseConnections(DatabaseOptions(server.url(FUNCTION_ROLE, "docs")))
        assert read_served_key(connections.fetch, "site") == key
        connections.close()


def test_no_word_of_a_note_is_in_the_database(site: Path, postgres_server: PostgresServer) -> None:
    notes = list(read_notebook(site / "notebook").notes)
    dump = partial(
        postgres_server.tool, "pg_dump", "-h", str(postgres_server.folder), "-U", "postgres"
    )
    dumped = dump("--inserts", "postgres").encode()
    assert b"Plans for the winch" in dumped
    assert b"twelve millimetres" in dumped
    values = read_bytes_columns(postgres_server)
    assert len(values) > 20
    for number, data in enumerate([dumped, *values]):
        audit_artifacts(notes, [Artifact(f"{number}.z", partial(bytes, data))])
        assert not [word for word in PRIVATE if word.encode() in data.lower()]
    # The audit does find a note that lies there.
    postgres_server.execute(
        f"CREATE TABLE answerable.leak AS SELECT $${notes[0].body}$$::text AS words"
    )
    leaking = dump("postgres").encode()
    postgres_server.execute("DROP TABLE answerable.leak")
    with pytest.raises(LeakError, match=r"winch\.md"):
        audit_artifacts(notes, [Artifact("dump.sql", lambda: leaking)])


def read_bytes_columns(server: PostgresServer) -> list[bytes]:
    """Every value of bytes in the database; the audit decompresses them as it does files."""
    columns = server.execute(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute "
        "WHERE atttypid = 'bytea'::regtype AND attrelid::regclass::text LIKE 'answerable%'"
    )
    rows = [server.execute(f"SELECT {column} FROM {table}") for table, column in columns]
    return [data for values in rows for (data,) in values if isinstance(data, bytes)]
