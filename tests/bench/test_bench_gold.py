"""Gold spans in the benchmark of real questions: what counts as holding the answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import sites
from support.deadlines import PATIENCE

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import gold_spans
import seen
from gold_spans import Gold, Shown
from seen import Card, SeenReply

from answerable.serve.types import Reply

CHAINS = frozenset({"mooring/#chains"})


def gold(*spans: str, needs_all: bool = True, alternatives: tuple[str, ...] = ()) -> Gold:
    return Gold(CHAINS, spans, alternatives, needs_all)


def shown(*excerpts: str, urls: tuple[str, ...] = (), confidence: str = "low") -> Shown:
    cited = tuple(frozenset({url}) for url in urls or ["other/"] * len(excerpts))
    return Shown(excerpts, cited, confidence)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "text", "is_held"),
    [
        (gold("x = 1", "y = 2"), "x  =\n1; y=2", True),
        (gold("x = 1", "y = 2"), "x = 1", False),
        (gold("x = 1", "y = 2", needs_all=False), "y = 2", True),
        (gold("x = 1", "y = 2", alternatives=("z = 3",)), "z = 3", True),
        (gold("x = 1", alternatives=("z = 3",)), "nothing", False),
    ],
)
def test_spans_are_compared_without_white_space(row: Gold, text: str, *, is_held: bool) -> None:
    assert row.is_held(text) is is_held


def test_shares_count_refusals_and_answers_to_the_unanswerable() -> None:
    rows = {"first": gold("one"), "both": gold("one", "two"), "refused": gold("one"),
            "beside": gold("one")}  # fmt: skip
    replies = {
        "first": shown("is one", "or two", urls=("mooring/#chains", "other/"), confidence="high"),
        "both": shown("one", "two", urls=("other/", "mooring/#chains")),
        "refused": shown(),
        "beside": shown("three words here", confidence="high"),
        "unanswerable": shown("four words are here"),
    }
    measures = gold_spans.measure(rows, replies)
    assert measures == {
        "gold": 4,
        "contains_first": 1 / 4,
        "contains": 2 / 4,
        "first_section": 1 / 4,
        "any_section": 2 / 4,
        "precision": 2 / 4,
        "high": 2,
        "high_precision": 1 / 2,
        # 2, 1, 3 and 4 words; 4, 2, 3 and 4.
        "first_words": 2.5,
        "shown_words": 3.5,
    }


def card(*, folded: str, excerpt: str, section: str) -> Card:
    return Card("mooring/", "Mooring", folded, excerpt, section)


def seen_reply(*cards: Card, grade: str = "From this site") -> SeenReply:
    return SeenReply(Reply(reason="declined"), grade if cards else "", cards, (), ())


def test_spans_are_counted_by_the_clicks_that_they_take() -> None:
    unlike = card(folded="beside", excerpt="beside", section="beside")
    replies = {
        "first": seen_reply(card(folded="is one", excerpt="is one", section="is one")),
        "line": seen_reply(unlike, card(folded="one", excerpt="one two", section="one two")),
        "opened": seen_reply(unlike, card(folded="two", excerpt="two one", section="two one")),
        "whole": seen_reply(unlike, card(folded="two", excerpt="two", section="two one")),
        "unsure": seen_reply(unlike, grade=seen.UNSURE_GRADE),
        "refused": seen_reply(),
        "unanswerable": seen_reply(unlike),
    }
    rows = {name: gold("one") for name in replies if name != "unanswerable"}
    assert seen.measure(rows, replies) == {
        "in_first_card": 1 / 6,
        "in_open_part": 2 / 6,
        "in_excerpts": 3 / 6,
        "in_sections": 4 / 6,
        "upper": 5,
        "upper_without_span": 2 / 5,
    }


def test_lines_of_a_folded_card_are_those_that_the_widget_chooses_from() -> None:
    blocks: list[dict[str, Any]] = [
        {"kind": "text", "spans": [{"text": "Moor it. Then "}, {"text": "wait.", "code": True}]},
        {"kind": "table", "columns": [[{"text": "Part"}]],
         "rows": [[[{"text": "Chain"}], [{"text": "12"}]]]},
        {"kind": "list", "items": [{"level": 0, "number": "", "spans": [{"text": "rope"}]}]},
        {"kind": "code", "language": "", "text": "moor()\n\ncast()"},
        {"kind": "gap"},
    ]  # fmt: skip
    lines = ["Moor it.", "Then wait.", "Chain · 12", "rope", "moor()", "cast()"]
    assert seen.list_lines(blocks) == lines
    assert seen.list_content_words("How do I moor the dinghies?") == {"moor", "dingh"}
    assert seen.list_content_words("What is it?") == {"what", "is", "it"}


def test_a_bad_row_is_skipped(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "gold_sections": ["mooring/#chains"], "answer_spans": ["x"], "need": "all"},
        {"id": "b", "gold_sections": [], "answer_spans": [], "bad": "asks for nothing"},
    ]
    path = tmp_path / "harbour.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert gold_spans.read_gold(path) == {"a": gold("x")}


def test_benchmark_measures_gold_spans_and_skips_a_site_without_them(tmp_path: Path) -> None:
    questions = [
        {"id": "a", "question": "How thick is the chain of a mooring?", "gold_urls": ["mooring/"],
         "answerable": True},
        {"id": "u", "question": "Who sang at the Vienna opera?", "gold_urls": [],
         "answerable": False},
    ]  # fmt: skip
    rows = [{"id": "a", "gold_sections": ["mooring/#chains"], "answer_spans": ["twelve  milli"],
             "need": "all"}]  # fmt: skip
    for name in ("harbour", "quay"):
        sites.write_site(tmp_path / "sites" / name, plugins=["search"])
        sites.put(tmp_path / "questions" / f"{name}.jsonl", "\n".join(map(json.dumps, questions)))
    sites.put(tmp_path / "gold" / "harbour.jsonl", "\n".join(map(json.dumps, rows)))
    done = subprocess.run(
        [sys.executable, str(sites.ROOT / "eval" / "bench" / "questions.py"),
         "--data", str(tmp_path), "--json"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    harbour, quay = json.loads(done.stdout)["rows"]
    names = ("contains_first", "contains", "first_section", "any_section", "precision")
    assert [harbour[name] for name in names] == [1.0] * 5
    assert (harbour["gold"], harbour["shown_words"]) == (1, 9.0)
    assert not {*names, "gold"} & set(quay)
    assert quay["seen"] == [{"answerable": 1, "page_visible": 1.0}]
    (seen_row,) = harbour["seen"]
    parts = ("in_first_card", "in_open_part", "in_excerpts", "in_sections", "page_visible")
    assert [seen_row[name] for name in parts] == [1.0] * 5
    assert (seen_row["upper"], seen_row["upper_without_span"]) == (1, 0.0)
    assert "quay: no gold spans" in done.stderr
