"""Group logged refusals into pages to write or extend; leave out what the site answers today."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...serve.engine import Engine
from ...serve.http.refusal_log import (
    NEAR_PASSAGES,
    NEARNESS_LEVELS,
    LoggedRefusal,
    NearestRecord,
    Nearness,
    find_nearest_record,
    normalize_question_words,
)
from ...serve.retrieval.bm25 import match_terms
from ...serve.retrieval.question import QuestionReading, read_site_name_terms
from ...serve.retrieval.retrieve import retrieve
from ...serve.retrieval.selection import POOL_SIZE
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import STOPWORDS, extract_terms, split_lowercase_words
from ...serve.types import Reason
from .subjects import Subject, cluster_by_subject

GapAction = Literal["write", "extend", "off-topic"]

# A page is to be extended only if it holds this share of what a question's words weigh: of 55
# questions that two sites refused, "extend" then names the right page 8 times of 14, else of 18.
_MIN_PAGE_SHARE = 1 / 3
_MAX_TITLE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """Hold a question as it was asked, and how often; case and punctuation make no other one."""

    text: str
    asked: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions that one edit may answer, the most asked first.

    ``asked`` counts refusals, ``questions`` those that differ, ``askers`` each asker once a day.
    ``near`` is the nearest record, which is to be extended if ``action`` says so, and ``score`` how
    near its best passage came. ``title`` and ``wordings`` are empty where the log holds no text.
    """

    action: GapAction
    near: str | None
    score: Nearness | None
    reason: Reason
    asked: int
    questions: int
    askers: int
    first: str
    last: str
    title: str = ""
    wordings: tuple[Wording, ...] = ()


@dataclass(frozen=True, slots=True)
class _LoggedQuestion:
    """One question and every refusal of it, in the order of the log."""

    refusals: tuple[LoggedRefusal, ...]

    @property
    def latest(self) -> LoggedRefusal:
        return self.refusals[-1]

    @property
    def near(self) -> NearestRecord | None:
        return self.latest.near


_Cluster = Sequence[_LoggedQuestion]


def group_refusals(
    refusals: Iterable[LoggedRefusal], engine: Engine[Bundle] | None
) -> tuple[tuple[Gap, ...], int]:
    """Group refusals into gaps, and count the refusals that the site answers by now.

    Largest gap first and off-topic ones last. engine: over the site as it is; without one, only
    questions without a text are grouped. Every question with a text is asked again: what the site
    answers is no gap. One call embeds them all; an answer model is never called.
    """
    with_text, hashed = _collect_questions(refusals)
    clusters = _group_by_page(hashed)
    site_terms: Collection[str] = ()
    answered_count = 0
    if engine and with_text:
        site_terms = _collect_site_name_terms(engine.store)
        readings = [engine.parse_question(question.latest.text or "") for question in with_text]
        vectors = engine.embedder.embed(
            [
                *(reading.text for reading in readings),
                *(_extract_content_words(reading.text) for reading in readings),
            ]
        )
        unanswered: list[_LoggedQuestion] = []
        subjects: list[Subject] = []
        for number, (question, reading) in enumerate(zip(with_text, readings, strict=True)):
            asked_again = _ask_again(question, reading, vectors[number], engine)
            if asked_again is None:
                answered_count += len(question.refusals)
                continue
            still_refused, section = asked_again
            terms = {term for weights in reading.idfs.values() for term in weights}
            unanswered.append(still_refused)
            subjects.append(Subject(terms, vectors[len(with_text) + number], section))
        clusters += [
            [unanswered[number] for number in numbers]
            for numbers in cluster_by_subject(subjects, engine.store)
        ]
    gaps = [_summarize_cluster(cluster, site_terms) for cluster in clusters]
    gaps.sort(key=lambda gap: (gap.action == "off-topic", -gap.asked, gap.near or "", gap.title))
    return tuple(gaps), answered_count


def _collect_questions(
    refusals: Iterable[LoggedRefusal],
) -> tuple[list[_LoggedQuestion], list[_LoggedQuestion]]:
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
        [_LoggedQuestion(tuple(each)) for each in sorted(groups.values(), key=len, reverse=True)]
        for groups in (by_text, by_hash)
    )
    return with_text, hashed


def _ask_again(
    question: _LoggedQuestion, reading: QuestionReading, vector: Floats, engine: Engine[Bundle]
) -> tuple[_LoggedQuestion, str | None] | None:
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
    return _LoggedQuestion((*question.refusals[:-1], latest)), section


def _weigh_page_share(store: Bundle, reading: QuestionReading, row: int) -> float:
    """Compute the share of a question's idf whose terms the page of a passage holds."""
    idfs = {term: idf for weights in reading.idfs.values() for term, idf in weights.items()}
    rows = np.flatnonzero(store.passage_records == store.passage_records[row])
    terms = frozenset[str]().union(*match_terms(store.postings_of(idfs.keys()), idfs.keys(), rows))
    return sum(idfs[term] for term in terms) / (sum(idfs.values()) or 1.0)


def _group_by_page(questions: Iterable[_LoggedQuestion]) -> list[_Cluster]:
    """Group questions without a text by their nearest record; one with none near is alone."""
    groups: dict[tuple[str, bool], list[_LoggedQuestion]] = {}
    for question in questions:
        near = question.near
        is_near = near is not None and near.nearness != "far"
        key = near.record if near and is_near else question.latest.question_hash
        groups.setdefault((key, is_near), []).append(question)
    return list(groups.values())


def _summarize_cluster(cluster: _Cluster, site_terms: Collection[str]) -> Gap:
    refusals = [refusal for question in cluster for refusal in question.refusals]
    most_asked_first = sorted(cluster, key=lambda question: -len(question.refusals))
    action, near = _choose_action(most_asked_first)
    wordings = tuple(
        Wording(question.latest.text, len(question.refusals))
        for question in most_asked_first
        if question.latest.text is not None
    )
    days = sorted(refusal.time[:10] for refusal in refusals)
    return Gap(
        action=action,
        near=near.record if near else None,
        score=near.nearness if near else None,
        reason=Counter(refusal.reason for refusal in refusals).most_common(1)[0][0],
        asked=len(refusals),
        questions=len(cluster),
        askers=len({refusal.asker_hash for refusal in refusals if refusal.asker_hash}),
        first=days[0],
        last=days[-1],
        title=_suggest_title([wording.text for wording in wordings], site_terms),
        wordings=wordings,
    )


def _choose_action(cluster: _Cluster) -> tuple[GapAction, NearestRecord | None]:
    """Choose what would answer a cluster, and the record that is nearest to it.

    A page is to be extended if it is clearly the nearest to half of the refusals or more.
    """
    places = [(question.near, len(question.refusals)) for question in cluster]
    nearest = [near for near, _ in places if near is not None]
    best = min(nearest, key=lambda near: NEARNESS_LEVELS.index(near.nearness), default=None)
    if best is None or best.nearness == "far":
        return "off-topic", best
    counts: Counter[str] = Counter()
    for near, count in places:
        if near and _is_to_extend(near):
            counts[near.record] += count
    record, votes = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if 2 * votes < sum(count for _, count in places):
        return "write", best
    return "extend", next(near for near in nearest if near.record == record and near.is_clear)


def _is_to_extend(near: NearestRecord) -> bool:
    return near.is_clear and near.nearness in ("above", "close")


def _extract_content_words(question: str) -> str:
    """Extract the words that name a question's subject: "How do I" is in every other question."""
    return " ".join(word for word in split_lowercase_words(question) if word not in STOPWORDS)


def _collect_site_name_terms(bundle: Bundle) -> Collection[str]:
    """Collect the terms of the site's name, which tell no page from another."""
    return {term for tag in bundle.site.tags for term in read_site_name_terms(bundle, tag)}


def _suggest_title(texts: Sequence[str], site_terms: Collection[str]) -> str:
    """Suggest a page's title: the terms that most questions share, in the first one's order."""
    counts: Counter[str] = Counter()
    words_by_term: dict[str, str] = {}
    for text in texts:
        words = {term: word for word in text.split() for term in extract_terms(word)[:1]}
        counts.update(words.keys() - site_terms)
        for term, word in words.items():
            words_by_term.setdefault(term, word)
    highest = max(counts.values(), default=0)
    shared = [term for term in words_by_term if counts[term] * 2 > highest][:_MAX_TITLE_WORDS]
    title = " ".join(words_by_term[term].strip("?!.,:;\"'()[]") for term in shared)
    return title[:1].upper() + title[1:]
