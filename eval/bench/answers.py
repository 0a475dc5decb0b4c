"""Measure what the keyless engine refuses of a question set, and what it shows.

The claims are compared with other ways to show as much of a page: the first three sentences of
the passage that is ranked first, as many of its first words as the claims have, and all of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scoring import HELD, Reference, interval, measure_reference
from tables import Row

from answerable.serve.engine import Engine
from answerable.serve.retrieval.retrieve import RetrievalResult
from answerable.serve.text.tokenization import split_lowercase_words
from answerable.serve.types import Passage

ANSWERABLE = "answerable"
SENTENCES = 3


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """Hold a question, what it retrieved first and what the engine answered.

    ``kind``: answerable, or a kind of question that must be refused. ``top``: the passage that is
    ranked first, None if none is above the floor. ``claims``: their texts, joined by a space;
    empty if there are none.
    """

    kind: str
    references: Sequence[Reference]
    top: Passage | None
    claims: str
    refused: bool


def ask_question(
    engine: Engine, retrieved: RetrievalResult, kind: str, references: Sequence[Reference]
) -> AnsweredQuestion:
    """Answer a question from the pool that it retrieved."""
    answer = engine.answer_from(retrieved).answer
    return AnsweredQuestion(
        kind,
        references,
        retrieved.passages[0].item if retrieved.passages else None,
        " ".join(claim.text for claim in answer.claims),
        answer.mode == "not-found",
    )


def count_decisions(questions: Sequence[AnsweredQuestion]) -> list[Row]:
    """Count, for every kind of question, the answered and refused by the floor and by the engine.

    ``right`` is the share that is answered, of answerable questions, or refused, of others.
    """
    return [_decision(kind, [a for a in questions if a.kind == kind]) for kind in _kinds(questions)]


def _kinds(questions: Sequence[AnsweredQuestion]) -> list[str]:
    return sorted({a.kind for a in questions}, key=lambda kind: (kind != ANSWERABLE, kind))


def _decision(kind: str, questions: Sequence[AnsweredQuestion]) -> Row:
    refused = sum(a.refused for a in questions)
    answered = len(questions) - refused
    return {
        "name": kind,
        "questions": len(questions),
        "above_floor": sum(a.top is not None for a in questions),
        "answered": answered,
        "refused": refused,
        **interval("right", answered if kind == ANSWERABLE else refused, len(questions)),
    }


def measure_shown(questions: Sequence[AnsweredQuestion]) -> list[Row]:
    """Measure, for every way to answer, how often what it shows holds the reference answer.

    Over the answerable questions that have a reference; where nothing is shown nothing is held.
    ``words`` are those shown on average where something is, ``mean_held`` is the mean of what is
    held over all. ``gains`` are the questions whose reference this way holds and the claims do
    not, ``loses`` those the other way round: intervals alone ignore that all answer the same.
    """
    answerable = [a for a in questions if a.kind == ANSWERABLE]
    texts = {name: [show(a) for a in answerable] for name, show in _WAYS.items()}
    scores = {name: _scores(shown_texts, answerable) for name, shown_texts in texts.items()}
    return [_shown(name, texts[name], scores[name], scores["claims"]) for name in _WAYS]


def _claims(question: AnsweredQuestion) -> str:
    return question.claims


def first_sentences(question: AnsweredQuestion) -> str:
    """Cut the first three sentences from the passage ranked first, with the text between them."""
    if question.top is None or not question.top.sentences:
        return ""
    spans = question.top.sentences[:SENTENCES]
    return question.top.text[spans[0][0] : spans[-1][1]]


def first_words(question: AnsweredQuestion) -> str:
    """Cut as many words from the passage ranked first as the claims have."""
    words = split_lowercase_words(question.top.text) if question.top else []
    return " ".join(words[: len(split_lowercase_words(question.claims))])


def _passage(question: AnsweredQuestion) -> str:
    return question.top.text if question.top else ""


_WAYS: dict[str, Callable[[AnsweredQuestion], str]] = {
    "claims": _claims,
    "first three sentences": first_sentences,
    "first words, as many": first_words,
    "whole passage": _passage,
}


def _scores(texts: Sequence[str], questions: Sequence[AnsweredQuestion]) -> list[float | None]:
    return [measure_reference(text, a.references) for text, a in zip(texts, questions, strict=True)]


def _shown(
    name: str,
    texts: Sequence[str],
    scores: Sequence[float | None],
    claims: Sequence[float | None],
) -> Row:
    counts = [len(split_lowercase_words(text)) for text in texts if text]
    numbers = [score for score in scores if score is not None]
    holding = _holding(scores)
    whole = sum(bool(t) and score is not None for t, score in zip(texts, scores, strict=True))
    return {
        "name": name,
        "questions": len(texts),
        "shown": len(counts),
        "words": float(np.mean(counts)) if counts else None,
        "holds": len(holding) if numbers else None,
        **interval("of_all", len(holding), len(numbers)),
        **interval("of_shown", len(holding), whole),
        "mean_held": float(np.mean(numbers)) if numbers else None,
        "gains": len(holding - _holding(claims)) if numbers else None,
        "loses": len(_holding(claims) - holding) if numbers else None,
    }


def _holding(scores: Sequence[float | None]) -> set[int]:
    """List the places of the questions whose reference is held."""
    return {n for n, score in enumerate(scores) if score is not None and score >= HELD}
