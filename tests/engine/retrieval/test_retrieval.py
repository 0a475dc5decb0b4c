"""Scores, floors, boosts and order of both streams."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import OPENAI_PROFILE, Profile
from answerable.engine.retrieval.retrieve import RetrievalResult
from answerable.engine.retrieval.store import compute_idfs, score_bm25
from answerable.indexing.notes import routing_hints
from answerable.indexing.stems import extract_stems
from support import doubles
from support.doubles import TINY, CountingEmbedder, bundle_of, index_of, note, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

OPEN = Profile(floor=0.0, note_floor=0.0)
# Without words, where titles are names that lift.
DENSE = replace(OPENAI_PROFILE, floor=0.0, note_floor=0.0)
TEXTS = [
    "The rope of the mooring holds the boat.",
    "A rope, a rope and one more rope.",
    "Lanterns warn of wind; the wind breaks a mooring.",
    "Nothing to see here at all, dear reader of long sentences about everything else.",
    "Wind.",
]


def site(
    folder: Path,
    profile: Profile = OPEN,
    notes: Sequence[str] = (),
    names: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
) -> Bundle:
    records = [record(f"p{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(TEXTS)]
    records.append(
        record("winch", "<p>Grease it.</p>", "Winch", aliases=["Hand winch"], tags=["gear"])
    )
    private = [note(f"n{n}", text) for n, text in enumerate(notes)]
    index = index_of(folder, records, private, names=names, weights=weights)
    return bundle_of(folder, index, profile)


def search(store: Bundle, question: str, top_k: int = 8) -> RetrievalResult:
    vector = LetterEmbedder().embed([question])[0]
    return doubles.retrieve(store, question, vector, top_k, near=top_k)


def lifts(store: Bundle, question: str) -> dict[str, float]:
    """Measure how far each record's score is from the one before names and dates."""
    result = search(store, question, 90)
    scored = (*result.passages, *result.near_passages)
    return {s.item.record: s.score - s.base - s.page for s in scored}


@pytest.mark.parametrize("question", ["rope rope", "rope mooring wind", "rope zeppelin"])
def test_the_lexical_score_is_the_formula(tmp_path: Path, question: str) -> None:
    store = site(tmp_path)
    documents = [extract_stems(f"Page {n}x\n{text}") for n, text in enumerate(TEXTS)]
    documents.append(extract_stems("Winch Hand winch gear Grease it."))
    mean = sum(map(len, documents)) / len(documents)
    terms = set(extract_stems(question))

    def idf(term: str) -> float:
        df = sum(term in document for document in documents)
        return math.log(1 + (len(documents) + 10 - df + 0.5) / (df + 0.5))

    def weight(term: str, document: list[str]) -> float:
        tf = document.count(term)
        return idf(term) * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(document) / mean))

    # A term that no passage has counts in the sum.
    total = sum(map(idf, terms))
    expected = [sum(weight(term, each) for term in terms) / total for each in documents]
    postings = store.postings_of(())
    rows = (0, len(documents))
    scores = score_bm25(postings, compute_idfs(postings, extract_stems(question), rows), rows)
    assert scores.tolist() == pytest.approx(expected, abs=1e-6)


def test_the_score_joins_the_words_and_the_cosine_of_the_codes(tmp_path: Path) -> None:
    store = site(tmp_path)
    rows = store.index.codes.codes.astype(float)
    vector = LetterEmbedder().embed(["rope of a mooring"])[0]
    cosines = rows @ vector / np.linalg.norm(rows, axis=1)
    assert store.index.codes.score(vector) == pytest.approx(cosines, abs=1e-6)
    for s in search(store, "rope of a mooring").passages:
        assert s.dense == pytest.approx(cosines[s.row], abs=1e-6)
        assert s.base == pytest.approx((s.lexical + 0.75 * s.dense) / 1.75, abs=1e-6)
        assert s.score == pytest.approx(s.base + s.page, abs=1e-6)


def test_the_recipe_of_the_reference_is_its_numbers(tmp_path: Path) -> None:
    for s in search(site(tmp_path, DENSE), "Is a hand winch gear?").passages:
        assert s.base == pytest.approx(s.dense)
        assert s.score == pytest.approx(s.base + (0.45 if s.item.record == "winch" else 0.0))
        assert s.page == 0.0


def test_a_passage_under_the_floor_is_a_near_miss_and_not_evidence(tmp_path: Path) -> None:
    result = search(site(tmp_path), "rope")
    floor = (result.passages[1].base + result.passages[2].base) / 2
    cut = search(site(tmp_path / "strict", Profile(floor=floor, note_floor=0)), "rope")
    assert [s.item.id for s in cut.passages] == [s.item.id for s in result.passages[:2]]
    assert [s.item.id for s in cut.near_passages] == [s.item.id for s in result.passages[2:]]


@pytest.mark.parametrize(
    ("question", "lift"),
    [("HAND-WINCH!", 0.30), ("What gear is there?", 0.15), ("Is a winch gear?", 0.45),
     ("Is a winchman there?", 0.0), ("wind_winch", 0.30)],
)  # fmt: skip
def test_a_name_and_a_theme_lift_their_record(tmp_path: Path, question: str, lift: float) -> None:
    assert lifts(site(tmp_path, DENSE), question)["winch"] == pytest.approx(lift, abs=1e-6)


def test_the_floor_is_compared_with_a_share_of_the_boosts(tmp_path: Path) -> None:
    for share, is_evidence in ((0.0, False), (1.0, True)):
        store = site(tmp_path / str(share), Profile(floor=0.75, floored_boost=share))
        result = search(store, "hand winch or zeppelin")
        scored = {s.item.record: s for s in (*result.passages, *result.near_passages)}["winch"]
        assert scored.base < 0.75 < scored.score
        assert ("winch" in [s.item.record for s in result.passages]) is is_evidence


def test_equal_scores_keep_the_order_of_the_pages(tmp_path: Path) -> None:
    texts = ["A rope holds.", "Wind breaks."] * 45
    records = [record(f"p{n}", f"<p>{text}</p>", "Same title") for n, text in enumerate(texts)]
    store = bundle_of(tmp_path, index_of(tmp_path, records), OPEN)
    result = [s.item.id for s in search(store, "rope", 90).passages]
    assert result == [f"p{n}" for n in [*range(0, 90, 2), *range(1, 90, 2)]]


def test_no_more_than_asked_for_is_found_and_best_comes_first(tmp_path: Path) -> None:
    store = site(tmp_path, notes=TEXTS)
    result = search(store, "rope and wind", 3)
    for stream in (result.passages, result.hints):
        scores = [scored.score for scored in stream]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 3
    assert search(store, "rope and wind", 5).truncate(3) == result


NO_TERMS = ["", "?!…", "🚢⚓", "the of and", "日本語のドキュメント", "‮", "_ _"]


def test_a_question_without_content_terms_is_refused_before_it_is_embedded(tmp_path: Path) -> None:
    store = site(tmp_path, notes=TEXTS)
    embedder = CountingEmbedder(LetterEmbedder())
    for question in NO_TERMS:
        reply = Engine(store, embedder, ScriptedAnswerer([])).answer(question)
        assert reply.reason == "no-evidence", question
        result = search(store, question)
        assert result == RetrievalResult(result.reading)
    assert embedder.texts == []


def test_a_hint_scores_as_its_best_window(tmp_path: Path) -> None:
    long = note("long", "\n\n".join(" ".join([word] * 50) for word in ("wind", "rope", "buoy")))
    short = note("short", "rope")
    store = bundle_of(tmp_path, index_of(tmp_path, [], [long, short]), OPEN)
    assert store.manifest.counts["windows"] == 4
    query = LetterEmbedder().embed(["rope 1"])[0]
    texts = [routing_hints.cut_note(each, str)[0].texts for each in (long, short)]
    best = [float((LetterEmbedder().embed(each) @ query).max()) for each in texts]
    result = {s.item.id: s.dense for s in doubles.retrieve(store, "rope 1", query).hints}
    assert [result["note-long"], result["note-short"]] == pytest.approx(best, abs=0.01)


def test_the_note_floor_is_for_notes_and_the_floor_for_passages(tmp_path: Path) -> None:
    profile = Profile(floor=0.0, note_floor=1.01)
    result = search(site(tmp_path, profile, notes=["rope"]), "rope")
    assert result.passages
    assert not result.hints
    assert [s.item.id for s in result.near_hints] == ["note-n0"]


@pytest.mark.parametrize(
    ("vector", "message"),
    [(np.zeros(3), f"against {TINY.dimensions}-d rows"), (np.full(8, np.nan), "not finite")],
)
def test_a_query_vector_of_the_wrong_kind_is_a_value_error(
    tmp_path: Path, vector: NDArray[np.float64], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        doubles.retrieve(site(tmp_path), "rope", vector.astype(np.float32))


def test_a_weight_multiplies_the_score_and_moves_nothing_over_the_floor(tmp_path: Path) -> None:
    profile, factors = Profile(floor=0.4), {"p0": 3.0, "p1": 0.01, "p3": 9.0}
    plain = search(site(tmp_path / "a", profile), "page 1x rope")
    changed = search(site(tmp_path / "b", profile, weights=factors), "page 1x rope")
    before = {s.item.record: s.score for s in (*plain.passages, *plain.near_passages)}
    for scored in (*changed.passages, *changed.near_passages):
        expected = before[scored.item.record] * factors.get(scored.item.record, 1.0)
        assert scored.score == pytest.approx(expected, abs=1e-6)
    pages, changed_pages = ([s.item.record for s in r.passages] for r in (plain, changed))
    assert set(changed_pages) == set(pages)
    assert changed_pages != pages


def test_the_names_of_a_site_and_its_author_are_never_unknown(tmp_path: Path) -> None:
    plain = site(tmp_path / "a")
    named = site(tmp_path / "b", names=("Zeppelin", "Ada Wind"))

    def best(store: Bundle, question: str) -> float:
        return max(s.lexical for s in search(store, question).passages)

    assert best(named, "zeppelin rope") == best(plain, "rope") > best(plain, "zeppelin rope")
    assert best(named, "wind airship") == best(plain, "wind airship")


LABELS = {
    "outage": ("Postmortem of the March outage", "drawer 2"),
    "budget": ("Budget of the harbour", "drawer 3"),
    "survey": ("Survey of the harbour wall", "drawer 4"),
}


def noted_site(folder: Path, profile: Profile) -> Bundle:
    pages = [record("rope", "<p>A rope of hemp in the harbour.</p>")]
    notes = [
        replace(note(name, "zygote quixotic rhythms"), label=label, locator=locator)
        for name, (label, locator) in LABELS.items()
    ]
    return bundle_of(folder, index_of(folder, pages, notes), profile)


def gains(bundle: Bundle, question: str) -> Mapping[str, float]:
    """Measure what the words of each label and locator add to its cosine."""
    (vector,) = LetterEmbedder().embed([question])
    hints = doubles.retrieve(bundle, question, vector).hints
    return {s.item.note.removeprefix("note-"): s.score - s.dense for s in hints}


def test_a_hint_gains_by_the_words_of_its_label_and_locator(tmp_path: Path) -> None:
    bundle = noted_site(tmp_path, OPEN)
    outage = gains(bundle, "what happened in the March outage")
    assert outage["outage"] > 0.05
    assert (outage["budget"], outage["survey"]) == pytest.approx((0.0, 0.0), abs=1e-6)
    # A word of every label counts less.
    drawers = gains(bundle, "drawer 3")
    assert drawers["budget"] > drawers["outage"] > 0
    assert gains(bundle, "drawer")["outage"] < gains(bundle, "postmortem")["outage"] < 0.2 + 1e-6


def test_words_of_a_note_find_nothing(tmp_path: Path) -> None:
    bundle = noted_site(tmp_path, OPEN)
    words = {"zygot", "quixot", "rhythm", "zygote", "quixotic", "rhythms"}
    index = bundle.index
    assert words.isdisjoint({*index.label_terms.rows, *index.terms, *index.words})
    for question in ("zygote quixotic rhythms", "the rope"):
        assert list(gains(bundle, question).values()) == pytest.approx([0.0] * 3, abs=1e-6)


def test_in_the_recipe_of_the_reference_a_hint_is_its_cosine(tmp_path: Path) -> None:
    bundle = noted_site(tmp_path, DENSE)
    assert list(gains(bundle, "the March outage").values()) == pytest.approx([0.0] * 3, abs=1e-6)
