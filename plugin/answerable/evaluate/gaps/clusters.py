"""Cluster logged refusals into pages to write or extend; leave out what the site answers today."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...serve.embedders.embedder import Vectors
from ...serve.engine import Engine
from ...serve.http.refusal_log import (
    NEARNESS_LEVELS,
    LoggedRefusal,
    Nearness,
    find_nearest_record,
    normalize_question_words,
)
from ...serve.retrieval.question import read_site_name_terms
from ...serve.retrieval.retrieve import retrieve
from ...serve.retrieval.selection import POOL_SIZE
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import STOPWORDS, extract_terms, split_lowercase_words
from ...serve.types import Reason

GapAction = Literal["write", "extend", "off-topic"]

# Cosines of two questions' content words from which they are about one thing, by the local
# embedder: of 20 such pairs among 51 questions that were asked about a library, 16 are, as read by
# hand. Where the same page is nearest to both, less is enough.
MIN_COSINE = 0.45
MIN_COSINE_ON_SAME_PAGE = 0.35

# Keeps the vector of a question without words, which is all zeros, from being divided by zero.
_MIN_NORM = 1e-12
_MAX_TITLE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions that one edit may answer, the most asked first.

    ``asked`` counts refusals, ``questions`` those that differ, ``askers`` each asker once a day.
    ``near`` is the nearest record and ``score`` how near its best passage came. ``title`` and
    ``samples`` are empty where the log holds no text.
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
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _LoggedQuestion:
    """One question and every refusal of it, in the order of the log."""

    refusals: tuple[LoggedRefusal, ...]

    @property
    def latest(self) -> LoggedRefusal:
        return self.refusals[-1]


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
        texts = [question.latest.text or "" for question in with_text]
        vectors = engine.embedder.embed(
            [
                *(engine.parse_question(text).text for text in texts),
                *map(_extract_content_words, texts),
            ]
        )
        unanswered: list[_LoggedQuestion] = []
        content_vectors: list[Floats] = []
        for number, question in enumerate(with_text):
            if still_refused := _ask_again(question, vectors[number], engine):
                unanswered.append(still_refused)
                content_vectors.append(vectors[len(texts) + number])
            else:
                answered_count += len(question.refusals)
        if unanswered:
            clusters += _cluster_by_cosine(unanswered, np.stack(content_vectors))
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
    question: _LoggedQuestion, vector: Floats, engine: Engine[Bundle]
) -> _LoggedQuestion | None:
    """Retrieve for a question with the site as it is; None if it is no gap any more.

    A model's answer would cost money, so there it is enough that something is above a floor where
    nothing was.
    """
    text = question.latest.text or ""
    retrieved = retrieve(engine.store, engine.parse_question(text), vector, POOL_SIZE, near=1)
    if engine.answerer.max_question_tokens == 0:
        is_gap = engine.answer_from(retrieved).reason is not None
    else:
        has_evidence = bool(retrieved.passages or retrieved.hints)
        is_gap = question.latest.reason != "no-evidence" or not has_evidence
    if not is_gap:
        return None
    near = find_nearest_record(retrieved, engine.store.manifest.profile.floor)
    return _LoggedQuestion((*question.refusals[:-1], replace(question.latest, near=near)))


def _group_by_page(questions: Iterable[_LoggedQuestion]) -> list[_Cluster]:
    """Group questions without a text by their nearest record; one with none near is alone."""
    groups: dict[tuple[str, bool], list[_LoggedQuestion]] = {}
    for question in questions:
        near = question.latest.near
        is_near = near is not None and near.nearness != "far"
        key = near.record if near and is_near else question.latest.question_hash
        groups.setdefault((key, is_near), []).append(question)
    return list(groups.values())


def _cluster_by_cosine(questions: Sequence[_LoggedQuestion], vectors: Vectors) -> list[_Cluster]:
    """Put each question, in turn, to the cluster that it is most alike, or into one of its own.

    vectors: of the questions, (n, d), of length 1.
    """
    clusters: list[list[_LoggedQuestion]] = []
    totals = np.zeros_like(vectors)
    centers = np.zeros_like(vectors)
    cluster_pages = np.zeros(len(questions), dtype=np.int64)
    page_numbers: dict[str, int] = {}
    for question, vector in zip(questions, vectors, strict=True):
        near = question.latest.near
        # No two questions share the page that neither of them has.
        page = page_numbers.setdefault(near.record, len(page_numbers) + 1) if near else -1
        cosines = centers[: len(clusters)] @ vector
        is_same_page = (cluster_pages[: len(clusters)] == page) & (page > 0)
        cosines[cosines < np.where(is_same_page, MIN_COSINE_ON_SAME_PAGE, MIN_COSINE)] = -1
        row = int(cosines.argmax()) if cosines.size else 0
        if not cosines.size or cosines[row] < 0:
            row = len(clusters)
            clusters.append([])
            cluster_pages[row] = page
        clusters[row].append(question)
        totals[row] += vector
        centers[row] = totals[row] / max(float(np.linalg.norm(totals[row])), _MIN_NORM)
    return [*clusters]


def _summarize_cluster(cluster: _Cluster, site_terms: Collection[str]) -> Gap:
    refusals = [refusal for question in cluster for refusal in question.refusals]
    nearest = [question.latest.near for question in cluster if question.latest.near is not None]
    best = min(nearest, key=lambda near: NEARNESS_LEVELS.index(near.nearness), default=None)
    most_asked_first = sorted(cluster, key=lambda question: -len(question.refusals))
    texts = [question.latest.text for question in most_asked_first if question.latest.text]
    days = sorted(refusal.time[:10] for refusal in refusals)
    return Gap(
        action=_choose_action(best.nearness if best else None),
        near=best.record if best else None,
        score=best.nearness if best else None,
        reason=Counter(refusal.reason for refusal in refusals).most_common(1)[0][0],
        asked=len(refusals),
        questions=len(cluster),
        askers=len({refusal.asker_hash for refusal in refusals if refusal.asker_hash}),
        first=days[0],
        last=days[-1],
        title=_suggest_title(texts, site_terms) if texts else "",
        samples=tuple(texts[:3]),
    )


def _choose_action(score: Nearness | None) -> GapAction:
    if score is None or score == "far":
        return "off-topic"
    return "write" if score == "low" else "extend"


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
