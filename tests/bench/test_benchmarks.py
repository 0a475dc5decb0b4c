"""The benchmarks, each run alone: on a tiny set of our own and on the real data where it is."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.serve.bundle_format.container import Container
from answerable.serve.errors import BundleError
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import PassageTexts
from answerable.serve.types import Passage
from support import doubles, sites
from support.deadlines import PATIENCE
from support.fuzz_settings import DEEP, deep

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import answers
import passage_ranks
import scoring
import tables

BENCH = sites.ROOT / "eval" / "bench"


def run(name: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCH / name), *args],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(name: str, data: Path) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(run(name, "--data", str(data), "--json"))
    return printed


def rows(name: str, data: Path) -> list[dict[str, Any]]:
    measured: list[dict[str, Any]] = results(name, data)["rows"]
    return measured


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
    assert (row["n"], row["at_1"], row["at_3"], row["at_8"]) == (1, 1.0, 1.0, 1.0)
    assert (row["top_8"], row["evidence"]) == (1.0, 1.0)
    assert (row["answered"], row["refused"], row["auroc_unanswerable"]) == (1.0, 1.0, 1.0)
    recall = [(each["name"], each["n"], each["found"], each["recall"]) for each in row["recall"]]
    assert recall == [("at 1", 1, 1, 1.0), ("at 3", 1, 1, 1.0), ("at 8", 1, 1, 1.0)]
    assert [(each["name"], each["answered"], each["refused"]) for each in row["decisions"]] == [
        ("answerable", 1, 0), ("unanswerable", 0, 1)
    ]  # fmt: skip
    claims = row["shown"][0]
    assert (claims["name"], claims["shown"], claims["words"]) == ("claims", 1, 9.0)
    assert (claims["holds"], claims["of_all"], claims["mean_held"]) == (None, None, None)


TEXTS = {
    "a": "Chains are twelve millimetres thick.",
    "b": "Lanterns warn of wind.",
    "c": "Ropes are doubled before storms.",
}


def write_corpus(folder: Path, groups: dict[str, str]) -> None:
    write_lines(
        folder / "corpus.jsonl",
        [
            {"id": name, "title": name, "text": text}
            | ({"group": groups[name]} if name in groups else {})
            for name, text in TEXTS.items()
        ],
    )


def test_retrieval_on_a_set_of_our_own(tmp_path: Path) -> None:
    folder = tmp_path / "retrieval" / "tiny"
    write_corpus(folder, {name: name for name in TEXTS})
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
    assert (row["n"], row["hit_1"], row["hit_3"], row["hit_8"]) == (2, 1.0, 1.0, 1.0)
    assert (row["ndcg_10"], row["top_8"], row["evidence"]) == (1.0, 1.0, 1.0)
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


CHAINS = {"text": "how thick are chains", "kind": "answerable", "gold": ["a"]}
VIENNA = {"text": "who sang in Vienna", "kind": "ooc"}


@pytest.mark.parametrize(
    ("groups", "queries", "tiers"),
    [
        ({"a": "x"}, [{**CHAINS, "group": "x"}], ["ooc"]),
        # Its own texts cannot be hidden, so the tier would be of questions that are answered.
        ({"a": "x"}, [{**CHAINS, "group": "y"}], []),
        ({"b": "x"}, [CHAINS], []),
        ({}, [{**CHAINS, "group": None}], []),
        # What a set labels is not mixed with what is hidden.
        ({"a": "x"}, [{**CHAINS, "group": "x"}, VIENNA], ["ooc"]),
    ],
)  # fmt: skip
def test_a_masked_tier_needs_groups_of_the_corpus(
    tmp_path: Path, groups: dict[str, str], queries: list[dict[str, Any]], tiers: list[str]
) -> None:
    write_corpus(tmp_path / "retrieval" / "tiny", groups)
    write_lines(tmp_path / "retrieval" / "tiny" / "queries.jsonl", queries)
    (row,) = rows("retrieval.py", tmp_path)
    assert [(each["name"], each["questions"]) for each in row["decisions"]] == [
        (tier, 1) for tier in ["answerable", *tiers]
    ]
    assert [key for key in row if key.startswith(("auroc_", "refused_"))] == [
        f"{measure}_{tier}" for measure in ("auroc", "refused") for tier in tiers
    ]


def test_a_set_of_one_kind_has_no_share_of_the_other(tmp_path: Path) -> None:
    write_corpus(tmp_path / "retrieval" / "refusals", {})
    write_lines(tmp_path / "retrieval" / "refusals" / "queries.jsonl", [VIENNA])
    (row,) = rows("retrieval.py", tmp_path)
    assert (row["n"], row["hit_1"], row["ndcg_10"], row["answered"]) == (0, None, None, None)
    assert (row["auroc_ooc"], row["refused_ooc"]) == (None, 1.0)


def test_data_that_lacks_something_is_skipped_with_a_sentence(tmp_path: Path) -> None:
    sites.write_site(tmp_path / "sites" / "harbour", plugins=["search"])
    sites.write_site(tmp_path / "sites" / "themed", plugins=["no-such-plugin"])
    sites.put(tmp_path / "sites" / "bare" / "docs" / "index.md", "# Bare")
    row = {"question": "How thick is a mooring chain?", "answerable": True}
    for name in ("harbour", "elsewhere", "themed"):
        write_lines(tmp_path / "questions" / f"{name}.jsonl", [{**row, "gold_urls": []}])
    write_lines(tmp_path / "questions" / "broken.jsonl", [row])
    sites.put(tmp_path / "questions" / "empty.jsonl", "\n")
    write_corpus(tmp_path / "retrieval" / "askless", {})
    write_corpus(tmp_path / "retrieval" / "kindless", {})
    write_lines(tmp_path / "retrieval" / "kindless" / "queries.jsonl", [{"text": "why"}])
    write_corpus(tmp_path / "retrieval" / "goldless", {})
    write_lines(
        tmp_path / "retrieval" / "goldless" / "queries.jsonl",
        [VIENNA, {"text": "how thick are chains", "kind": "answerable"}],
    )
    write_corpus(tmp_path / "retrieval" / "malformed", {})
    sites.put(tmp_path / "retrieval" / "malformed" / "queries.jsonl", "no JSON")

    questions = results("questions.py", tmp_path)
    assert [row["name"] for row in questions["rows"]] == ["harbour"]
    assert [reason.replace(str(tmp_path), "DIR") for reason in questions["skipped"]] == [
        "broken: skipped, DIR/questions/broken.jsonl, line 1 lacks the field 'gold_urls'",
        "elsewhere: skipped, its site's DIR/sites/elsewhere/mkdocs.yml is missing",
        "empty: skipped, DIR/questions/empty.jsonl holds no question",
        "themed: skipped, MkDocs cannot load its site's mkdocs.yml here, as its error above says",
    ]
    retrieval = results("retrieval.py", tmp_path)
    assert retrieval["rows"] == []
    askless, goldless, kindless, malformed = retrieval["skipped"]
    assert goldless.endswith("goldless/queries.jsonl, line 2 lacks the field 'gold'")
    assert askless.endswith("askless/queries.jsonl cannot be read: No such file or directory")
    assert kindless.endswith("kindless/queries.jsonl, line 1 lacks the field 'kind'")
    assert "malformed/queries.jsonl, line 1 is not JSON: " in malformed
    printed = run("retrieval.py", "--data", str(tmp_path)).splitlines()
    assert printed[-4:] == retrieval["skipped"]


def test_a_site_without_its_configuration_is_not_timed(tmp_path: Path) -> None:
    sites.put(tmp_path / "sites" / "bare" / "docs" / "index.md", "# Bare")
    sites.write_site(tmp_path / "sites" / "themed", plugins=["no-such-plugin"])
    bare, themed = results("build.py", tmp_path)["skipped"]
    assert bare == f"bare: skipped, {tmp_path}/sites/bare/mkdocs.yml is missing"
    assert themed.startswith("themed: skipped, its site does not build without the plugin either: ")
    assert "no-such-plugin" in themed


def test_json_lines_may_hold_any_line_separator_of_unicode(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "one\u2028two"}\r\n\n{"text": "three"}\n', encoding="utf-8")
    assert [row["text"] for row in tables.read_lines(path)] == ["one\u2028two", "three"]


def test_all_passages_are_ranked_without_reading_a_text(tmp_path: Path) -> None:
    """Each text is decompressed: over 7,000 passages that took seconds a question."""
    sites.write_site(tmp_path, plugins=["search", "answerable"])
    assert sites.build(tmp_path, "-q").returncode == 0
    bundle = sites.opened(tmp_path)
    texts = PassageTexts([0], len(bundle.passage_ids), lambda _: Container({}))
    textless = replace(bundle, texts=texts)
    question = "What warns of wind above thirty knots?"
    (vector,) = sites.local().embed([question])
    with pytest.raises(BundleError):
        doubles.retrieve(textless, question, vector)
    expected = doubles.retrieve(bundle, question, vector, 9, near=9)
    urls = [s.item.url for s in (*expected.passages, *expected.near_passages)]

    ranked = passage_ranks.rank_all(make_engine(textless, sites.local()), question)
    records = passage_ranks.order_records(textless, ranked)
    assert (records[0], sorted(records)) == ("storms", ["index", "mooring", "storms"])
    pages = passage_ranks.order_pages(textless, ranked)
    assert pages == list(dict.fromkeys(url.partition("#")[0] for url in urls))
    assert passage_ranks.first_rank(pages, {pages[1], pages[2]}) == 2
    assert passage_ranks.first_rank(pages, set()) == math.inf
    best = expected.passages[0].base
    assert passage_ranks.top_base(ranked) == best
    storms = textless.passage_records == list(textless.record_ids).index("storms")
    assert passage_ranks.top_base(ranked, storms) < best
    assert passage_ranks.top_base(ranked, np.ones_like(storms)) == -math.inf


def test_a_question_of_stop_words_ranks_nothing(tmp_path: Path) -> None:
    sites.write_site(tmp_path, plugins=["search", "answerable"])
    assert sites.build(tmp_path, "-q").returncode == 0
    bundle = sites.opened(tmp_path)
    ranked = passage_ranks.rank_all(make_engine(bundle, sites.local()), "what is the")
    assert (
        passage_ranks.order_records(bundle, ranked),
        passage_ranks.order_pages(bundle, ranked),
    ) == ([], [])
    assert passage_ranks.top_base(ranked) == -math.inf


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
    assert scoring.measure_reference(
        text, ["ropes are two", "chains are thin as wire"]
    ) == pytest.approx(2 / 5)
    assert scoring.measure_reference(text, [[0, "ten millimetres"], [9, "are twelve"]]) == 1.0
    assert scoring.measure_reference(text, [[0, "ten millimetres"]]) == 0.0
    assert scoring.measure_reference(text, []) is None


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


def answered_question(
    kind: str, reference: str, claims: str, top: Passage | None = TOP
) -> answers.AnsweredQuestion:
    return answers.AnsweredQuestion(kind, [reference], top, claims, refused=not claims)


ASKED = [
    # The claims hold all of it, the first three sentences nothing.
    answered_question("answerable", "seven eight", "Seven eight."),
    # The first three sentences hold all of it, the claims nothing, the first two words half.
    answered_question("answerable", "two five", "Seven eight."),
    # The answerer declined; then the floor refused.
    answered_question("answerable", "five six", ""),
    answered_question("answerable", "five six", "", None),
    answered_question("close", "", "One two."),
    answered_question("close", "", "", None),
    answered_question("close", "", ""),
]


def test_decisions_count_what_the_floor_and_the_engine_refuse() -> None:
    answerable, close = answers.count_decisions(ASKED)
    assert {key: answerable[key] for key in ("name", "questions", "above_floor", "right")} == {
        "name": "answerable", "questions": 4, "above_floor": 3, "right": 0.5
    }  # fmt: skip
    assert (answerable["answered"], answerable["refused"]) == (2, 2)
    assert (close["above_floor"], close["answered"], close["refused"]) == (2, 1, 2)
    assert close["right"] == pytest.approx(2 / 3)


def test_claims_are_compared_with_other_ways_to_answer() -> None:
    claims, sentences, words, whole = answers.measure_shown(ASKED)
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


@pytest.mark.parametrize("name", ["questions.py", "retrieval.py", "build.py"])
def test_absent_data_is_named_and_skipped(tmp_path: Path, name: str) -> None:
    assert "skipped, no data at" in run(name, "--data", str(tmp_path / "nowhere"))
    empty = results(name, tmp_path)
    (reason,) = empty["skipped"]
    assert (empty["rows"], reason.endswith(f"in {tmp_path}")) == ([], True), reason


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
def test_real_questions_find_their_pages(tmp_path: Path) -> None:
    data = sites.DATA
    if not DEEP:
        data = tmp_path
        for name in ("questions/httpx.jsonl", "sites/httpx"):
            (data / name).parent.mkdir()
            (data / name).symlink_to(sites.DATA / name)
    measured = results("questions.py", data)
    if not measured["rows"]:
        pytest.skip(" ".join(measured["skipped"]))
    for row in measured["rows"]:
        assert row["at_1"] <= row["at_3"] <= row["at_8"] <= 1, row
        count_decisions = {each["name"]: each["right"] for each in row["decisions"]}
        assert count_decisions.get("answerable") == row["answered"]
        assert count_decisions.get("unanswerable") == row["refused"]
    for row in measured["rows"]:
        if row["name"] == "httpx":
            assert row["n"] == 26
            assert row["at_1"] >= 14 / 26, row
            assert row["at_3"] >= 21 / 26, row
            assert row["at_8"] >= 26 / 26, row
            assert row["auroc_unanswerable"] >= 0.75


@pytest.mark.skipif(not sites.DATA.is_dir(), reason=f"no data at {sites.DATA}")
@deep
def test_public_questions_find_their_passages_and_others_do_not() -> None:
    measured = results("retrieval.py", sites.DATA)
    if not measured["rows"]:
        pytest.skip(" ".join(measured["skipped"]))
    for row in measured["rows"]:
        assert row["hit_1"] <= row["hit_3"] <= row["hit_8"] <= 1, row
        shipped = {each["name"]: each for each in row["floors"]}["0.36"]
        assert shipped["answered"] == row["answered"]
        for each in row["decisions"]:
            above = each["above_floor"] / each["questions"]
            if each["name"] == "answerable":
                assert above == pytest.approx(row["answered"])
            else:
                assert shipped[f"refused_{each['name']}"] == row[f"refused_{each['name']}"]
                assert 1 - above == pytest.approx(row[f"refused_{each['name']}"])
                assert each["right"] >= 1 - above
    for row in measured["rows"]:
        if row["name"] == "clapnq":
            check_clapnq(row)


def check_clapnq(row: dict[str, Any]) -> None:
    assert row["hit_8"] >= 0.985
    assert row["ndcg_10"] >= 0.96
    assert row["auroc_ooc"] >= 0.93
    assert row["auroc_adversarial"] >= 0.83
    assert [(each["name"], each["questions"]) for each in row["decisions"]] == [
        ("answerable", 300), ("adversarial", 300), ("ooc", 300)
    ]  # fmt: skip
    claims, sentences, words, whole = row["shown"]
    # An excerpt is longer than three sentences, and shorter than the passage that it is cut from.
    assert claims["of_all"] >= 0.75
    assert sentences["words"] < claims["words"] < whole["words"]
    assert sentences["holds"] < words["holds"] < claims["holds"] < whole["holds"]
