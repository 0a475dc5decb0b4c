"""The benchmarks, each run alone: on a tiny set of our own and on the real data where it is."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sites
from answerable.serve.types import Passage
from fuzzing import deep

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import answers
import scoring
import tables

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
    assert (row["answered"], row["refused"], row["auroc_unanswerable"]) == (1.0, 1.0, 1.0)
    assert [(each["name"], each["found"], each["recall"]) for each in row["recall"]] == [
        ("at 1", 1, 1.0), ("at 3", 1, 1.0), ("at 8", 1, 1.0)
    ]  # fmt: skip
    assert [(each["name"], each["answered"], each["refused"]) for each in row["decisions"]] == [
        ("answerable", 1, 0), ("unanswerable", 0, 1)
    ]  # fmt: skip
    claims = row["shown"][0]
    assert (claims["name"], claims["shown"], claims["words"]) == ("claims", 1, 9.0)
    assert (claims["holds"], claims["of_all"], claims["mean_held"]) == (None, None, None)


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
            {"text": "how thick are chains", "group": "a", "kind": "answerable", "gold": ["a"],
             "ans": [[11, "TWELVE  millimetres"]]},
            {"text": "what do lanterns warn of", "group": "b", "kind": "answerable",
             "gold": ["b"], "ans": ["Lanterns tell sailors of wind"]},
            {"text": "who sang in Vienna", "group": "c", "kind": "adversarial", "gold": []},
        ],
    )  # fmt: skip
    (row,) = rows("retrieval.py", tmp_path)
    assert (row["hit_1"], row["hit_8"], row["ndcg_10"]) == (1.0, 1.0, 1.0)
    assert (row["auroc_adversarial"], row["auroc_ooc"]) == (1.0, 1.0)
    assert [(each["name"], each["right"]) for each in row["decisions"]] == [
        ("answerable", 1.0), ("adversarial", 1.0), ("ooc", 1.0)
    ]  # fmt: skip
    claims, sentences, words, whole = row["shown"]
    # Of the second reference's five words three are quoted: lanterns, of, wind.
    assert [each["mean_held"] for each in row["shown"]] == [0.8] * 4
    assert (claims["holds"], claims["words"]) == (2, 4.5)
    assert claims["name"] == "claims"
    assert all(each["words"] == 4.5 for each in (sentences, words, whole))
    printed = run("retrieval.py", "--data", str(tmp_path))
    assert [line for line in printed.splitlines() if " " not in line and line] == [
        "recall", "decisions", "floors", "shown"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "recall"),
    [
        # In the same order: the, cat, on, mat.
        ("The cat was on a mat.", 4 / 6),
        # The, on, the.
        ("mat the on sat cat the", 3 / 6),
        ("the cat sat on the mat", 1.0),
        ("", 0.0),
    ],
)
def test_recall_counts_the_reference_words_in_their_order(text: str, recall: float) -> None:
    assert scoring.rouge_l_recall(text, "The cat sat on the mat!") == pytest.approx(recall)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("In May\n 1997 it opened.", True),
        ("(IN MAY 1997)", True),
        ("in May 19971", False),
        ("within May 1997", False),
        ("", False),
    ],
)
def test_a_span_is_held_as_whole_words(text: str, *, holds: bool) -> None:
    assert scoring.holds_span(text, "in  May 1997") is holds


def test_the_reference_that_is_held_best_counts() -> None:
    text = "Chains are twelve millimetres thick."
    assert scoring.held(text, ["ropes are two", "chains are thin as wire"]) == pytest.approx(2 / 5)
    assert scoring.held(text, [[0, "ten millimetres"], [9, "are twelve"]]) == 1.0
    assert scoring.held(text, [[0, "ten millimetres"]]) == 0.0
    assert scoring.held(text, []) is None


def test_auroc_counts_pairs_and_half_of_ties() -> None:
    assert scoring.auroc([3.0, 1.0], [2.0, 1.0]) == 2.5 / 4
    assert scoring.auroc([3.0], []) is None


def test_floors_answer_and_refuse_by_the_score() -> None:
    rows = scoring.floors([0.7, 0.36, 0.2], {"close": [0.5, 0.3], "far": []})
    assert rows[0] == {
        "name": "0.30", "answered": 2 / 3, "refused_close": 0.0, "refused_far": None
    }  # fmt: skip
    assert rows[1] == {
        "name": "0.36", "answered": 2 / 3, "refused_close": 0.5, "refused_far": None
    }  # fmt: skip
    assert (rows[-1]["answered"], rows[-1]["refused_close"]) == (1 / 3, 1.0)


def test_recall_has_its_interval() -> None:
    first, third, eighth = scoring.recalls([1, 2, 3, 4, 5, 6, 7, 8, 9, math.inf])
    assert [each["found"] for each in (first, third, eighth)] == [1, 3, 8]
    # Wilson's interval of 8 of 10.
    assert eighth["recall"] == 0.8
    assert eighth["recall_low"] == pytest.approx(0.4902, abs=1e-4)
    assert eighth["recall_high"] == pytest.approx(0.9433, abs=1e-4)
    assert scoring.interval("x", 0, 0) == {"x": None, "x_low": None, "x_high": None}


TOP = Passage(
    id="a#x",
    record="a",
    url="/a/",
    title="A",
    text="One two. Three four.\n\nFive six. Seven eight.",
    sentences=((0, 8), (9, 20), (22, 31), (32, 44)),
)


def asked(kind: str, reference: str, claims: str, top: Passage | None = TOP) -> answers.Asked:
    return answers.Asked(kind, [reference], top, claims, refused=not claims)


ASKED = [
    # The claims hold all of it, the first three sentences nothing.
    asked("answerable", "seven eight", "Seven eight."),
    # The first three sentences hold all of it, the claims nothing, the first two words half.
    asked("answerable", "two five", "Seven eight."),
    # The answerer declined; then the floor refused.
    asked("answerable", "five six", ""),
    asked("answerable", "five six", "", None),
    asked("close", "", "One two."),
    asked("close", "", "", None),
    asked("close", "", ""),
]


def test_decisions_count_what_the_floor_and_the_engine_refuse() -> None:
    answerable, close = answers.decisions(ASKED)
    assert {key: answerable[key] for key in ("name", "questions", "above_floor", "right")} == {
        "name": "answerable", "questions": 4, "above_floor": 3, "right": 0.5
    }  # fmt: skip
    assert (answerable["answered"], answerable["refused"]) == (2, 2)
    assert (close["above_floor"], close["answered"], close["refused"]) == (2, 1, 2)
    assert close["right"] == pytest.approx(2 / 3)


def test_claims_are_compared_with_other_ways_to_answer() -> None:
    claims, sentences, words, whole = answers.shown(ASKED)
    keys = ("shown", "words", "holds", "of_all", "of_shown", "mean_held", "gains", "loses")
    assert [claims[key] for key in keys] == [2, 2.0, 1, 0.25, 0.5, 0.25, 0, 0]
    assert [sentences[key] for key in keys] == [3, 6.0, 2, 0.5, 2 / 3, 0.5, 2, 1]
    assert [words[key] for key in keys] == [2, 2.0, 1, 0.25, 0.5, 0.125, 1, 1]
    assert [whole[key] for key in keys] == [3, 8.0, 3, 0.75, 1.0, 0.75, 2, 0]


def test_the_first_sentences_are_cut_at_their_offsets() -> None:
    assert answers.first_sentences(ASKED[0]) == "One two. Three four.\n\nFive six."
    assert answers.first_words(ASKED[0]) == "one two"
    assert answers.first_sentences(ASKED[3]) == ""


def test_rows_within_rows_are_tables_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "tiny", "n": 1, "inner": [{"name": "a", "x": None}, {"name": "b", "x": 0.5}]}
    tables.print_rows("Title", [row], as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert lines == [
        ["Title"], ["name", "n"], ["tiny", "1"],
        ["inner"], ["set", "name", "x"], ["tiny", "a", "-"], ["tiny", "b", "0.500"],
    ]  # fmt: skip


def test_absent_data_is_said(tmp_path: Path) -> None:
    assert "skipped" in run("questions.py", "--data", str(tmp_path / "nowhere"))


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
def test_real_questions_find_their_pages() -> None:
    found = {row["name"]: row for row in rows("questions.py", sites.DATA)}
    row = found["httpx"]
    assert (row["at_1"] >= 14, row["at_3"] >= 21, row["at_8"] >= 26) == (True, True, True), row
    assert row["auroc_unanswerable"] >= 0.75
    answerable, others = row["decisions"]
    assert answerable["right"] == row["answered"]
    assert others["right"] == row["refused"]


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
@deep
def test_public_questions_find_their_passages_and_others_do_not() -> None:
    found = {row["name"]: row for row in rows("retrieval.py", sites.DATA)}
    row = found["clapnq"]
    assert row["hit_8"] >= 0.985
    assert row["ndcg_10"] >= 0.96
    assert row["auroc_ooc"] >= 0.93
    assert row["auroc_adversarial"] >= 0.83
    shipped = {each["name"]: each for each in row["floors"]}["0.36"]
    assert shipped["answered"] == row["answered"]
    assert shipped["refused_adversarial"] == row["refused_adversarial"]
    decisions = {each["name"]: each for each in row["decisions"]}
    assert decisions["answerable"]["above_floor"] / 300 == pytest.approx(row["answered"])
    for tier in ("adversarial", "ooc"):
        above = decisions[tier]["above_floor"] / 300
        assert 1 - above == pytest.approx(row[f"refused_{tier}"])
        assert decisions[tier]["right"] >= 1 - above
    claims, sentences, words, whole = row["shown"]
    assert claims["of_all"] >= 0.49
    assert claims["words"] < sentences["words"]
    assert words["holds"] < claims["holds"] < whole["holds"]
