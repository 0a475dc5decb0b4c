"""The benchmark that switches rules off, on a site and a set of our own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.retrieval import selection
from support import sites
from support.deadlines import PATIENCE
from support.fuzz_settings import deep
from support.passage_blocks import block, passage

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import ablation

PAINT = """# Paint

## Which paint does a buoy need?

A buoy needs one of these paints:

* red lead for iron
* white gloss for oak

## Brushes

A brush for buoy paint is kept in oil.
"""


def run(name: str, data: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, str(sites.ROOT / "eval" / "bench" / name), "--data", str(data), *args],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return done.stdout


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    sites.put(path, "\n".join(map(json.dumps, lines)))


def by_rule(rows: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {row["without"]: row for row in rows}


@deep
def test_each_row_is_measured_without_its_rule(tmp_path: Path) -> None:
    site = tmp_path / "sites" / "harbour"
    sites.write_site(site, plugins=["search"])
    sites.put(site / "docs" / "paint.md", PAINT)
    write_lines(
        tmp_path / "questions" / "harbour.jsonl",
        [
            {"id": "a", "question": "Which paint does a buoy need?", "gold_urls": ["paint/"],
             "answerable": True},
            {"id": "u", "question": "Who sang at the Vienna opera?", "answerable": False},
        ],
    )  # fmt: skip
    gold = {"id": "a", "gold_sections": ["paint/#which-paint-does-a-buoy-need"], "need": "all"}
    write_lines(tmp_path / "gold" / "harbour.jsonl", [{**gold, "answer_spans": ["one of these"]}])
    folder = tmp_path / "retrieval" / "tiny"
    texts = {"a": "Chains are twelve millimetres thick.", "b": "Lanterns warn of wind."}
    write_lines(
        folder / "corpus.jsonl",
        [{"id": name, "title": name, "text": text} for name, text in texts.items()],
    )
    write_lines(
        folder / "queries.jsonl",
        [
            {"text": "how thick are chains", "kind": "answerable", "gold": ["a"],
             "ans": [[11, "twelve millimetres"]]},
            {"text": "who sang in Vienna", "kind": "adversarial"},
        ],
    )  # fmt: skip

    harbour, tiny = json.loads(run("ablation.py", tmp_path, "--json"))["rows"]
    (shipped,) = json.loads(run("questions.py", tmp_path, "--json"))["rows"]
    rules = by_rule(harbour["rules"])
    assert list(rules) == [rule.name for rule in ablation.RULES]
    assert {key: shipped[key] for key in rules["nothing"] if key != "without"} == {
        key: value for key, value in rules["nothing"].items() if key != "without"
    }
    assert [rules["nothing"][name] for name in ("contains", "answered", "refused")] == [1.0] * 3
    assert rules["structure"]["contains"] == 0.0
    assert rules["up to three"]["shown_words"] == rules["up to three"]["first_words"]
    assert rules["one where it is sure"]["high"] == 0
    sets = by_rule(tiny["sets"])
    assert list(sets) == list(rules)
    assert sets["nothing"] == {
        "without": "nothing", "hit_8": 1.0, "holds_first": 1.0, "holds": 1.0, "first_words": 5.0,
        "words": 5.0,
    }  # fmt: skip


def test_absent_data_is_named_and_skipped(tmp_path: Path) -> None:
    assert json.loads(run("ablation.py", tmp_path, "--json")) == {
        "rows": [],
        "skipped": [
            f"skipped, no file gold/NAME.jsonl in {tmp_path}",
            f"skipped, no folder retrieval/NAME in {tmp_path}",
        ],
    }
    assert "skipped, no data at" in run("ablation.py", tmp_path / "nowhere")


def test_constants_come_back_after_an_error() -> None:
    before = selection.OWN_WEIGHT
    switched = ablation.replaced_constants({"retrieval.selection.OWN_WEIGHT": before + 1})
    with pytest.raises(AssertionError, match="while switched"), switched:
        assert before == selection.OWN_WEIGHT, "while switched"
    assert before == selection.OWN_WEIGHT


def test_a_constant_that_is_not_there_is_an_error() -> None:
    before = selection.OWN_WEIGHT
    switched = ablation.replaced_constants(
        {"retrieval.selection.OWN_WEIGHT": 0, "retrieval.selection.GONE": 0}
    )
    with pytest.raises(AttributeError, match="GONE"), switched:
        pass
    assert before == selection.OWN_WEIGHT


def test_every_rule_names_constants_and_fields_that_exist() -> None:
    for rule in ablation.RULES:
        with ablation.replaced_constants(rule.constants):
            assert not set(rule.profile) - LOCAL_PROFILE.as_json().keys()


def test_plain_text_keeps_all_words() -> None:
    page = passage(block("text", "Paint it. Twice."), block("code", "paint --twice\npaint --red"))
    plain = ablation.read_as_text(page)
    assert plain.text == page.text
    assert [page.text[start:end] for start, end in plain.sentences] == [
        "Paint it.", "Twice.", "paint --twice\npaint --red"
    ]  # fmt: skip
    assert {each.kind for each in plain.blocks} == {"text"}
