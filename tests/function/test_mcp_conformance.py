"""The official conformance scenarios for MCP servers, against a published function.

Scenarios that want a server with test tools of their own, or with what this one does not have
(sampling, completion, subscriptions, tasks), say nothing about it and are left out.
"""

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.published_functions import build_function, serving
from support.sites import ROOT

PACKAGES = ROOT / "tests" / "mcp_conformance" / "node_modules"
# The runner wants a newer Node than the system may have: its package comes with the runner's.
NODE = PACKAGES / "node" / "bin" / "node"
RUNNER = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
HANDSHAKE = ("server-initialize", "ping", "tools-list")
STATELESS = (
    "tools-list", "caching", "http-header-validation", "dns-rebinding-protection",
    "server-stateless",
)  # fmt: skip
CASES = [
    *((version, scenario) for version in ("2025-06-18", "2025-11-25") for scenario in HANDSHAKE),
    ("2025-11-25", "dns-rebinding-protection"),
    *(("2026-07-28", scenario) for scenario in STATELESS),
]
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not RUNNER.exists(), reason="`npm ci` in tests/mcp_conformance gets it"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    function = build_function(tmp_path_factory.mktemp("site"))
    # The scenario on DNS rebinding comes from a page of the same port.
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    origins = f"http://localhost:{port},http://127.0.0.1:{port}"
    with serving(function, PORT=str(port), ANSWERABLE_ALLOWED_ORIGINS=origins) as running:
        yield f"http://127.0.0.1:{running.port}/mcp"


@pytest.mark.parametrize(("version", "scenario"), CASES)
def test_an_official_scenario_passes(url: str, tmp_path: Path, version: str, scenario: str) -> None:
    command = [str(NODE), str(RUNNER), "server", "--url", url, "--scenario", scenario]
    done = subprocess.run(
        [*command, "--spec-version", version],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    results = re.findall(r"\[[\w-]+ *\].*?(SUCCESS|FAILURE|WARNING|SKIPPED)", done.stdout)
    assert "SUCCESS" in results, done.stdout + done.stderr
    bad = [result for result in results if result in ("FAILURE", "WARNING")]
    # A check that calls a test tool of a diagnostic server fails as "not testable" without it.
    assert len(bad) == done.stdout.count("Error: Not testable: server does not list"), done.stdout
    assert bad or done.returncode == 0, done.stdout
