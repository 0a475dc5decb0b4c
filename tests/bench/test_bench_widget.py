"""The benchmark of the widget: what it weighs, and what it counts of a page with it."""

import json
import subprocess
import sys

import pytest

from support import browser, sites, widget_folder
from support.fuzz_settings import deep

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import widget

BENCH = sites.ROOT / "eval" / "bench" / "widget.py"


def test_the_widget_is_one_small_file() -> None:
    assert len(widget.compress_script(widget_folder.SCRIPT.encode())) <= widget.LIMIT == 20_000


@deep
@pytest.mark.skipif(browser.executable() is None, reason="no Chromium on the path")
def test_the_work_of_the_widget_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANSWERABLE_LOADS", "1")
    done = subprocess.run(
        [sys.executable, str(BENCH), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["bytes"] == len(widget_folder.SCRIPT.encode())
    assert row["gzip"] <= 20_000
    assert row["share"] == row["gzip"] / 20_000
    assert row["requests"] == 1
    pages = row["before the first use"]
    assert [page["name"] for page in pages] == ["page 1", "page 2", "page 3"]
    for page in pages:
        parts = (page[f"{kind}_ms"] for kind in ("compile", "evaluate", "render"))
        assert page["total_ms"] == pytest.approx(sum(parts))
        assert page["evaluate_ms"] > 0
        assert min(page["paint_ms"], page["paint_without_ms"]) > 0
