"""The benchmarks, each run alone: on a tiny set of our own and on the real data where it is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sites

BENCH = sites.ROOT / "eval" / "bench"


def run(name: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCH / name), *args],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(name: str, data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(name, "--data", str(data), "--json"))["rows"]
    return found


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    sites.put(path, "\n".join(json.dumps(line) for line in lines))


def test_questions_on_a_site_of_our_own(tmp_path: Path) -> None:
    sites.write_site(tmp_path / "sites" / "harbour", plugins=["search"])
    write_lines(
        tmp_path / "questions" / "harbour.jsonl",
        [
            {"question": "How thick is a mooring chain?", "gold_urls": ["mooring/"],
             "answerable": True},
            {"question": "Who sang at the Vienna opera?", "gold_urls": [], "answerable": False},
        ],
    )  # fmt: skip
    (row,) = rows("questions.py", tmp_path)
    assert row["name"] == "harbour"
    assert (row["at_1"], row["at_3"], row["at_8"]) == (1, 1, 1)
    assert (row["answered"], row["refused"]) == (1.0, 1.0)


def test_retrieval_on_a_set_of_our_own(tmp_path: Path) -> None:
    folder = tmp_path / "retrieval" / "tiny"
    texts = {"a": "Chains are twelve millimetres thick.", "b": "Lanterns warn of wind.",
             "c": "Ropes are doubled before storms."}  # fmt: skip
    write_lines(
        folder / "corpus.jsonl",
        [{"id": k, "group": k, "title": k, "text": text} for k, text in texts.items()],
    )
    write_lines(
        folder / "queries.jsonl",
        [
            {"text": "how thick are chains", "group": "a", "kind": "answerable", "gold": ["a"]},
            {"text": "what do lanterns warn of", "group": "b", "kind": "answerable",
             "gold": ["b"]},
            {"text": "who sang in Vienna", "group": "c", "kind": "adversarial", "gold": []},
        ],
    )  # fmt: skip
    (row,) = rows("retrieval.py", tmp_path)
    assert (row["hit_1"], row["hit_8"], row["ndcg_10"]) == (1.0, 1.0, 1.0)
    assert (row["auroc_adversarial"], row["auroc_ooc"]) == (1.0, 1.0)


def test_absent_data_is_said(tmp_path: Path) -> None:
    assert "skipped" in run("questions.py", "--data", str(tmp_path / "nowhere"))


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
def test_real_questions_find_their_pages() -> None:
    found = {row["name"]: row for row in rows("questions.py", sites.DATA)}
    row = found["httpx"]
    assert (row["at_1"] >= 14, row["at_3"] >= 21, row["at_8"] >= 26) == (True, True, True), row


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
def test_public_questions_find_their_passages_and_others_do_not() -> None:
    found = {row["name"]: row for row in rows("retrieval.py", sites.DATA)}
    row = found["clapnq"]
    assert row["hit_8"] >= 0.985
    assert row["ndcg_10"] >= 0.96
    assert row["auroc_ooc"] >= 0.93
    assert row["auroc_adversarial"] >= 0.83
