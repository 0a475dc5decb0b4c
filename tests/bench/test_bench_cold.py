"""The benchmarks of a published function, each run for as short as it goes."""

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from support.deadlines import PATIENCE
from support.sites import ROOT

pytestmark = pytest.mark.skipif(
    not os.environ.get("ANSWERABLE_DEEP"), reason="benchmarks run in `make check-deep`"
)
MEASURED = {"p50_ms", "p99_ms", "p99_x_p50", "x_alone"}


def rows(name: str, **environment: str) -> dict[str, dict[str, Any]]:
    """Run a benchmark and return its rows by name; its limits are ignored."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "eval" / "bench" / name), "--json"],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout, done.stderr
    printed: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return {row["name"]: row for row in printed}


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on the path")
def test_openai_is_imported_where_it_is_called_and_nowhere_else() -> None:
    by_name = rows("cold.py", ANSWERABLE_STARTS="1")
    assert {name: row["openai"] for name, row in by_name.items()} == {
        "keyless": "no",
        "keyless, hashes skipped": "no",
        "keyless, refused": "no",
        "keyless, by MCP": "no",
        "openai": "imported",
        "openai, hashes skipped": "imported",
        "openai, refused": "no",
        "openai, cached": "no",
    }
    for row in by_name.values():
        assert 0 < row["listening_ms"] < row["answer_ms"]
        assert row["next_ms"] > 0


def test_a_load_is_answered_without_an_error() -> None:
    by_name = rows("load.py", ANSWERABLE_SECONDS="1")
    assert list(by_name) == [
        "retrieval alone",
        "answer",
        "cached answer",
        "answer, 16 connections",
    ]
    assert by_name["retrieval alone"]["x_alone"] == 1
    for row in by_name.values():
        assert row["errors"] == 0
        assert row["asked"] > 0
        assert all(row[name] > 0 for name in MEASURED)
    assert by_name["answer, 16 connections"]["rss_mb"] > 0
