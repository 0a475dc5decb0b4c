"""Absolute urls of citations and search results: by the site's address, else by who asks."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.engine import Engine
from support.server_processes import Running, mkdocs, run
from support.service_requests import ORIGIN, asking, code, letters
from support.sites import build, index, write_site

QUESTION = "How thick is the chain of a mooring?"
ALLOWED = {"ANSWERABLE_ALLOWED_ORIGINS": f"{ORIGIN},https://mirror.example"}


@contextmanager
def function_of(folder: Path, **environment: str) -> Iterator[Running]:
    """The published function of a site, as a server of its own."""

    def has_address(running: Running) -> bool:
        match = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
        running.port = int(match[1]) if match else 0
        return bool(match)

    settings = [f"{name}={value}" for name, value in {"PORT": "0", **environment}.items()]
    main = str(folder / "function" / "main.py")
    with run(["env", *settings, sys.executable, "-I", main], folder, has_address) as running:
        yield running


def search(running: Running, path: str = "/search", **headers: str) -> dict[str, Any]:
    status, body = running.request("GET", f"{path}?q=chain", **headers)
    assert status == 200, body
    rows: dict[str, Any] = json.loads(body)
    return rows


def citation(running: Running, **headers: str) -> dict[str, Any]:
    status, body = running.request("POST", "/answer", {"question": QUESTION}, **headers)
    assert status == 200, body
    first: dict[str, Any] = json.loads(body)["citations"][0]
    return first


def test_urls_are_absolute_by_the_site_url(tmp_path: Path) -> None:
    done = build(write_site(tmp_path, site_url="https://harbour.example/docs/"))
    assert done.returncode == 0, done.stderr
    assert "site_url: not set" not in done.stderr
    with function_of(tmp_path, **ALLOWED) as running:
        row = search(running)["mooring#chains"]
        assert row["url"] == "/docs/mooring/#chains"
        assert row["absolute_url"] == "https://harbour.example/docs/mooring/#chains"
        assert search(running, "/v1/search") == search(running, Origin="https://mirror.example")
        cited = citation(running, Origin="https://mirror.example")
        assert cited["absolute_url"] == "https://harbour.example/docs/mooring/#chains"
        assert '"path": "v1/search"' in running.output


def test_build_without_site_url_tells_its_cost_and_asker_gives_the_host(tmp_path: Path) -> None:
    write_site(tmp_path, site_url="", options={"answers_in": "function"})
    done = build(tmp_path, "--strict")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "site_url: not set" in line]
    assert "absolute url" in line
    with function_of(tmp_path, **ALLOWED) as running:
        # Nobody says where the pages are: the function's own host need not serve them.
        assert "absolute_url" not in search(running)["mooring#chains"]
        # The second answer is the cached one of the first.
        for origin in (ORIGIN, "https://mirror.example"):
            expected = f"{origin}/mooring/#chains"
            assert citation(running, Origin=origin)["absolute_url"] == expected
            assert search(running, Origin=origin)["mooring#chains"]["absolute_url"] == expected
        assert "absolute_url" not in citation(running)


def test_dev_server_is_where_the_pages_are(tmp_path: Path) -> None:
    with mkdocs(write_site(tmp_path, site_url="")) as running:
        status, body = running.request("GET", "/_answerable/v1/search?q=chain")
        assert status == 200
        row = json.loads(body)["mooring#chains"]
        assert row["absolute_url"] == f"http://127.0.0.1:{running.port}/mooring/#chains"


def test_built_site_without_site_url_tells_its_cost(tmp_path: Path) -> None:
    assert build(write_site(tmp_path, site_url="", plugins=["search"])).returncode == 0
    done = index(tmp_path, answers_in="function")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("site_url: not set") == 1
    done = index(tmp_path, answers_in="function", site_url="https://harbour.example/")
    assert "site_url: not set" not in done.stderr


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("letters"))


@pytest.mark.parametrize("host", ["harbour.example", "[::1]:8000", "a b", "x@y:z", ""])
def test_host_counts_only_where_it_serves_the_site(engine: Engine, host: str) -> None:
    rows = asking(engine).get("search", "q=rope", host=host).json
    assert rows
    assert all("absolute_url" not in row for row in rows.values())
    rows = asking(engine, is_site_host=True).get("search", "q=rope", host=host).json
    urls = [row["absolute_url"] for row in rows.values() if "absolute_url" in row]
    assert len(urls) == (len(rows) if host in ("harbour.example", "[::1]:8000") else 0)
    assert all(url.startswith(f"http://{host}/") for url in urls)


def test_forbidden_origin_gets_no_url(engine: Engine) -> None:
    assert code(asking(engine).get("search", "q=rope", origin="https://evil.example")) == (
        "forbidden"
    )
