"""Selection of evidence from a pool of candidates."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.bundle_format.manifest import LOCAL_PROFILE, Profile
from answerable.serve.engine import Engine
from answerable.serve.retrieval import selection
from answerable.serve.retrieval.retrieve import TOP_K, RetrievalResult
from answerable.serve.retrieval.scoring import Scored
from answerable.serve.retrieval.selection import decide_hints, decide_passages, select_evidence
from answerable.serve.types import Passage, RoutingHint
from support.doubles import bundle_of, engine_of, index_of, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

LONG = (
    "The chain of a mooring is twelve millimetres thick. It is taken up in autumn, cleaned of "
    "weed and looked at link by link. A link that has lost a third of its iron is replaced."
)


def scored(name: str, text: str, score: float, record: str = "") -> Scored[Passage]:
    passage = Passage(name, record or name, f"/{name}/", name, text)
    return Scored(passage, score, score, 0.0, score)


def pointed(name: str, score: float) -> Scored[RoutingHint]:
    return Scored(RoutingHint(name, name, "", "/a/"), score, score, 0.0, score)


def selected(*pool: Scored[Passage]) -> list[str]:
    return [passage.id for passage in select_evidence(RetrievalResult(pool)).passages]


def flat(*texts: str) -> Sequence[Scored[Passage]]:
    """Candidates that no margin parts."""
    return [scored(f"p{n}", text, 0.5) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (LONG, ["p0"]),
        (f"  {LONG.upper()}  ".replace(" ", "\n"), ["p0"]),
        (LONG.replace("third", "fourth"), ["p0"]),
        (LONG.split(". ")[1], ["p0"]),
        (LONG.replace("millimetres", "inches").replace("autumn", "spring")
         .replace("iron", "weight").replace("twelve", "two"), ["p0", "p1"]),
        (LONG + " " + LONG.replace("chain", "rope").replace("a", "e"), ["p0", "p1"]),
        ("Something else altogether.", ["p0", "p1"]),
        ("…", ["p0", "p1"]),
    ],
)  # fmt: skip
def test_of_near_duplicates_the_best_ranked_is_kept(again: str, expected: list[str]) -> None:
    assert selected(*flat(LONG, again)) == expected


def test_scripts_without_spaces_are_told_apart_by_letters() -> None:
    text = "係留には四十リットルのブイが必要です。鎖は秋に引き上げて洗います。"
    assert selected(*flat(text, text.replace("四十", "五十"))) == ["p0"]
    assert selected(*flat(text, "風が強いときは灯をともします。")) == ["p0", "p1"]


def test_one_record_keeps_its_four_best() -> None:
    texts = ["alpha one", "beta two", "gamma three", "delta four", "epsilon five", "zeta six"]
    pool = [scored(f"a{n}", text, 0.5, "a") for n, text in enumerate(texts)]
    assert selected(*pool, scored("b", "eta", 0.5)) == ["a0", "a1", "a2", "a3", "b"]


def test_the_best_base_score_of_a_page_stays_beside_its_four() -> None:
    texts = ["alpha one", "beta two", "gamma three", "delta four", "epsilon five", "zeta six"]
    pool = [scored(f"a{n}", text, 0.5 + n / 100, "a") for n, text in enumerate(texts)]
    assert selected(*pool, scored("b", "eta", 0.5)) == ["a0", "a1", "a2", "a3", "a5", "b"]


def test_a_passage_is_ordered_by_its_own_score_within_its_page(tmp_path: Path) -> None:
    rope = "<h2>Rope</h2><p>A rope of hemp is dried in the sun after each voyage.</p>"
    chain = "<h2>Chain</h2><p>A chain of iron is cleaned of its weed after each voyage.</p>"
    engine = engine_of(tmp_path, record("gear", rope + chain))
    pool = engine.retrieve("How is the iron cleaned?", selection.POOL_SIZE)
    ordered = selection.order_by_section(engine.store, pool.reading, pool.passages)
    assert [each.item.title.rpartition(" ")[2] for each in ordered] == ["Chain", "Rope"]
    assert ordered[0].section - ordered[1].section > selection.OWN_WEIGHT * 0.9 * (
        ordered[0].base - ordered[1].base
    )


@pytest.mark.parametrize(
    ("question", "first"),
    [("mooring knots", "/guide/#knots"), ("tie_up knots", "/api/#boat.tie_up")],
)
def test_a_guide_leads_a_member_of_an_api_that_is_not_named(
    tmp_path: Path, question: str, first: str
) -> None:
    guide, member = (
        f'<h2 id="{anchor}">Knots</h2><p>A mooring is made by tie_up with two knots.</p>'
        for anchor in ("knots", "boat.tie_up")
    )
    engine = engine_of(tmp_path, record("api", member), record("guide", guide))
    pool = engine.retrieve(question, selection.POOL_SIZE)
    ordered = selection.order_by_section(engine.store, pool.reading, pool.passages)
    assert ordered[0].item.url == first


def test_a_long_passage_leads_a_short_one_of_equal_words(tmp_path: Path) -> None:
    long = f"<h2>Use</h2><p>A mooring. {LONG}</p>"
    engine = engine_of(tmp_path, record("gear", "<h2>See</h2><p>A mooring.</p>" + long))
    pool = engine.retrieve("mooring", selection.POOL_SIZE)
    equal = [replace(each, base=0.5, score=0.5) for each in pool.passages]
    ordered = selection.order_by_section(engine.store, pool.reading, equal)
    assert [each.item.title.rpartition(" ")[2] for each in ordered] == ["Use", "See"]


def test_a_clear_winner_takes_one_other_source() -> None:
    margin = selection.WINNER_MARGIN
    winner = scored("a", "alpha", 0.9)
    second = scored("a2", "beta", 0.3, "a")

    def others(best: float) -> list[Scored[Passage]]:
        return [scored(name, name, best - n / 10) for n, name in enumerate(("b", "c"))]

    assert selected(winner, *others(0.9 - margin), second) == ["a", "b", "a2"]
    assert selected(winner, *others(0.91 - margin), second) == ["a", "b", "c", "a2"]
    assert selected(winner, second) == ["a", "a2"]


def test_a_copy_of_the_winner_does_not_contest_its_lead() -> None:
    pool = [scored("a", LONG, 0.9), scored("v1/a", LONG, 0.89), *flat("x", "y")]
    assert selected(*pool) == ["a", "p0"]


def test_evidence_is_at_most_eight_passages_of_a_wider_pool() -> None:
    pool = [scored(f"p{n}", f"word{n}", 0.5) for n in range(selection.POOL_SIZE)]
    assert selected(*pool) == [f"p{n}" for n in range(TOP_K)]
    copies = [scored(f"c{n}", LONG, 0.5) for n in range(20)]
    assert len(selected(*copies, *pool)) == TOP_K


def test_a_note_keeps_its_two_best_places() -> None:
    names = ["a", "a~2", "b~3", "a~3", "a~x", "b", "b~2", *(f"n{n}" for n in range(9))]
    hints = select_evidence(
        RetrievalResult(hints=tuple(pointed(name, 0.5) for name in names))
    ).hints
    assert [hint.id for hint in hints] == ["a", "a~2", "b~3", "a~x", "b", "n0", "n1", "n2"]


def test_the_lead_is_that_of_the_highest_scores() -> None:
    pool = (scored("a", "alpha", 0.9), *flat(*"bcdefgh"), scored("i", "iota", 0.1))
    result = RetrievalResult(pool, (pointed("n", 0.95),))
    assert select_evidence(result).lead == result.truncate(TOP_K).evidence.lead


def test_an_empty_pool_gives_no_evidence() -> None:
    assert not select_evidence(RetrievalResult())


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6).map(" ".join)
CANDIDATES = st.lists(
    st.tuples(WORDS, st.sampled_from("uvwxyz"), st.sampled_from([0.0, 0.02, 0.25])), max_size=32
)


@given(CANDIDATES)
def test_every_rule_holds_for_the_passages_that_it_drops(
    drawn: list[tuple[str, str, float]],
) -> None:
    steps = [step for _, _, step in drawn]
    ranked = [
        scored(f"p{n}", text, 9 - sum(steps[: n + 1]), name)
        for n, (text, name, _) in enumerate(drawn)
    ]
    weighed = decide_passages(ranked)
    assert [each.scored for each in weighed] == ranked
    selected_items = [each.scored.item for each in weighed if each.rule is None]
    assert selected_items == list(select_evidence(RetrievalResult(tuple(ranked))).passages)
    assert all(each.against is None for each in weighed if each.rule is None)
    # What clearly loses to the winner had been selected until then.
    before_winner = [each for each in weighed if each.rule in (None, "clear-winner")]
    for place, each in enumerate(weighed):
        item = each.scored.item
        above = [other.scored.item for other in weighed[:place] if other in before_winner]
        of_its_record = sum(other.record == item.record for other in above)
        if each.rule == "eight-above":
            assert len(above) == TOP_K
        elif each.rule == "enough-of-its-record":
            assert of_its_record == LOCAL_PROFILE.passages_per_page
        elif each.rule == "near-duplicate":
            assert each.against in [other.id for other in above]
        else:
            assert len(above) < TOP_K
            assert of_its_record < LOCAL_PROFILE.passages_per_page
        if each.rule == "clear-winner":
            assert each.against == ranked[0].item.id != item.id
            assert ranked[0].score - each.scored.score >= selection.WINNER_MARGIN


@given(st.lists(st.sampled_from(["a", "a~2", "a~3", "b", "b~2", "c", "d", "e", "f"]), max_size=32))
def test_every_rule_holds_for_the_hints_that_it_drops(names: list[str]) -> None:
    ranked = tuple(pointed(name, 0.5) for name in names)
    weighed = decide_hints(ranked)
    selected_items = [each.scored.item for each in weighed if each.rule is None]
    assert selected_items == list(select_evidence(RetrievalResult(hints=ranked)).hints)
    for place, each in enumerate(weighed):
        above = [other.scored.item.note for other in weighed[:place] if other.rule is None]
        expected = (
            "eight-above"
            if len(above) == TOP_K
            else "two-of-its-note"
            if above.count(each.scored.item.note) == selection.MAX_HINTS_PER_NOTE
            else None
        )
        assert each.rule == expected


def test_the_engine_answers_from_the_selection_and_searches_the_whole(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer([{}])
    pages = [record(f"v{n}/mooring", f"<p>{LONG}</p>", "Mooring") for n in range(12)]
    engine = engine_of(tmp_path, *pages, record("wind", "<p>Wind.</p>"), answerer=answerer)
    engine.answer("mooring chain?")
    assert [passage.record for passage in answerer.evidence[0].passages] == ["v0/mooring", "wind"]
    assert len(engine.retrieve("mooring chain?").passages) == TOP_K


def test_a_record_weight_does_not_raise_confidence(tmp_path: Path) -> None:
    quote = {"text": "A rope.", "evidence": [{"source": "s1", "quote": "A rope holds"}]}
    confidences = []
    for weight in (1.0, 5.0):
        index = index_of(
            tmp_path / str(weight), [record("rope", "<p>A rope holds.</p>")], weights={"*": weight}
        )
        bundle = bundle_of(tmp_path / str(weight), index, Profile(floor=0.0))
        engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{"claims": [quote]}]))
        confidences.append(engine.answer("rope").confidence)
    assert confidences[0] == confidences[1] > 0
