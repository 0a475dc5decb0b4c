"""A function over a database: it answers as over its bundle, and says so where it cannot."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.notes.notebook import NOTE_KEY_FILE
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.serve import settings
from answerable.serve.errors import StorageError
from answerable.serve.request_context import RequestContext
from answerable.serve.request_context import use_context as serving_call
from answerable.serve.settings import read_settings
from serve.http.test_runtimes import describe_reply, sent
from support import runtimes
from support.deadlines import PATIENCE, finish, until
from support.doubles import bundle_of, index_of, record
from support.postgres_server import PostgresServer
from support.published_functions import serving
from support.runtime_requests import CASES, KNOWN, PRIVATE, UNKNOWN, Case
from support.runtimes import Runtime
from support.server_processes import Running
from support.sites import NOTES, PAGES, build, opened, put, write_site

pytestmark = pytest.mark.deep

QUESTIONS = (KNOWN, PRIVATE, UNKNOWN, "Which lantern warns of wind?", "What does a mooring need?")
# Seconds that a question waits for a database that hangs; for one that works, as long as it takes.
IMPATIENT = {"ANSWERABLE_DATABASE_TIMEOUT": "1"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Path:
    """A site that a build has published to the database."""
    folder = write_site(
        tmp_path_factory.mktemp("stored"),
        notes=NOTES,
        options={"store": {"url": postgres_server.url(PUBLISHER_ROLE)}},
    )
    # Notes have the same ids wherever their key is the same.
    put(folder / "notebook" / NOTE_KEY_FILE, runtimes.KEY)
    done = build(folder, "-v", **runtimes.EPOCH)
    assert done.returncode == 0, done.stderr
    assert "published as site" in done.stdout + done.stderr
    return folder


def environment(server: PostgresServer, **variables: str) -> dict[str, str]:
    return {
        "ANSWERABLE_DATABASE_URL": server.url(FUNCTION_ROLE),
        "ANSWERABLE_DATABASE_TIMEOUT": "60",
        "ANSWERABLE_CACHE_SECONDS": "0",
        **variables,
    }


@pytest.fixture(scope="module")
def both(
    site: Path, postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Runtime, Runtime]]:
    """The same site from its bundle and from the database."""
    folder = runtimes.built(tmp_path_factory.mktemp("folder"))
    with (
        runtimes.on_loopback(folder) as one,
        runtimes.on_loopback(site / "function", **environment(postgres_server)) as other,
    ):
        yield one, other


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_database_answers_as_the_bundle_does(both: tuple[Runtime, Runtime], case: Case) -> None:
    one, other = both
    first, second = sent(one, case), sent(other, case)
    assert first.status == case.status
    assert describe_reply(other, second) == describe_reply(one, first)


def test_build_writes_the_store_name_into_settings(site: Path) -> None:
    function = site / "function"
    assert read_settings(function).store == "site"
    needed = (function / "requirements.txt").read_text("utf-8")
    assert "psycopg==" in needed
    assert "psycopg-pool==" in needed
    assert "postgres" not in (function / settings.SETTINGS_FILE).read_text("utf-8")


def test_function_without_database_url_does_not_start(site: Path) -> None:
    with pytest.raises(AssertionError, match="ANSWERABLE_DATABASE_URL: this site is served from"):
        serving(site / "function").__enter__()


def test_unreachable_database_is_reported_without_password(site: Path) -> None:
    wrong = "postgresql://harbour:hunter2@127.0.0.1:9/docs"
    with (
        pytest.raises(AssertionError, match="database failed") as refused,
        serving(site / "function", ANSWERABLE_DATABASE_URL=wrong),
    ):
        pass
    assert "hunter2" not in str(refused.value)


def ask(running: Running, question: str) -> tuple[int, Any]:
    status, body = running.request("POST", "/answer", {"question": question})
    return status, json.loads(body)


def is_unavailable(running: Running, question: str) -> bool:
    """Test for the fixed problem; a database that hangs would never end the request."""
    status, body = ask(running, question)
    if status == 200:
        return False
    assert (status, body["code"]) == (503, "unavailable")
    assert body["detail"] == "The question cannot be answered at the moment."
    return True


def test_running_function_notices_a_new_bundle(site: Path, postgres_server: PostgresServer) -> None:
    with serving(site / "function", **environment(postgres_server)) as running:
        _, before = ask(running, KNOWN)
        assert "twelve" in before["answer"]
        put(site / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "fourteen"))
        done = build(site, "-v", **runtimes.EPOCH)
        assert done.returncode == 0, done.stderr
        until(lambda: "fourteen" in ask(running, KNOWN)[1]["answer"])
        assert ask(running, KNOWN)[1]["bundle"] == opened(site).manifest.id != before["bundle"]
        put(site / "docs" / "mooring.md", PAGES["mooring.md"])
        assert build(site, "-q", **runtimes.EPOCH).returncode == 0
        until(lambda: ask(running, KNOWN)[1]["bundle"] == before["bundle"])


def test_lost_or_hanging_database_is_a_fixed_problem_until_it_returns(
    site: Path, postgres_server: PostgresServer
) -> None:
    cached = {"ANSWERABLE_CACHE_SECONDS": "600"}
    variables = environment(postgres_server, **cached, **IMPATIENT)
    with serving(site / "function", **variables) as running:
        until(lambda: not is_unavailable(running, KNOWN))
        _, body = ask(running, KNOWN)
        postgres_server.stop()
        for question in QUESTIONS[1:]:
            assert is_unavailable(running, question)
        assert running.request("GET", "/ready")[0] == 503
        assert running.request("GET", "/health")[0] == 200
        again = ask(running, KNOWN)[1]
        assert {**again, "request_id": ""} == {**body, "request_id": ""}
        postgres_server.start()
        until(lambda: running.request("GET", "/ready")[0] == 200)
        until(lambda: not is_unavailable(running, "double rope"))

        with frozen(postgres_server):
            for question in ("red lantern", "buoy", "storm", "wind", "crew"):
                assert is_unavailable(running, question)
            assert ask(running, KNOWN)[0] == 200
        until(lambda: not is_unavailable(running, "knots"))


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


def test_all_statements_of_a_question_share_one_deadline(postgres_server: PostgresServer) -> None:
    connections = DatabaseConnections(
        DatabaseOptions(postgres_server.url(FUNCTION_ROLE), timeout=PATIENCE)
    )
    question = RequestContext()
    with serving_call(question):
        connections.fetch("SELECT 1")
        assert question.storage_seconds > 0
        # What it has waited already leaves too little for a statement that would not end.
        question.storage_seconds = PATIENCE - 0.5
        with pytest.raises(StorageError, match="database failed"):
            finish(lambda: connections.fetch("SELECT pg_sleep(3600)"))
        assert question.storage_seconds >= PATIENCE - 0.1
        question.storage_seconds = PATIENCE
        with pytest.raises(StorageError, match="did not answer in time"):
            connections.fetch("SELECT 1")
    assert connections.fetch("SELECT 1") == [(1,)]
    connections.close()


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


def test_bundle_of_another_embedder_is_refused_without_falling_back(
    site: Path, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    target = DatabaseTarget(postgres_server.url(PUBLISHER_ROLE))
    with serving(site / "function", **environment(postgres_server)) as running:
        assert not is_unavailable(running, KNOWN)
        publish_bundle_rows(
            bundle_of(tmp_path, index_of(tmp_path, [record("a", "<p>B</p>")])), target
        )
        until(lambda: is_unavailable(running, KNOWN))
        time.sleep(1.5)
        assert is_unavailable(running, KNOWN)
        publish_bundle_rows(opened(site), target)
        until(lambda: not is_unavailable(running, KNOWN))


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
