"""Collect logged questions; ask those with a text again of the site as it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...serve.engine import Engine
from ...serve.http.refusal_log import (
    NEAR_PASSAGES,
    LoggedRefusal,
    NearestRecord,
    find_nearest_record,
    normalize_question_words,
)
from ...serve.retrieval.bm25 import match_terms
from ...serve.retrieval.question import QuestionReading
from ...serve.retrieval.retrieve import retrieve
from ...serve.retrieval.selection import POOL_SIZE
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import STOPWORDS, split_lowercase_words
from .subjects import Subject

# A page is to be extended only if it holds this share of what a question's words weigh: of 55
# questions that two sites refused, "extend" then names the right page 8 times of 14, else of 18.
_MIN_PAGE_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """Hold one question and every refusal of it, in the order of the log."""

    refusals: tuple[LoggedRefusal, ...]

    @property
    def latest(self) -> LoggedRefusal:
        return self.refusals[-1]

    @property
    def near(self) -> NearestRecord | None:
        return self.latest.near


def collect_questions(
    refusals: Iterable[LoggedRefusal],
) -> tuple[list[LoggedQuestion], list[LoggedQuestion]]:
    """Collect the questions with a text and those without, the most asked first."""
    by_text: dict[str, list[LoggedRefusal]] = {}
    by_hash: dict[str, list[LoggedRefusal]] = {}
    for refusal in refusals:
        # A hash is of one process or one secret, a text is the same whoever has logged it.
        if refusal.text is None:
            by_hash.setdefault(refusal.question_hash, []).append(refusal)
        else:
            by_text.setdefault(normalize_question_words(refusal.text), []).append(refusal)
    with_text, hashed = (
        [LoggedQuestion(tuple(each)) for each in sorted(groups.values(), key=len, reverse=True)]
        for groups in (by_text, by_hash)
    )
    return with_text, hashed


def ask_again(
    questions: Sequence[LoggedQuestion], engine: Engine[Bundle]
) -> tuple[list[LoggedQuestion], list[Subject]]:
    """Ask questions with a text of the site as it is; return those still refused, their subjects.

    One call embeds them all; an answer model is never called.
    """
    readings = [engine.parse_question(question.latest.text or "") for question in questions]
    vectors = engine.embedder.embed(
        [
            *(reading.text for reading in readings),
            *(_extract_content_words(reading.text) for reading in readings),
        ]
    )
    still_refused: list[LoggedQuestion] = []
    subjects: list[Subject] = []
    for number, (question, reading) in enumerate(zip(questions, readings, strict=True)):
        outcome = _retrieve_again(question, reading, vectors[number], engine)
        if outcome is not None:
            terms = {term for weights in reading.idfs.values() for term in weights}
            still_refused.append(outcome[0])
            subjects.append(Subject(terms, vectors[len(questions) + number], outcome[1]))
    return still_refused, subjects


def _retrieve_again(
    question: LoggedQuestion, reading: QuestionReading, vector: Floats, engine: Engine[Bundle]
) -> tuple[LoggedQuestion, str | None] | None:
    """Retrieve for a question with the site as it is; None if it is no gap any more.

    Returns the question with its nearest record, and the id of the passage that it is near. An
    answer of a model would cost money, so there it is enough that something is above a floor where
    nothing was.
    """
    retrieved = retrieve(engine.store, reading, vector, POOL_SIZE, near=NEAR_PASSAGES)
    if engine.answerer.max_question_tokens == 0:
        is_gap = engine.answer_from(retrieved).reason is not None
    else:
        has_evidence = bool(retrieved.passages or retrieved.hints)
        is_gap = question.latest.reason != "no-evidence" or not has_evidence
    if not is_gap:
        return None
    near = find_nearest_record(retrieved, engine.store.manifest.profile.floor)
    section = None
    if near:
        nearest = (retrieved.passages or retrieved.near_passages)[0]
        # What is far from all sections shares none.
        section = None if near.nearness == "far" else nearest.item.id
        share = _weigh_page_share(engine.store, reading, nearest.row)
        near = replace(near, is_clear=near.is_clear and share >= _MIN_PAGE_SHARE)
    latest = replace(question.latest, near=near)
    return LoggedQuestion((*question.refusals[:-1], latest)), section


def _weigh_page_share(store: Bundle, reading: QuestionReading, row: int) -> float:
    """Compute the share of a question's idf whose terms the page of a passage holds."""
    idfs = {term: idf for weights in reading.idfs.values() for term, idf in weights.items()}
    rows = np.flatnonzero(store.passage_records == store.passage_records[row])
    terms = frozenset[str]().union(*match_terms(store.postings_of(idfs.keys()), idfs.keys(), rows))
    return sum(idfs[term] for term in terms) / (sum(idfs.values()) or 1.0)


def _extract_content_words(question: str) -> str:
    """Extract the words that name a question's subject: "How do I" is in every other question."""
    return " ".join(word for word in split_lowercase_words(question) if word not in STOPWORDS)
