"""The order of sections, what of it answers, the places that a search lists, and the grade."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from answerable.engine.answers.keyless import SURE_ABOVE_FLOOR, ExtractiveAnswerer, rate_passages
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import LOCAL_PROFILE, Profile
from answerable.engine.retrieval.question import QuestionReading, Remark
from answerable.engine.retrieval.rank import Scored
from answerable.engine.retrieval.retrieve import order_sections
from answerable.engine.types import Confidence, Passage
from answerable.indexing.pages.records import Record
from support import doubles
from support.doubles import bundle_of, index_of, record
from support.scripted import LetterEmbedder

OPEN = Profile(floor=0.0, note_floor=0.0)


def engine_of(folder: Path, pages: Sequence[Record], profile: Profile = OPEN) -> Engine[Bundle]:
    bundle = bundle_of(folder, index_of(folder, pages), profile)
    return Engine(bundle, LetterEmbedder(), ExtractiveAnswerer())


def quoted(engine: Engine, question: str) -> list[str]:
    """List the pages of the passages that answer a question."""
    return [citation.url.strip("/") for citation in engine.answer(question).answer.citations]


def listed(engine: Engine, question: str) -> list[str]:
    return [place.passage.record for place in engine.search(question)]


def test_history_answers_only_a_question_that_has_a_word_for_it(tmp_path: Path) -> None:
    pages = [
        record("changelog", "<p>2.0 mends the hemp rope.</p>", "Changelog"),
        *(record(f"p{n}", f"<p>Wind {n}.</p>") for n in range(3)),
        record("ropes", "<p>A rope is made of hemp or of something else again.</p>"),
    ]
    engine = engine_of(tmp_path, pages)
    for question in ("Who mends the hemp rope?", "mends the hemp rope 2.0"):
        assert "changelog" not in quoted(engine, question)
        assert "changelog" in listed(engine, question)
    assert quoted(engine, "Which release mends the hemp rope?")[0] == "changelog"
    alone = engine_of(tmp_path / "alone", [pages[0], *pages[1:4]], Profile(floor=0.4))
    assert alone.answer("Who mends the hemp rope?").reason == "no-evidence"
    assert listed(alone, "Who mends the hemp rope?") == ["changelog"]


def test_a_place_has_its_line_and_its_address(tmp_path: Path) -> None:
    filler = "".join(f"<p>Paragraph {n} is about cats, about wind and decks.</p>" for n in range(9))
    pages = [record("rope", f"{filler}<p>A rope holds the boat.</p>{filler}")]
    [place] = engine_of(tmp_path, pages).search("Which rope holds?")
    assert "A rope holds the boat." in place.line
    assert len(place.line.split()) <= 60 < len(place.passage.text.split())
    assert place.line == place.passage.text[place.start : place.end]
    assert not place.is_cut


def test_a_section_that_goes_on_is_listed_once_and_as_cut(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>{f'Wind {n}. ' * 30}A rope {n}.</p>" for n in range(12))
    [place] = engine_of(tmp_path, [record("rope", paragraphs)]).search("rope 1")
    assert place.is_cut


def test_no_two_places_have_the_same_text_and_two_are_of_a_page(tmp_path: Path) -> None:
    parts = "".join(f"<h2 id=r{n}>Part {n}</h2><p>A rope, knot {n}.</p>" for n in range(4))
    same = [record(f"copy{n}", "<p>A rope breaks in the wind.</p>") for n in range(3)]
    engine = engine_of(tmp_path, [record("rope", parts), *same])
    records = listed(engine, "a rope")
    assert records.count("rope") == 2
    assert sum(name.startswith("copy") for name in records) == 1


def test_a_refusal_has_places_too_but_none_without_a_word_of_the_question(tmp_path: Path) -> None:
    pages = [record("wind", "<p>Wind breaks a rope.</p>"), record("fog", "<p>Fog hides it.</p>"),
             record("pier", "<p>The pier of the harbour has a rope.</p>")]  # fmt: skip
    question = "a rope or a zeppelin?"
    engine = engine_of(tmp_path, pages)
    best = max(scored.base for scored in engine.retrieve(question).passages)
    strict = engine_of(tmp_path / "strict", pages, Profile(floor=best + 0.05, note_floor=0.0))
    assert strict.answer(question).reason == "no-evidence"
    assert sorted(listed(strict, question)) == ["pier", "wind"]
    # A miss by more than the slack is no place to look.
    far = engine_of(tmp_path / "far", pages, Profile(floor=best + 0.6, note_floor=0.0))
    assert listed(far, question) == []


def test_places_begin_with_what_answers(tmp_path: Path) -> None:
    pages = [record(f"p{n}", f"<p>{'A rope. ' * n}Wind {n}.</p>") for n in range(1, 7)]
    engine = engine_of(tmp_path, pages)
    assert quoted(engine, "a rope") == listed(engine, "a rope")[:2]
    assert len(listed(engine, "a rope")) == 6


def test_the_section_score_is_the_formula(tmp_path: Path) -> None:
    pages = [
        record("rope", "<h2 id=a>Boat</h2><p>A rope.</p><h2 id=b>Use</h2><pre>rope()</pre>", "One"),
        record("winch", f"<h2 id=a>Boat rope</h2><p>{'A rope of hemp. ' * 9}</p>", "Two"),
    ]
    store = engine_of(tmp_path, pages).store
    question = "boat rope"
    (vector,) = LetterEmbedder().embed([question])
    retrieved = doubles.retrieve(store, question, vector)
    pool = retrieved.passages
    best = {
        s.item.record: max(o.score for o in pool if o.item.record == s.item.record) for s in pool
    }
    ordered = order_sections(store, retrieved.reading, pool)
    assert [s.section for s in ordered] == sorted((s.section for s in ordered), reverse=True)
    idfs = retrieved.reading.idfs["en"]
    shares = {"rope#a": idfs["boat"] / sum(idfs.values()), "rope#b": 0.0, "winch#a": 1.0}
    assert {s.item.id for s in ordered} == shares.keys()
    for s in ordered:
        expected = 2 * best[s.item.record] + 3.5 * s.base + 0.6 * shares[s.item.id]
        expected += 0.25 * (s.item.id == "rope#b") + 0.2 * math.log(
            1 + store.index.passage_lengths[s.row]
        )
        assert s.section == pytest.approx(expected)


def scored(number: int, above_floor: float = 1.0, question: float = 0.0) -> Scored[Passage]:
    base = LOCAL_PROFILE.floor + above_floor
    return Scored(doubles.passage(f"p{number}", "Rope."), base, base, 0.0, 0.0, question=question)


SURE, UNSURE = SURE_ABOVE_FLOOR + 0.01, SURE_ABOVE_FLOOR - 0.01


@pytest.mark.parametrize(
    ("passages", "remarks", "grade"),
    [
        ([scored(1, SURE)], (), "medium"),
        ([scored(1, UNSURE), scored(2, SURE)], (), "medium"),
        ([scored(1, UNSURE)], (), "low"),
        ([scored(1), scored(2), scored(1), scored(3)], (), "medium"),
        ([scored(1), scored(2), scored(3)], (), "low"),
        ([scored(1)], (Remark("corrected", "a", "b"),), "medium"),
        ([scored(1)], (Remark("unknown", "a"),), "low"),
        ([scored(1, UNSURE, question=1.0), scored(2), scored(3)], (Remark("unknown", "a"),),
         "medium"),
        ([scored(1, UNSURE, question=0.99)], (), "low"),
    ],
)  # fmt: skip
def test_the_upper_grade_needs_one_section_that_is_meant_and_no_unknown_word(
    passages: list[Scored[Passage]], remarks: tuple[Remark, ...], grade: Confidence
) -> None:
    assert rate_passages(LOCAL_PROFILE, QuestionReading("", {}, remarks), passages) == grade
