"""Who may do what in the database, and that no word of a note is anywhere in it."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from answerable.indexing.leak_audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import read_notebook
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import open_postgres_store, read_served_key
from answerable.serve.errors import LeakError
from answerable.serve.providers import make_engine
from support.doubles import bundle_of, index_of, record
from support.postgres_server import ROLES_FILE, PostgresServer, bare
from support.sites import NOTES, build, local, write_site

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
    assert build(folder, "-q").returncode == 0
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


def test_the_function_reads_what_it_needs(
    postgres_server: PostgresServer, tables: dict[str, str]
) -> None:
    assert set(tables) == {
        "bundles", "served", "names",
        "snapshot", "passages", "vectors", "postings", "hints", "windows",
    }  # fmt: skip
    connections = DatabaseConnections(DatabaseOptions(postgres_server.url(FUNCTION_ROLE)))
    opened = open_postgres_store(connections.fetch, read_served_key(connections.fetch, "site"))
    engine = make_engine(opened, local())
    assert engine.answer("How thick is the chain?").answer.mode == "partial"
    connections.close()


WRITES = (
    "INSERT INTO {} SELECT * FROM {}", "UPDATE {} SET {column} = {column}", "DELETE FROM {}",
    "TRUNCATE {}", "DROP TABLE {}", "ALTER TABLE {} ADD COLUMN more text",
    "CREATE INDEX ON {} ({column})", "LOCK TABLE {} IN EXCLUSIVE MODE",
    "COPY {} FROM STDIN", "ALTER TABLE {} OWNER TO answerable_function",
)  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_the_function_cannot_write(
    function: psycopg.Connection[tuple[object, ...]], tables: dict[str, str], write: str
) -> None:
    for name in tables.values():
        column = function.execute(f"SELECT * FROM {name} LIMIT 0".encode()).description
        assert column
        statement = write.replace("{column}", column[0].name).replace("{}", name)
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.InternalError)):
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
def test_the_function_can_do_nothing_else(
    site: Path, function: psycopg.Connection[tuple[object, ...]], statement: str
) -> None:
    assert site
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


def test_questions_are_in_no_log_of_the_database_server(
    function: psycopg.Connection[tuple[object, ...]],
) -> None:
    for name in ("log_parameter_max_length", "log_parameter_max_length_on_error"):
        assert function.execute(f"SHOW {name}".encode()).fetchone() == ("0",)


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


def test_the_publisher_owns_its_schemas_and_no_other(
    site: Path, postgres_server: PostgresServer
) -> None:
    assert site
    with psycopg.connect(postgres_server.url(PUBLISHER_ROLE), autocommit=True) as connection:
        for statement in ("SELECT * FROM payroll.people", "CREATE SCHEMA more", "CREATE ROLE more"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_private_rows_have_no_column_for_text(
    postgres_server: PostgresServer, tables: dict[str, str]
) -> None:
    private = {kind: name for kind, name in tables.items() if name.startswith("answerable_private")}
    columns = {
        kind: [
            str(column) for (column,) in postgres_server.execute(
                "SELECT attname FROM pg_attribute WHERE attnum > 0 "
                f"AND attrelid = '{name}'::regclass ORDER BY attnum"
            )
        ]
        for kind, name in private.items()
    }  # fmt: skip
    assert columns == {
        "hints": ["number", "id", "label", "locator", "url"],
        "windows": ["number", "hint", "norm", "codes"],
    }


def test_no_word_of_a_note_is_in_the_database(site: Path, postgres_server: PostgresServer) -> None:
    notes = list(read_notebook(site / "notebook").notes)
    dumped = {
        "dump.sql": postgres_server.tool("pg_dump", "-h", str(postgres_server.folder), "-U",
                                         "postgres", "--inserts", "postgres").encode(),
        "copy.sql": postgres_server.tool("pg_dump", "-h", str(postgres_server.folder), "-U",
                                         "postgres", "postgres").encode(),
    }  # fmt: skip
    dumped |= parts(postgres_server)
    assert b"Plans for the winch" in dumped["dump.sql"]
    assert b"twelve millimetres" in dumped["dump.sql"]
    audit_artifacts(notes, [Artifact(name, partial(bytes, data)) for name, data in dumped.items()])
    for name, data in dumped.items():
        for word in PRIVATE:
            assert word.encode() not in data.lower(), (name, word)
    # The audit does find a note that lies there.
    postgres_server.execute(
        f"CREATE TABLE answerable.leak AS SELECT $${notes[0].body}$$::text AS words"
    )
    leaking = postgres_server.tool(
        "pg_dump", "-h", str(postgres_server.folder), "-U", "postgres", "postgres"
    ).encode()
    postgres_server.execute("DROP TABLE answerable.leak")
    with pytest.raises(LeakError, match=r"winch\.md"):
        audit_artifacts(notes, [Artifact("dump.sql", lambda: leaking)])


def parts(server: PostgresServer) -> dict[str, bytes]:
    """Every value of bytes in the database, decompressed by the audit as files are."""
    artifacts: dict[str, bytes] = {}
    columns = server.execute(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute "
        "WHERE atttypid = 'bytea'::regtype AND attrelid::regclass::text LIKE 'answerable%'"
    )
    for table, column in columns:
        for number, (data,) in enumerate(server.execute(f"SELECT {column} FROM {table}")):
            assert isinstance(data, bytes)
            artifacts[f"{table}/{column}/{number}.z"] = data
    assert len(artifacts) > 20
    return artifacts
