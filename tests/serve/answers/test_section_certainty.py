"""When one section surely answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from answerable.serve.answers.confidence import (
    bucket_confidence,
    has_same_polarity,
    is_direct_answer,
    rate_answer,
)
from answerable.serve.providers import make_engine
from answerable.serve.text.tokenization import NO_FORMS, extract_words
from answerable.serve.types import Passage
from support import sites
from support.doubles import bundle_of, index_of, record
from support.passage_blocks import block, passage

ANCHOR = passage(
    block("text", "Drop the anchor over the bow:"),
    block("code", "anchor.drop()"),
    title="Seamanship › Drop the anchor",
)


def sure(question: str, source: Passage = ANCHOR) -> bool:
    weights = dict.fromkeys(extract_words(question), 2.0)
    return is_direct_answer(question, weights, NO_FORMS, source, source.text)


def test_a_section_that_holds_the_question_is_sure() -> None:
    assert sure("How do I drop the anchor?")


def test_a_section_that_lacks_a_word_is_not_sure() -> None:
    assert not sure("How do I drop the anchor in a hurricane?")


def test_a_section_under_unrelated_headings_is_not_sure() -> None:
    source = passage(*[block("text", ANCHOR.text)], title="Seamanship › The morning")
    assert not sure("How do I drop the anchor?", source)


def test_prose_alone_is_not_sure_for_a_how_question() -> None:
    prose = passage(block("text", "To drop the anchor is easy."), title="A › Drop the anchor")
    assert not sure("How do I drop the anchor?", prose)
    assert sure("Drop the anchor", prose)


def test_a_question_without_terms_is_never_sure() -> None:
    assert not is_direct_answer("what?", {}, NO_FORMS, ANCHOR, ANCHOR.text)


@pytest.mark.parametrize(
    ("question", "text", "same"),
    [
        ("hide the toolbar", "Show the toolbar with this option.", False),
        ("hide the toolbar", "Hide the toolbar, or show it again.", True),
        ("show the toolbar", "Show the toolbar with this option.", True),
        ("Why does it not start?", "It starts by itself.", False),
        ("Why doesn't it start?", "It does not start without a key.", True),
        ("a trip without a crew", "A trip with a crew is more fun.", False),
    ],
)
def test_polarity_compares_negations_and_antonyms(question: str, text: str, *, same: bool) -> None:
    assert has_same_polarity(question, text) is same


def test_words_that_are_cut_off_do_not_count() -> None:
    question = "How do I drop the anchor over the bow?"
    weights = dict.fromkeys(extract_words(question), 2.0)
    assert is_direct_answer(question, weights, NO_FORMS, ANCHOR, ANCHOR.text)
    assert not is_direct_answer(question, weights, NO_FORMS, ANCHOR, "anchor.drop()")


LOGBOOK = {
    "de": (
        "Wo liegen die Protokolle?",
        "<h2>Die Protokolle</h2><p>Die Protokolle liegen im Ordner des Hafens.</p>",
        "<h2>Die Leinen</h2><p>Die Leinen hängen an der Wand und sind trocken.</p>",
    ),
    "fr": (
        "Où se trouvent les journaux ?",
        "<h2>Les journaux</h2><p>Les journaux se trouvent dans le dossier du port.</p>",
        "<h2>Les cordes</h2><p>Les cordes pendent au mur et sont sèches.</p>",
    ),
    "en": (
        "Where are the logbooks kept?",
        "<h2>Logbooks</h2><p>The logbooks are kept in the folder of the harbour.</p>",
        "<h2>Ropes</h2><p>The ropes hang on the wall and they are dry.</p>",
    ),
}


@pytest.mark.parametrize("language", LOGBOOK)
def test_only_in_english_the_grade_reads_the_local_vectors(tmp_path: Path, language: str) -> None:
    question, *texts = LOGBOOK[language]
    pages = [record(f"page{n}", text) for n, text in enumerate(texts)]
    embedder = sites.local()
    index = index_of(tmp_path, pages, embedder=embedder, language=language)
    bundle = bundle_of(tmp_path, index, identity=embedder.identity)
    engine = make_engine(bundle, embedder)
    pool = engine.retrieve(question)
    reply = engine.answer_from(pool)
    assert bucket_confidence(reply.confidence) in ("medium", "high")
    far = replace(pool, passages=tuple(replace(each, base=0.0) for each in pool.passages))
    rated = rate_answer(engine.store.manifest, reply.answer, far)
    assert rated == (0.0 if language == "en" else reply.confidence)
