"""The benchmark of answers in the browser: what it counts, and a run on a site of our own."""

import gzip
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support import browser, sites
from support.deadlines import PATIENCE
from support.fuzz_settings import deep

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import counting_server

QUESTIONS = ("How thick is a mooring chain?", "What does a red lantern warn of?", "Who sang?")


def test_bodies_are_counted_as_a_static_host_sends_them(tmp_path: Path) -> None:
    script, shard = b"const rope = 1;\n" * 100, bytes(range(256))
    for name, data in {"a.js": script, "shards/000.bin": shard}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    with counting_server.serve_counted(tmp_path) as traffic:
        with urllib.request.urlopen(f"{traffic.origin}/a.js?1") as response:
            body = response.read()
            assert response.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(body) == script
        with urllib.request.urlopen(f"{traffic.origin}/shards/000.bin") as response:
            assert response.read() == shard
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{traffic.origin}/absent.js")
        assert traffic.responses == [("/a.js?1", len(body)), ("/shards/000.bin", 256)]
        assert traffic.kilobytes == (len(body) + 256) / 1000
        traffic.reset()
        assert traffic.kilobytes == 0


@deep
@pytest.mark.skipif(browser.executable() is None, reason="no Chromium on the path")
def test_browser_bench_measures_a_site_of_our_own(tmp_path: Path) -> None:
    sites.write_site(tmp_path / "sites" / "harbour", plugins=["search"])
    rows = [{"question": each, "answerable": False} for each in QUESTIONS]
    sites.put(tmp_path / "questions" / "harbour.jsonl", "\n".join(map(json.dumps, rows)))
    done = subprocess.run(
        [
            *(sys.executable, str(sites.ROOT / "eval" / "bench" / "browser.py")),
            *("--data", str(tmp_path), "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["name"], row["questions"]) == ("harbour", 3)
    # A later question fetches less than a first one, and never the engine again.
    assert 0 <= row["later_kB"] < row["first_kB"] - row["engine_gzip"] / 1000
    assert row["first_kB"] <= row["first_kB_p90"] <= row["first_kB_max"]
    assert 0 < row["engine_gzip"] < 1000 * row["first_kB"]
    assert row["files"] >= row["first_requests_max"]
    assert row["cached_ms"] <= row["cached_p95_ms"]
    # What is listed while typing comes from files that the question reads too, but for a few.
    assert row["first_kB"] <= row["typed_kB"] < 1.3 * row["first_kB"]
    assert 0 < row["key_ms"] <= row["key_p95_ms"]
    assert min(row["task_ms"], row["task_without_ms"]) > 0
    links = row["seconds"]
    assert [link["name"].split()[0] for link in links] == ["1.6", "9", "30"]
    assert all(0 < link["median_s"] <= link["max_s"] for link in links)
