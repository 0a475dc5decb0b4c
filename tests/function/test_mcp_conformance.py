"""The official conformance scenarios for MCP servers, against a published function.

Left out are scenarios that want test tools of their own or what this server does not have, and
those of what a server of 2026-07-28 refuses: it answers such requests.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.published_functions import build_function, serving
from support.server_processes import free_port
from support.sites import ROOT

PACKAGES = ROOT / "tests" / "mcp_conformance" / "node_modules"
# The runner wants a newer Node than the system may have: its package comes with the runner's.
NODE = PACKAGES / "node" / "bin" / "node"
RUNNER = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
CASES = [
    *(
        (version, scenario)
        for version in ("2025-06-18", "2025-11-25")
        for scenario in ("server-initialize", "ping", "tools-list")
    ),
    ("2026-07-28", "tools-list"),
    ("2026-07-28", "dns-rebinding-protection"),
]
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not RUNNER.exists(), reason="`npm ci` in tests/mcp_conformance gets it"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    function = build_function(tmp_path_factory.mktemp("site"))
    # The scenario on DNS rebinding comes from a page of the same port.
    port = free_port()
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
    assert not {"FAILURE", "WARNING"} & set(results), done.stdout
