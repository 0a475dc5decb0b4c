"""Scores, floors, boosts and order of both streams."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from answerable.indexing.notes import routing_hints
from answerable.indexing.stems import extract_stems
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.bundle_format.site_data import PhraseEntry, PhraseIndex
from answerable.serve.engine import Engine
from answerable.serve.retrieval import retrieve
from answerable.serve.retrieval.bm25 import compute_idfs, score_bm25
from answerable.serve.retrieval.boosts import fade_common_phrase, score_name_boosts
from answerable.serve.retrieval.question import asks_about_now, read_question
from answerable.serve.retrieval.retrieve import RetrievalResult, list_sections
from answerable.serve.retrieval.scoring import score_all_codes
from answerable.serve.stores.bundle import Bundle
from answerable.serve.text.languages import TRANSLATIONS
from answerable.serve.text.normalization import normalize_phrase, split_ngrams
from answerable.serve.vectors import Int8Codes
from support import doubles
from support.doubles import TINY, CountingEmbedder, bundle_of, index_of, note, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

OPEN = Profile(floor=0.0, note_floor=0.0)
# Without words, so that titles are names that lift.
DENSE = Profile(hybrid=0.0, floor=0.0, note_floor=0.0)
TEXTS = [
    "The rope of the mooring holds the boat.",
    "A rope, a rope and one more rope.",
    "Lanterns warn of wind; the wind breaks a mooring.",
    "Nothing to see here at all, dear reader of long sentences about everything else.",
    "Wind.",
]


def bundle(folder: Path, *texts: str, profile: Profile = OPEN, notes: Sequence[str] = ()) -> Bundle:
    records = [record(f"p{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(texts)]
    private = [note(f"n{n}", text) for n, text in enumerate(notes)]
    return bundle_of(folder, index_of(folder, records, private), profile)


def search(store: Bundle, question: str, top_k: int = 8) -> RetrievalResult:
    vector = LetterEmbedder().embed([question])[0]
    return doubles.retrieve(store, question, vector, top_k, near=top_k)


def straightforward(texts: Sequence[str], question: str) -> list[float]:
    """The formula as the design states it, over lists of terms."""
    documents = [extract_stems(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    terms = set(extract_stems(question))

    def idf(term: str) -> float:
        df = sum(term in document for document in documents)
        return math.log(1 + (len(documents) + 10 - df + 0.5) / (df + 0.5))

    def weight(term: str, document: list[str]) -> float:
        tf = document.count(term)
        return idf(term) * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(document) / mean))

    total = sum(idf(term) for term in terms)
    return [sum(weight(term, document) for term in terms) / total for document in documents]


@pytest.mark.parametrize(
    "question", ["rope", "rope mooring wind", "rope rope rope", "rope zeppelin", "zeppelin"]
)
def test_the_lexical_score_is_the_formula(tmp_path: Path, question: str) -> None:
    store = bundle(tmp_path, *TEXTS)
    expected = straightforward([f"Page {n}x\n{text}" for n, text in enumerate(TEXTS)], question)
    result = score_bm25(store.postings, compute_idfs(store.postings, extract_stems(question)))
    assert result.tolist() == pytest.approx(expected, abs=1e-6)
    assert 0 <= result.max() < 1


def test_an_unknown_word_lowers_every_score(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS)
    idfs = compute_idfs(store.postings, ["rope", "zeppelin"])
    without_unknown = score_bm25(store.postings, {"rope": idfs["rope"]})
    assert (score_bm25(store.postings, idfs) < without_unknown)[without_unknown > 0].all()


def test_the_score_joins_the_words_and_the_cosine(tmp_path: Path) -> None:
    for scored in search(bundle(tmp_path, *TEXTS), "rope of a mooring").passages:
        assert scored.base == pytest.approx((scored.lexical + 0.75 * scored.dense) / 1.75, abs=1e-6)
        assert scored.score == pytest.approx(scored.base + scored.page, abs=1e-6)


def test_the_cosine_is_that_of_the_codes(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS)
    vector = LetterEmbedder().embed(["rope"])[0]
    assert isinstance(store.passage_codes, Int8Codes)
    rows = store.passage_codes.codes.astype(float)
    exact = rows @ vector / np.linalg.norm(rows, axis=1)
    assert score_all_codes(store.passage_codes, vector) == pytest.approx(exact, abs=1e-6)


def test_a_passage_under_the_floor_is_a_near_miss_and_not_evidence(tmp_path: Path) -> None:
    result = search(bundle(tmp_path, *TEXTS), "rope")
    floor = (result.passages[1].base + result.passages[2].base) / 2
    strict = bundle(tmp_path / "strict", *TEXTS, profile=Profile(floor=floor, note_floor=0))
    cut = search(strict, "rope")
    assert [s.item.id for s in cut.passages] == [s.item.id for s in result.passages[:2]]
    assert [s.item.id for s in cut.near_passages] == [s.item.id for s in result.passages[2:]]
    assert len(cut.evidence.passages) == 2


def test_a_search_lists_sections_and_near_misses_with_a_word_of_the_question(
    tmp_path: Path,
) -> None:
    rope = "".join(f"<h2 id=r{n}>Part {n}</h2><p>A rope, knot {n}.</p>" for n in range(4))
    pages = [record("rope", rope), record("wind", "<p>Wind breaks a rope.</p>"),
             record("fog", "<p>Fog hides the pier.</p>")]  # fmt: skip
    question = "a rope, a pier or a zeppelin?"
    low = search(bundle_of(tmp_path / "low", index_of(tmp_path / "low", pages), OPEN), question)
    profile = Profile(floor=max(s.base for s in low.passages) + 0.05, note_floor=0)
    result = search(bundle_of(tmp_path, index_of(tmp_path, pages), profile), question)
    sections = list_sections(profile, result)
    assert result.passages == ()
    assert sections[0].score == max(scored.score for scored in result.near_passages)
    records = [scored.item.record for scored in sections]
    assert records.count("rope") == 2
    assert all(scored.lexical > 0 for scored in sections)
    assert list_sections(replace(profile, floor=0.9), result) == ()


def test_a_section_stands_where_its_best_passage_does(tmp_path: Path) -> None:
    result = search(bundle(tmp_path, *TEXTS), "rope")
    best, *others = result.passages
    again = replace(others[-1], item=replace(others[-1].item, url=best.item.url))
    doubled = replace(result, passages=(best, *others[:-1], again))
    sections = list_sections(OPEN, doubled)
    assert len(others) >= 2
    assert [scored.row for scored in sections] == [best.row, *(o.row for o in others[:-1])]


def named_pages(folder: Path, profile: Profile, count: int = 4) -> Bundle:
    records = [record("winch", "<p>Grease it.</p>", "Winch", aliases=["Hand winch"], tags=["gear"])]
    records += [record(f"p{n}", f"<p>{TEXTS[n]}</p>", f"Page {n}x") for n in range(count)]
    return bundle_of(folder, index_of(folder, records), profile)


def test_a_name_and_a_theme_lift_their_record(tmp_path: Path) -> None:
    store = named_pages(tmp_path, DENSE)

    def lift(question: str) -> float:
        result = search(store, question)
        (scored,) = [s for s in result.passages if s.item.record == "winch"]
        return scored.score - scored.base

    assert lift("How to use a winch?") == pytest.approx(0.30)
    assert lift("HAND-WINCH!") == pytest.approx(0.30)
    assert lift("What gear is there?") == pytest.approx(0.15)
    assert lift("Is a winch gear?") == pytest.approx(0.45)
    assert lift("Is a winchman there?") == pytest.approx(0.0, abs=1e-6)


QUESTIONS = [
    "How to use a winch?", "HAND-WINCH!", "hand winch gear", "a winchman", "winch", "handwinch",
    "hand a winch", "Winch: gear? (page 2x)", "page 1x page 3x page", "Ｗinch", "wind_winch",
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_names_of_a_question_are_those_that_it_contains(tmp_path: Path, question: str) -> None:
    store = named_pages(tmp_path, DENSE)
    expected = np.zeros(len(store.record_ids))
    for names, boost in (([*store.names, *store.aliases], 0.30), (store.themes, 0.15)):
        best = np.zeros_like(expected)
        for name in names:
            if f" {name.phrase} " in f" {normalize_phrase(question)} ":
                lift = boost * fade_common_phrase(name.frequency, len(store.record_ids))
                best[list(name.records)] = np.maximum(best[list(name.records)], lift)
        expected += best
    assert score_name_boosts(store, read_question(store, question)) == pytest.approx(expected)


def test_of_a_thousand_names_only_those_of_the_question_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [record(f"p{n}", "<p>Wind.</p>", f"Guide number {n} to wind") for n in range(1000)]
    store = bundle_of(tmp_path, index_of(tmp_path, records), DENSE)
    read: list[str] = []
    entry = PhraseIndex.entry

    def reading(names: PhraseIndex, phrase: str) -> PhraseEntry:
        read.append(phrase)
        return entry(names, phrase)

    monkeypatch.setattr(PhraseIndex, "entry", reading)
    question = ("guide number 7 to the winds " * 20)[:480] + " guide number 7 to wind"
    boosts = score_name_boosts(store, read_question(store, question))
    assert boosts.argmax() == list(store.record_ids).index("p7")
    assert read == ["guide number 7 to wind"]


def test_in_the_hybrid_recipe_a_boost_lifts_nothing_over_the_floor(tmp_path: Path) -> None:
    result = search(named_pages(tmp_path, Profile(floor=0.75)), "hand winch or zeppelin")
    (near,) = [s for s in result.near_passages if s.item.record == "winch"]
    assert near.base < 0.75 < near.score


def test_without_words_the_floor_applies_after_the_boosts(tmp_path: Path) -> None:
    question = "winch or zeppelin"
    plain = search(named_pages(tmp_path, Profile(hybrid=0, floor=0.0)), question)
    (scored,) = [s for s in plain.passages if s.item.record == "winch"]
    assert scored.base == scored.dense
    floor = scored.base + 0.1
    measure_lifts = search(named_pages(tmp_path / "b", Profile(hybrid=0, floor=floor)), question)
    assert "winch" in [s.item.record for s in measure_lifts.passages]


def test_a_name_that_many_pages_use_lifts_less_and_at_last_nothing() -> None:
    assert fade_common_phrase(1, 10) == fade_common_phrase(0, 10) == 1.0
    faded = [fade_common_phrase(n, 10) for n in range(1, 11)]
    assert faded == sorted(faded, reverse=True)
    assert fade_common_phrase(6, 10) == 0.0
    assert fade_common_phrase(1, 1) == 1.0


@pytest.mark.parametrize(("fades", "lift"), [(True, 0.0), (False, 0.30)])
def test_a_common_title_fades_unless_the_profile_says_no(
    tmp_path: Path, fades: bool, lift: float
) -> None:
    records = [record("rope", "<p>Rope.</p>", "Rope")]
    records += [record(f"p{n}", "<p>A ROPE, again.</p>", f"Page {n}x") for n in range(5)]
    profile = replace(DENSE, theme_fade=fades)
    store = bundle_of(tmp_path, index_of(tmp_path, records), profile)
    (scored,) = [s for s in search(store, "rope").passages if s.item.record == "rope"]
    assert scored.score - scored.base == pytest.approx(lift, abs=1e-6)


def test_an_index_file_name_is_not_a_name(tmp_path: Path) -> None:
    store = bundle_of(
        tmp_path, index_of(tmp_path, [record("index", "<p>x", "Index"), record("a/README", "<p>y")])
    )
    assert {name.phrase for name in store.names} == {"a", "a readme"}


def test_equal_scores_keep_the_order_of_the_pages(tmp_path: Path) -> None:
    texts = ["A rope holds.", "Wind breaks."] * 45
    records = [record(f"p{n}", f"<p>{text}</p>", "Same title") for n, text in enumerate(texts)]
    store = bundle_of(tmp_path, index_of(tmp_path, records), OPEN)
    result = [s.item.id for s in search(store, "rope", 90).passages]
    assert result == [f"p{n}" for n in [*range(0, 90, 2), *range(1, 90, 2)]]


def test_no_more_than_asked_for_is_found_and_best_comes_first(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS, notes=TEXTS)
    result = search(store, "rope and wind", 3)
    for stream in (result.passages, result.hints):
        scores = [scored.score for scored in stream]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 3


NO_TERMS = ["", "?!…", "🚢⚓", "the of and", "日本語のドキュメント", "Что это такое", "‮", "_ _"]


@pytest.mark.parametrize("question", NO_TERMS)
def test_a_question_without_content_terms_is_refused_before_it_is_embedded(
    tmp_path: Path, question: str
) -> None:
    store = bundle(tmp_path, *TEXTS, notes=TEXTS)
    embedder = CountingEmbedder(LetterEmbedder())
    reply = Engine(store, embedder, ScriptedAnswerer([])).answer(question)
    assert reply.reason == "no-evidence"
    assert embedder.texts == []
    assert search(store, question) == RetrievalResult()


def test_a_site_in_another_script_answers_questions_in_it(tmp_path: Path) -> None:
    records = [record("p", "<p>係留には四十リットルのブイが必要です。</p>", "係留")]
    store = bundle_of(tmp_path, index_of(tmp_path, records, language="ja"), OPEN)
    result = search(store, "ブイは必要ですか")
    assert [s.item.id for s in result.passages] == ["p"]
    assert result.passages[0].lexical > 0


def test_a_hint_has_the_words_of_its_label_and_no_boost(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS, notes=["rope rope rope", "wind"])
    for scored in search(store, "rope label n0").hints:
        assert scored.score == scored.base == pytest.approx(scored.dense + scored.lexical)
        assert scored.lexical > 0
        assert scored.boost == scored.page == 0
    for scored in search(store, "rope").hints:
        assert scored.lexical == 0
        assert scored.score == scored.base == scored.dense


def test_words_of_a_note_are_in_no_index(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS, notes=["xylophone", "rope"])
    assert "xylophon" not in store.postings.terms
    assert {name.phrase for name in (*store.names, *store.themes)}.isdisjoint({"xylophone"})
    assert {"xylophon", "xylophone"}.isdisjoint({*store.label_terms.rows, *store.words})


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
    result = search(bundle(tmp_path, *TEXTS, profile=profile, notes=["rope"]), "rope")
    assert result.passages
    assert not result.hints
    assert [s.item.id for s in result.near_hints] == ["note-n0"]


def test_a_query_vector_of_another_size_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"against {TINY.dimensions}-d rows"):
        doubles.retrieve(bundle(tmp_path, *TEXTS), "rope", np.zeros(3, dtype=np.float32))


def test_a_query_vector_that_is_not_finite_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not finite"):
        doubles.retrieve(bundle(tmp_path, *TEXTS), "rope", np.full(8, np.nan, dtype=np.float32))


def test_the_best_hint_leads_the_best_passage_by_their_cosines(tmp_path: Path) -> None:
    result = search(bundle(tmp_path, "wind", notes=["rope"]), "rope")
    assert result.evidence.lead == pytest.approx(result.hints[0].dense - result.passages[0].dense)


def test_top_k_is_eight() -> None:
    assert retrieve.TOP_K == 8


def measure_lifts(store: Bundle, question: str) -> dict[str, float]:
    """Measure how far each record's score is from the one before names, dates and weights."""
    result = search(store, question, 90)
    scored = (*result.passages, *result.near_passages)
    return {s.item.record: s.score - s.base - s.page for s in scored}


def test_the_profile_says_how_much_names_and_themes_lift(tmp_path: Path) -> None:
    store = named_pages(tmp_path, replace(DENSE, name_boost=0.5, theme_boost=0.25))
    assert measure_lifts(store, "Is a winch gear?")["winch"] == pytest.approx(0.75)
    none = named_pages(tmp_path / "none", replace(DENSE, name_boost=0, theme_boost=0))
    assert set(measure_lifts(none, "Is a winch gear?").values()) == {0.0}


def weighted(folder: Path, profile: Profile, **weights: float) -> Bundle:
    records = [record(f"p{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(TEXTS)]
    return bundle_of(folder, index_of(folder, records, weights=weights), profile)


@pytest.mark.parametrize("hybrid", [1.0, 0.0])
def test_a_weight_multiplies_the_score_and_moves_nothing_over_the_floor(
    tmp_path: Path, hybrid: float
) -> None:
    profile = Profile(hybrid=hybrid, floor=0.4)
    plain = search(weighted(tmp_path / "a", profile), "page 1x rope")
    changed = search(weighted(tmp_path / "b", profile, p0=3.0, p1=0.01, p3=9.0), "page 1x rope")
    factors = {"p0": 3.0, "p1": 0.01, "p3": 9.0}
    before = {s.item.record: s.score for s in (*plain.passages, *plain.near_passages)}
    for scored in (*changed.passages, *changed.near_passages):
        expected = before[scored.item.record] * factors.get(scored.item.record, 1.0)
        assert scored.score == pytest.approx(expected, abs=1e-6)
    plain_records = {s.item.record for s in plain.passages}
    assert {s.item.record for s in changed.passages} == plain_records
    assert [s.item.record for s in changed.passages] != [s.item.record for s in plain.passages]


def dated(folder: Path, profile: Profile = OPEN, language: str = "en") -> Bundle:
    dates = {"new": "2026-05-01", "old": "2025-05-01", "older": "2024-05-01", "none": None}
    records = [record(name, "<p>Rope 46.</p>", "Same", date=date) for name, date in dates.items()]
    return bundle_of(folder, index_of(folder, records, language=language), profile)


def test_a_question_about_now_lifts_what_is_new(tmp_path: Path) -> None:
    store = dated(tmp_path)
    lifts = measure_lifts(store, "What is the latest rope?")
    assert lifts["new"] == pytest.approx(0.10)
    assert lifts["old"] == pytest.approx(0.05)
    assert lifts["older"] == pytest.approx(0.10 * 0.5 ** (730 / 365))
    assert lifts["none"] == pytest.approx(0.0, abs=1e-6)
    assert search(store, "rope today?").passages[0].item.record == "new"
    assert list(measure_lifts(store, "What is a rope?").values()) == pytest.approx(
        [0.0] * 4, abs=1e-6
    )


def test_what_is_new_is_not_lifted_over_the_floor(tmp_path: Path) -> None:
    for hybrid in (1.0, 0.0):
        profile = Profile(hybrid=hybrid, floor=0.99, recency=1.0)
        result = search(dated(tmp_path / str(hybrid), profile), "the newest rope or zeppelin")
        assert not result.passages
        assert result.near_passages[0].score > 0.99


@pytest.mark.parametrize(
    ("question", "language", "about_now"),
    [
        ("What is the latest rope?", "en", True),
        ("What changed THIS YEAR?", "en-GB", True),
        ("Is it known?", "en", False),
        ("the actual rope", "en", False),
        ("el valor actual", "es", True),
        ("¿Qué hay hoy?", "es_MX", True),
        ("Was ist der aktuelle Stand?", "de", True),
        ("Aktuelles", "fr", False),
        ("Quoi de neuf aujourd’hui ?", "fr", True),
        ("la dernière version", "fr", True),
        ("最新のロープは？", "ja", True),
        ("ロープとは", "ja", False),
        ("ما هو أحدث حبل؟", "ar", True),
        ("latest", "xx", False),
    ],
)
def test_words_for_now_are_whole_words_of_the_sites_languages(
    question: str, language: str, about_now: bool
) -> None:
    assert asks_about_now(question, find_phrases(question), [language]) is about_now


def test_every_word_for_now_is_found_in_its_language() -> None:
    for language, words in TRANSLATIONS.items():
        for word in words.now.split(", "):
            question = f"Abc {word} xyz?"
            assert asks_about_now(question, find_phrases(question), [language]), (language, word)


def find_phrases(question: str) -> frozenset[str]:
    return frozenset(split_ngrams(question, range(1, 6)))


def named_site(folder: Path, *names: str) -> Bundle:
    records = [record(f"p{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(TEXTS)]
    return bundle_of(folder, index_of(folder, records, names=names), OPEN)


def test_the_names_of_a_site_and_its_author_are_never_unknown(tmp_path: Path) -> None:
    plain, called = named_site(tmp_path / "a"), named_site(tmp_path / "b", "Zeppelin", "Ada Wind")

    def best(store: Bundle, question: str) -> float:
        return max(s.lexical for s in search(store, question).passages)

    assert best(called, "zeppelin rope") == best(plain, "rope")
    assert best(plain, "zeppelin rope") < best(plain, "rope")
    assert best(called, "wind airship") == best(plain, "wind airship")


def test_a_question_of_site_names_alone_is_answered(tmp_path: Path) -> None:
    store = named_site(tmp_path, "Zeppelin", "Ada")
    result = search(store, "Ada Zeppelin?")
    assert result.passages
    assert {s.lexical for s in result.passages} == {0.0}


def test_a_truncated_result_equals_a_smaller_top_k(tmp_path: Path) -> None:
    store = bundle(tmp_path, *TEXTS, notes=TEXTS)
    assert search(store, "rope and wind", 5).truncate(2) == search(store, "rope and wind", 2)
