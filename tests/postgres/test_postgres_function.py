"""A function over a database: it answers as over its bundle, and says so where it cannot."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.serve.settings import read_settings
from support.deadlines import until
from support.postgres_server import PostgresServer
from support.published_functions import serving
from support.server_processes import Running
from support.sites import PAGES, build_here, opened, put, write_site

pytestmark = pytest.mark.deep
KNOWN = "How thick is the chain of a mooring?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Path:
    """A site that a build has published to the database."""
    store = {"url": postgres_server.url(PUBLISHER_ROLE)}
    folder = write_site(tmp_path_factory.mktemp("stored"), options={"store": store})
    build_here(folder)
    return folder


def test_function_names_what_its_database_lacks(site: Path) -> None:
    assert read_settings(site / "function").store == "site"
    assert "psycopg==" in (site / "function" / "requirements.txt").read_text("utf-8")
    wrong = "postgresql://harbour:hunter2@127.0.0.1:9/docs"
    for variables, message in (
        ({}, "ANSWERABLE_DATABASE_URL: this site is served from"),
        ({"ANSWERABLE_DATABASE_URL": wrong}, "database failed"),
    ):
        with pytest.raises(AssertionError, match=message) as refused:
            serving(site / "function", **variables).__enter__()
        assert "hunter2" not in str(refused.value)


def ask(running: Running, question: str) -> Any:
    """Return an answer; None for the fixed problem of a database that does not answer."""
    status, text = running.request("POST", "/answer", {"question": question})
    body = json.loads(text)
    if status == 200:
        return {**body, "request_id": ""}
    assert (status, body["code"]) == (503, "unavailable")
    assert body["detail"] == "The question cannot be answered at the moment."
    return None


def test_function_notices_a_new_bundle_and_outlives_a_lost_or_hanging_database(
    site: Path, postgres_server: PostgresServer
) -> None:
    variables = {
        "ANSWERABLE_DATABASE_URL": postgres_server.url(FUNCTION_ROLE),
        # Seconds that a question waits for a database that hangs.
        "ANSWERABLE_DATABASE_TIMEOUT": "1",
        "ANSWERABLE_CACHE_SECONDS": "600",
    }
    with serving(site / "function", **variables) as running:
        until(lambda: ask(running, KNOWN) is not None)
        assert "twelve" in ask(running, KNOWN)["answer"]
        put(site / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "fourteen"))
        build_here(site)
        until(lambda: "fourteen" in (ask(running, KNOWN) or {"answer": ""})["answer"])
        cached = ask(running, KNOWN)
        assert cached["bundle"] == opened(site).manifest.id

        postgres_server.stop()
        assert ask(running, "double rope") is None
        assert running.request("GET", "/ready")[0] == 503
        assert running.request("GET", "/health")[0] == 200
        assert ask(running, KNOWN) == cached
        postgres_server.start()
        until(lambda: running.request("GET", "/ready")[0] == 200)
        until(lambda: ask(running, "double rope") is not None)

        # What was committed last may be lost with a server that ends so suddenly.
        until(lambda: ask(running, KNOWN) is not None)
        with frozen(postgres_server):
            assert [ask(running, question) for question in ("lantern", "buoy", "storm")] == [
                None
            ] * 3
            assert ask(running, KNOWN) is not None
        until(lambda: ask(running, "knots") is not None)


class frozen:  # noqa: N801 - a context, as contextlib's own
    """A server whose every process hangs."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    def __enter__(self) -> None:
        self._signal(signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, what: signal.Signals) -> None:
        assert self._server.process is not None
        for process in (self._server.process.pid, *children(self._server.process.pid)):
            os.kill(process, what)


def children(process: int) -> list[int]:
    """The processes that another has started. Source: proc(5)."""
    statuses = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == process:
            statuses.append(int(stat.parent.name))
    return statuses


FORKING = """
import os, sys
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.connections import DatabaseConnections
connections = DatabaseConnections(DatabaseOptions(sys.argv[1]))
session = lambda: connections.fetch("SELECT pg_backend_pid()")
parents = session()
if not os.fork():
    os._exit(0 if session() != parents else 7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert session() == parents
"""


def test_forked_process_opens_its_own_connections(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url(FUNCTION_ROLE)
    done = subprocess.run([sys.executable, "-c", FORKING, url], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("postgres.engine", "PolicyError: ANSWERABLE_DATABASE_URL: the packages psycopg and"),
        ("postgres.publication", "SiteError: store: the package psycopg is not installed"),
    ],
)
def test_missing_psycopg_is_named(module: str, message: str) -> None:
    code = f"import sys; sys.modules['psycopg'] = None; import answerable.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert message in done.stderr.splitlines()[-1]
