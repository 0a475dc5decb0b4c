"""A function over a database: it answers as over its bundle, and says so where it cannot."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.settings import read_settings
from support.deadlines import until
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
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


def test_function_notices_a_new_index_and_outlives_a_lost_database(
    site: Path, postgres_server: PostgresServer
) -> None:
    variables = {
        "ANSWERABLE_DATABASE_URL": postgres_server.url(FUNCTION_ROLE),
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


@pytest.mark.parametrize("module", ["engine", "publication"])
def test_missing_packages_are_named(module: str) -> None:
    code = f"import sys; sys.modules['psycopg'] = None; import answerable.postgres.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "the packages psycopg and psycopg_pool are not installed" in done.stderr
