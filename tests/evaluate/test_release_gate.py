"""The gate: what counts as a flip, and a marginal case that one encoding holds and one flips."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from answerable.evaluate.gate import (
    GateReport,
    JudgedSite,
    VerdictComparison,
    compute_all_cosines,
    find_regressions,
    format_regressions,
    is_failing,
    judge_contents,
    load_gate_queries,
    open_unpublished,
    spearman_correlation,
    summarize_gate_report,
)
from answerable.evaluate.gold import GoldQuery
from answerable.evaluate.sources import NoteSources
from answerable.evaluate.verdict import Verdict
from answerable.indexing.index import SiteIndex, encode_vectors
from answerable.indexing.output.bundle_writer import make_manifest, serialize_index
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.embedders.embedder import EmbedderIdentity, Vectors
from answerable.serve.errors import GoldError
from answerable.serve.retrieval.retrieve import TOP_K
from answerable.serve.retrieval.scoring import score_all_codes
from answerable.serve.vectors import Encoding, open_codes
from support.doubles import NOON, bundle_of, index_of, note, record

Floats = NDArray[np.float32]

# Plain cosines, and nothing is refused.
PLAIN = Profile(hybrid=0, floor=-1, note_floor=-1, name_boost=0, theme_boost=0, recency=0)
DIMENSIONS = 32
IDENTITY = EmbedderIdentity("test", "script", DIMENSIONS)
INT8 = Encoding("int8", DIMENSIONS)
QUESTION = "Which buoy is nearer?"
OTHERS = 20


def verdict(
    *issues: str, top: str | None = "a", refused: bool = False, expected: bool = True
) -> Verdict:
    return Verdict("q", QUESTION, issues, top, below_floors=refused, top_expected=expected)


REFUSED = verdict("expected source 'a' not retrieved", top=None, refused=True, expected=False)
LOST = verdict("expected source 'a' not retrieved", top="b", expected=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (verdict(), verdict()),
        (LOST, verdict()),
        (REFUSED, verdict()),
        (LOST, LOST),
        (REFUSED, REFUSED),
        (verdict(top="b", expected=False), verdict(top="c", expected=False)),
        # It has found the source and put it first, and still fails for something else.
        (LOST, verdict("answer mode 'partial' (expected 'supported')")),
        # A refusal that is right now, or wrong no more, is what the query wants.
        (verdict("forbidden source 'a' was retrieved", expected=False),
         verdict(top=None, refused=True, expected=False)),
    ],
)  # fmt: skip
def test_verdict_that_is_no_worse_is_no_flip(before: Verdict, after: Verdict) -> None:
    assert find_regressions(before, after) == ()


def test_a_verdict_that_fails_under_the_lever_alone_is_a_flip_by_its_issues() -> None:
    failing = verdict("forbidden source 'c' was retrieved", "top source is not 'a'")
    assert find_regressions(verdict(), failing) == failing.issues
    assert find_regressions(failing, failing) == ()
    assert find_regressions(failing, verdict()) == ()


def test_a_refusal_that_came_is_a_flip_even_where_the_verdict_fails_either_way() -> None:
    assert find_regressions(LOST, REFUSED) == ("refused by the floor",)
    came = find_regressions(verdict(), REFUSED)
    assert came == ("expected source 'a' not retrieved", "refused by the floor")


def test_a_refusal_that_went_is_a_flip_even_where_the_verdict_holds() -> None:
    silent = verdict(top=None, refused=True, expected=False)
    assert find_regressions(silent, verdict(expected=False)) == ("no longer refused by the floor",)
    assert find_regressions(REFUSED, LOST) == ("no longer refused by the floor",)


def test_an_expected_source_that_lost_the_top_slot_is_a_flip_though_it_is_retrieved() -> None:
    under = verdict(top="b", expected=False)
    assert under.passed
    assert find_regressions(verdict(), under) == ("the top slot went from a to b",)
    assert find_regressions(under, verdict()) == ()
    # One of two expected sources may give way to the other.
    assert find_regressions(verdict(), verdict(top="b")) == ()


def numbers(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def test_rank_correlation_equals_value_by_hand() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
    correlation = spearman_correlation(numbers(1, 2, 2, 4), numbers(10, 30, 20, 40))
    assert correlation == pytest.approx(4.5 / math.sqrt(22.5), abs=1e-12)
    # Ranks 1, 2, 3, 4, 5 and 2, 1, 4, 3, 5: 1 - 6 * 4 / (5 * 24).
    correlation = spearman_correlation(numbers(1, 2, 3, 4, 5), numbers(0.2, 0.1, 0.4, 0.3, 0.5))
    assert correlation == pytest.approx(0.8, abs=1e-12)


def test_rank_correlation_of_equal_reversed_and_constant_lists() -> None:
    some = numbers(0.3, -0.2, 0.9, 0.3)
    flat = np.zeros(4, dtype=np.float32)
    assert spearman_correlation(some, some) == pytest.approx(1, abs=1e-12)
    assert spearman_correlation(some, -some) == pytest.approx(-1, abs=1e-12)
    assert spearman_correlation(some, flat) == 0
    assert spearman_correlation(flat, some) == spearman_correlation(flat, flat) == 1
    assert (
        spearman_correlation(numbers(), numbers())
        == spearman_correlation(numbers(1), numbers(2))
        == 1
    )


@given(st.lists(st.tuples(st.integers(-100, 100), st.integers(-100, 100)), max_size=40))
def test_rank_correlation_depends_on_order_alone(pairs: list[tuple[int, int]]) -> None:
    first, second = (numbers(*column) for column in zip(*pairs, strict=True)) if pairs else (
        numbers(), numbers()
    )  # fmt: skip
    correlation = spearman_correlation(first, second)
    # Both maps rise, and are exact in float32.
    risen, moved = first * first * first + 2 * first, second / 4 - 7
    assert spearman_correlation(risen.astype(np.float32), moved.astype(np.float32)) == correlation
    assert -1 - 1e-12 <= correlation <= 1 + 1e-12
    if first.size and first.min() < first.max():
        assert spearman_correlation(first, -second) == pytest.approx(-correlation, abs=1e-12)


def comparison(name: str, *flips: str, rho: float = 1.0) -> VerdictComparison:
    return VerdictComparison(name, True, not flips, "a", "a", flips, rho)


def report(total: int, *comparisons: VerdictComparison) -> GateReport:
    return GateReport("int4", "0" * 64, 2_000_000, 500_000, total, comparisons)


def test_report_certifies_if_whole_and_every_verdict_holds() -> None:
    whole = report(2, comparison("one", rho=0.5), comparison("two", rho=0.9))
    assert (whole.is_whole, whole.held_count, whole.certified, whole.word) == (
        True,
        2,
        True,
        "CERTIFIED",
    )
    assert whole.rho_mean == pytest.approx(0.7)
    assert whole.rho_min == 0.5
    assert summarize_gate_report(whole) == (
        "int4 CERTIFIED: 2 of 2 verdicts hold, rank correlation 0.7000 (least 0.5000), "
        "0.50 MB instead of 2.00"
    )


def test_report_with_one_flip_rejects_and_names_it() -> None:
    flipped = report(2, comparison("one"), comparison("two", "refused by the floor", "and more"))
    assert (flipped.held_count, flipped.certified, flipped.word) == (1, False, "REJECTED")
    assert format_regressions(flipped) == "two: refused by the floor, and more"


def test_gold_set_that_fails_at_full_precision_certifies_nothing() -> None:
    failing = VerdictComparison("two", False, False, "a", "a", (), 1.0)
    certified = report(2, comparison("one"), failing)
    assert (certified.held_count, certified.failing, certified.flipped) == (2, ("two",), ())
    assert (certified.certified, certified.word) == (False, "UNCERTIFIED")
    assert summarize_gate_report(certified).startswith(
        "int4 UNCERTIFIED: the gold set fails at full precision: 1 query; nothing can be "
        "certified; 2 of 2 verdicts hold, "
    )
    both = report(3, comparison("one"), failing, comparison("three", "refused by the floor"))
    assert (both.certified, both.word, both.flipped) == (False, "REJECTED", ("three",))
    mended = VerdictComparison("two", False, True, "a", "a", (), 1.0)
    assert not report(2, comparison("one"), mended).certified


def test_known_failure_keeps_nothing_from_being_certified() -> None:
    issue = verdict("expected source 'a' not retrieved")
    assert is_failing(issue)
    assert not is_failing(replace(issue, known_failure="the page is missing"))
    assert not is_failing(replace(verdict(), known_failure="the page was missing"))
    assert not is_failing(verdict())


@pytest.mark.parametrize("count", [0, 1])
def test_a_part_of_a_gold_set_certifies_nothing(count: int) -> None:
    gate_report = report(2, *(comparison(str(n)) for n in range(count)))
    assert (gate_report.held_count, gate_report.is_whole) == (count, False)
    assert (gate_report.certified, gate_report.word) == (False, "UNCERTIFIED")
    assert "a part never certifies" in summarize_gate_report(gate_report)


@dataclass(frozen=True)
class Scripted:
    """Look up the vector of a text by its first line, which is a page's title or a question."""

    table: Mapping[str, Floats]
    identity: EmbedderIdentity = IDENTITY
    max_question_tokens: int = 0

    def word_rank(self, word: str) -> int | None:
        del word
        return None

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.table[text.split("\n")[0]] for text in texts])


def unit(vector: NDArray[np.float64]) -> Floats:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def scores(rows: Floats, query: Floats, encoding: Encoding) -> Floats:
    """Compute the cosines that an engine gives some rows in an encoding."""
    stream = open_codes(encoding, encode_vectors(rows, encoding))
    return score_all_codes(stream, unit(query[: encoding.dimensions].astype(np.float64)))


@dataclass(frozen=True)
class Marginal:
    """Two pages whose cosines with the question differ by a hair, and others far behind."""

    embedder: Scripted
    index: SiteIndex

    def judge(
        self, encoding: Encoding, *queries: GoldQuery, total: int | None = None
    ) -> GateReport:
        site = self.site(*queries, total=total)
        return judge_contents(site, serialize_index(self.index, encoding))

    def site(self, *queries: GoldQuery, total: int | None = None) -> JudgedSite:
        total = total or len(queries)
        return JudgedSite(self.index, self.embedder, PLAIN, queries, total, {}, full=False)

    def retrieved(self, encoding: Encoding) -> list[str]:
        """List the records that an engine in an encoding retrieves, best first."""
        with open_unpublished(self.site(), serialize_index(self.index, encoding)) as engine:
            return [scored.item.record for scored in engine.retrieve(QUESTION).passages]


def marginal(folder: Path, lever: Encoding) -> Marginal:
    """Draw a case in which `a` leads at full precision and as int8, and `b` under a lever."""
    for seed in count():
        assert seed < 100_000, "no such case was found"
        random = np.random.default_rng(seed)
        query = unit(random.normal(size=DIMENSIONS))
        pair = np.stack([unit(query + 0.08 * random.normal(size=DIMENSIONS)) for _ in "ab"])
        full, holding, lost = (
            np.subtract(*scores(pair, query, encoding))
            for encoding in (Encoding("float32", DIMENSIONS), INT8, lever)
        )
        if 0.001 < full < 0.01 and holding > 0.001 and lost < -0.001:
            break
    others = [unit(random.normal(size=DIMENSIONS) - query) for _ in range(OTHERS)]
    titles = ["Alpha", "Bravo", *(f"Other {n}" for n in range(OTHERS))]
    table = dict(zip(titles, [*pair, *others], strict=True))
    embedder = Scripted({**table, QUESTION: query})
    # The loser under full precision stands first, so that no tie would favour the winner.
    names = {"b": "Bravo", "a": "Alpha", **{f"o{n}": f"Other {n}" for n in range(OTHERS)}}
    pages = [record(name, "<p>A buoy.</p>", title) for name, title in names.items()]
    return Marginal(embedder, index_of(folder, pages, embedder=embedder))


EXPECTED = GoldQuery("near", QUESTION, expect_sources=("a",))
TOP = msgspec.structs.replace(EXPECTED, id="top", expect_sources=(), top_source="a")

LEVERS = [
    Encoding("int4", DIMENSIONS),
    Encoding("int4", DIMENSIONS // 2),
    Encoding("int8", DIMENSIONS // 2),
    Encoding("float32", DIMENSIONS - 8),
]


@pytest.fixture(params=LEVERS, ids=lambda lever: str(lever.label(DIMENSIONS)))
def lever(request: pytest.FixtureRequest) -> Encoding:
    encoding: Encoding = request.param
    return encoding


def test_a_marginal_case_that_int8_holds_is_rejected_for_the_top_slot_alone(
    tmp_path: Path, lever: Encoding
) -> None:
    case = marginal(tmp_path, lever)
    holding = case.judge(INT8, EXPECTED, TOP)
    assert (holding.word, holding.held_count) == ("CERTIFIED", 2)
    assert case.retrieved(INT8)[:2] == ["a", "b"]

    lost = case.judge(lever, EXPECTED)
    assert (lost.word, lost.held_count, lost.lever) == ("REJECTED", 0, lever.label(DIMENSIONS))
    (changed,) = lost.comparisons
    # The verdict itself holds: the source is among the best eight.
    assert (changed.passed_before, changed.passed_after) == (True, True)
    assert (changed.top_before, changed.top_after) == ("a", "b")
    assert changed.flips == ("the top slot went from a to b",)
    assert format_regressions(lost) == "near: the top slot went from a to b"
    under = case.retrieved(lever)
    assert under[:2] == ["b", "a"]
    assert len(under) == TOP_K


def test_a_marginal_top_source_fails_its_verdict_under_the_lever(
    tmp_path: Path, lever: Encoding
) -> None:
    (changed,) = marginal(tmp_path, lever).judge(lever, TOP).comparisons
    assert (changed.passed_before, changed.passed_after) == (True, False)
    assert changed.flips == ("top source is not 'a'",)


def test_one_flip_among_verdicts_that_hold_rejects_and_a_part_does_not_certify(
    tmp_path: Path,
) -> None:
    case = marginal(tmp_path, LEVERS[0])
    either = msgspec.structs.replace(EXPECTED, id="either", expect_sources=("a", "b"))
    whole = case.judge(LEVERS[0], either, EXPECTED)
    assert [each.id for each in whole.comparisons if each.holds] == ["either"]
    assert whole.word == "REJECTED"
    part = case.judge(LEVERS[0], either, total=2)
    assert (part.held_count, part.word, part.certified) == (1, "UNCERTIFIED", False)
    assert case.judge(LEVERS[0], either).word == "CERTIFIED"


def test_the_floor_that_refuses_under_the_lever_alone_is_a_flip(tmp_path: Path) -> None:
    lever = Encoding("int8", DIMENSIONS // 2)
    case = marginal(tmp_path, lever)
    pair = np.stack([case.embedder.table[title] for title in ("Alpha", "Bravo")])
    query = case.embedder.table[QUESTION]
    full = scores(pair, query, Encoding("float32", DIMENSIONS)).max()
    under = scores(pair, query, lever).max()
    assert under < full
    profile = replace(PLAIN, floor=float(full + under) / 2)
    gold = (msgspec.structs.replace(EXPECTED, expect_sources=()),)
    site = JudgedSite(case.index, case.embedder, profile, gold, 1, {}, full=False)
    gate_report = judge_contents(site, serialize_index(case.index, lever))
    assert gate_report.comparisons[0].flips == ("refused by the floor",)
    assert gate_report.word == "REJECTED"


def test_a_report_names_the_bundle_that_would_be_published(tmp_path: Path) -> None:
    case = marginal(tmp_path, LEVERS[0])
    gate_report = case.judge(INT8, EXPECTED)
    contents = serialize_index(case.index, INT8)
    published = make_manifest(contents, IDENTITY, PLAIN, NOON)
    assert gate_report.bundle == published.id
    assert gate_report.bytes_after == sum(file.bytes for file in published.files.values())
    full = serialize_index(case.index, Encoding("float32", DIMENSIONS))
    assert gate_report.bytes_before == sum(map(len, full.files.values())) > gate_report.bytes_after


def test_both_streams_count_in_the_rank_correlation(tmp_path: Path) -> None:
    table = {"Alpha": numbers(1, 0), "Label n": numbers(0, 1), QUESTION: numbers(3, 4)}
    embedder = Scripted(table, EmbedderIdentity("test", "script", 2))
    index = index_of(tmp_path, [record("a", "<p>A</p>", "Alpha")], [note("n", "")], embedder)
    bundle = bundle_of(tmp_path, index, PLAIN, embedder.identity, Encoding("float32", 2))
    cosines = compute_all_cosines(bundle, table[QUESTION])
    assert cosines.tolist() == pytest.approx([0.6, *[0.8] * (len(cosines) - 1)])
    assert len(cosines) > 1


GOLD = """
queries:
  - {id: one, query: first, expectSources: [a]}
  - {id: two, query: second, expectSources: [n.md], topSource: a#part, checkNegation: true}
"""


def test_gate_case_loads_gold_set(tmp_path: Path) -> None:
    path = tmp_path / "gold.yaml"
    path.write_text(GOLD)
    pages = [record("a", "<p>A buoy.</p><h2 id='part'>Part</h2><p>A chain.</p>")]
    index = index_of(tmp_path, pages, [note("n", "A winch.")])
    sources = NoteSources({"n.md": "note-n"})
    queries, total = load_gate_queries(path, None, index, sources, check_negation=False)
    assert ([query.id for query in queries], total) == (["one", "two"], 2)
    # The file says so for one query, and the option for the other.
    assert [query.check_negation for query in queries] == [False, True]
    load = partial(load_gate_queries, path, None, index, sources, check_negation=True)
    part, total = load(ids=["two"])
    assert [query.check_negation for query in part] == [True]
    assert ([query.id for query in part], total) == (["two"], 2)
    with pytest.raises(GoldError, match="'three'"):
        load(ids=["three"])


@pytest.mark.parametrize("gone", ["a", "a#part", "n.md"])
def test_gate_case_with_unknown_source_is_refused(tmp_path: Path, gone: str) -> None:
    path = tmp_path / "gold.yaml"
    path.write_text(GOLD)
    html = "<p>A buoy.</p><h2 id='part'>Part</h2><p>A chain.</p>"
    if gone == "a#part":
        html = html.replace("part", "other")
    pages = [record("z" if gone == "a" else "a", html)]
    notes = [] if gone == "n.md" else [note("n", "A winch.")]
    index = index_of(tmp_path, pages, notes)
    sources = NoteSources({each.path: each.id for each in notes})
    # Asking for the other query alone does not hide it.
    # What may be the path of a note is not named in a build's log.
    shown = "for number 1" if gone == "n.md" else f"'{gone}'"
    with pytest.raises(GoldError, match=f"there is no record, passage or note {shown}"):
        load_gate_queries(
            path,
            None,
            index,
            sources,
            check_negation=True,
            ids=["one" if gone != "a" else "two"],
        )
