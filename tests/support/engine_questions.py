"""Ask the engine in Node and Python the same questions, and compare how they rank passages."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.embedders.embedder import Embedder
from answerable.engine.retrieval.question import QuestionReading, read_question
from answerable.engine.retrieval.rank import Scored
from answerable.engine.retrieval.retrieve import RetrievalResult, retrieve
from answerable.engine.retrieval.sections import POOL_SIZE, choose_passages
from answerable.engine.stores.bundle import Bundle
from answerable.engine.text.tokenization import split_words
from answerable.engine.types import Passage
from support.engine_process import ENGINE, engine

MODULE = os.path.relpath(Path(__file__).with_suffix(""), ENGINE)
_PARTS = ("score", "base", "lexical", "dense", "boost", "page", "section")


def compare_rankings(
    bundle: Bundle,
    store: dict[str, str],
    embedder: Embedder,
    questions: Sequence[str],
    language: str | None = None,
) -> int:
    """Assert that the engine reads, ranks and chooses as Python does; count chosen passages."""
    results = [_retrieve(bundle, embedder, question, language) for question in questions]
    cases = [
        {
            "question": question,
            "ranks": _rank_words(embedder, question, result.reading),
            "vector": None if result.vector is None else result.vector.tolist(),
            "language": language,
        }
        for question, result in zip(questions, results, strict=True)
    ]
    answers = engine().call(MODULE, "answerAll", store, cases)
    pairs = zip(questions, results, answers, strict=True)
    return sum(_compare(bundle, question, result, own) for question, result, own in pairs)


def _retrieve(
    bundle: Bundle, embedder: Embedder, question: str, language: str | None
) -> RetrievalResult:
    reading = read_question(bundle, question, embedder.word_rank)
    if not reading.terms:
        return RetrievalResult(reading=reading)
    return retrieve(bundle, reading, embedder.embed([reading.question])[0], POOL_SIZE, language)


def _rank_words(embedder: Embedder, question: str, reading: QuestionReading) -> dict[str, int]:
    texts = (question, reading.question)
    words = {word.lower() for text in texts for word in split_words(text)}
    ranks = {word: embedder.word_rank(word) for word in words}
    return {word: rank for word, rank in ranks.items() if rank is not None}


def _compare(bundle: Bundle, question: str, result: RetrievalResult, own: Any) -> int:
    reading = result.reading
    assert own["reading"]["question"] == reading.question, question
    assert own["reading"]["terms"] == dict(reading.terms), question
    assert own["reading"]["remarks"] == [each.to_json() for each in reading.remarks], question
    assert list(own["reading"]["idfs"]) == list(reading.idfs), question
    for tag, weights in reading.idfs.items():
        assert own["reading"]["idfs"][tag] == pytest.approx(weights, abs=1e-12), question
    _compare_scored(question, result.passages, own["passages"])
    if len(result.passages) < POOL_SIZE:
        # Beside a full pool others may be candidates, whose scores are too low for it.
        _compare_scored(question, result.siblings, own["siblings"])
    chosen = choose_passages(bundle, result)
    _compare_scored(question, chosen, own["chosen"])
    return len(chosen)


def _compare_scored(question: str, scored: Sequence[Scored[Passage]], own: Any) -> None:
    assert [each["row"] for each in own] == [each.row for each in scored], question
    for name in _PARTS:
        values = [getattr(each, name) for each in scored]
        assert [each[name] for each in own] == pytest.approx(values, abs=1e-6), (question, name)
