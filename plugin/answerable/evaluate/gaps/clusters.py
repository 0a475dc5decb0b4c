"""Refused questions, grouped into what the site likely lacks."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...serve.embedders.embedder import Vectors
from ...serve.engine import Engine
from ...serve.http.refusal_log import (
    NEARNESS_LEVELS,
    LoggedRefusal,
    Nearness,
    find_nearest_record,
    normalize_question_words,
)
from ...serve.retrieval import selection
from ...serve.retrieval.question import read_site_name_terms
from ...serve.retrieval.retrieve import retrieve
from ...serve.stores.bundle import Bundle
from ...serve.text import tokenization
from ...serve.text.tokenization import extract_terms, split_lowercase_words
from ...serve.types import Reason

GapAction = Literal["write", "extend", "off-topic"]

# Cosines of two questions' content words from which they are about one thing, by the local
# embedder: of 20 such pairs among 51 questions that were asked about a library, 16 are, as read by
# hand. Where the same page is nearest to both, less is enough.
MIN_COSINE = 0.45
MIN_COSINE_ON_SAME_PAGE = 0.35
# Keeps the vector of a question without words, which is all zeros, from being divided by zero.
_MIN_NORM = 1e-12
# Words of a suggested title.
_MAX_TITLE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions that one edit may answer, the most asked first.

    ``asked`` counts refusals, ``questions`` those that differ, ``askers`` each asker once a day.
    ``near`` is the nearest record and ``score`` how near its best passage came. ``title`` and
    ``samples`` are empty where no text was kept.
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
class _RefusedQuestion:
    """One question and every refusal of it, in the order of the log."""

    refused: tuple[LoggedRefusal, ...]

    @property
    def latest(self) -> LoggedRefusal:
        return self.refused[-1]


def group_refusals(
    kept: Iterable[LoggedRefusal], engine: Engine[Bundle] | None
) -> tuple[tuple[Gap, ...], int]:
    """The gaps, largest first and off-topic ones last, and how many refusals are none any more.

    engine: over the site as it is; without one, only what has no text is grouped. Every question
    with a text is asked again: what the site answers is no gap. All of them are embedded in one
    call; an answer model is never called.
    """
    with_text, without = _collect_questions(kept)
    clusters: list[Sequence[_RefusedQuestion]] = list(_group_by_page(without))
    words: Collection[str] = ()
    since = 0
    if engine and with_text:
        words = _collect_site_name_terms(engine.store)
        texts = [question.latest.text or "" for question in with_text]
        vectors = engine.embedder.embed(
            [
                *(engine.parse_question(text).text for text in texts),
                *map(_extract_content_words, texts),
            ]
        )
        asked = [
            _ask_again(question, vector, engine)
            for question, vector in zip(with_text, vectors, strict=False)
        ]
        still = [row for row, question in enumerate(asked) if question]
        since = sum(len(q.refused) for q, now in zip(with_text, asked, strict=True) if not now)
        left = [question for question in asked if question]
        rows = np.array(still, dtype=np.intp) + len(texts)
        clusters += _cluster_by_cosine(left, vectors[rows])
    gaps = [_summarize_cluster(cluster, words) for cluster in clusters]
    gaps.sort(key=lambda gap: (gap.action == "off-topic", -gap.asked, gap.near or "", gap.title))
    return tuple(gaps), since


def _collect_questions(
    kept: Iterable[LoggedRefusal],
) -> tuple[list[_RefusedQuestion], list[_RefusedQuestion]]:
    """The questions with a text and those without, the most asked first."""
    found: dict[tuple[bool, str], list[LoggedRefusal]] = {}
    for each in kept:
        # A hash is of one process or one secret, a text is the same whoever has kept it.
        key = each.question if each.text is None else normalize_question_words(each.text)
        found.setdefault((each.text is None, key), []).append(each)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    rows = [(hashed, _RefusedQuestion(tuple(refused))) for (hashed, _), refused in ordered]
    return [q for hashed, q in rows if not hashed], [q for hashed, q in rows if hashed]


def _ask_again(
    question: _RefusedQuestion, vector: NDArray[np.float32], engine: Engine[Bundle]
) -> _RefusedQuestion | None:
    """A question with what is nearest to it in the site as it is; None if it is no gap now.

    A model's answer would cost money, so there it is enough that something is above a floor where
    nothing was.
    """
    text = question.latest.text or ""
    found = retrieve(engine.store, engine.parse_question(text), vector, selection.POOL_SIZE, near=1)
    if not engine.answerer.max_question_tokens:
        is_gap = engine.answer_from(found).reason is not None
    else:
        is_gap = question.latest.reason != "no-evidence" or not (found.passages or found.hints)
    if not is_gap:
        return None
    near = find_nearest_record(found, engine.store.manifest.profile.floor)
    return _RefusedQuestion((*question.refused[:-1], replace(question.latest, near=near)))


def _group_by_page(questions: Iterable[_RefusedQuestion]) -> Iterator[list[_RefusedQuestion]]:
    """Questions without a text by their nearest record; those with none near, each by itself."""
    pages: dict[tuple[str, bool], list[_RefusedQuestion]] = {}
    for question in questions:
        near = question.latest.near
        is_near = near is not None and near.score != "far"
        key = near.record if near and is_near else question.latest.question
        pages.setdefault((key, is_near), []).append(question)
    return iter(pages.values())


def _cluster_by_cosine(
    questions: Sequence[_RefusedQuestion], vectors: Vectors
) -> list[list[_RefusedQuestion]]:
    """Questions put, one by one, to those they are most alike. vectors: (n, d), of length 1."""
    clusters: list[list[_RefusedQuestion]] = []
    totals = np.zeros_like(vectors)
    middles = np.zeros_like(vectors)
    pages = np.zeros(len(questions), dtype=np.int64)
    numbers: dict[str, int] = {}
    for question, vector in zip(questions, vectors, strict=True):
        near = question.latest.near
        # No two questions share the page that neither of them has.
        page = numbers.setdefault(near.record, len(numbers) + 1) if near else -1
        cosines = middles[: len(clusters)] @ vector
        is_page = pages[: len(clusters)] == page
        cosines[cosines < np.where(is_page & (page > 0), MIN_COSINE_ON_SAME_PAGE, MIN_COSINE)] = -1
        row = int(cosines.argmax()) if cosines.size else 0
        if not cosines.size or cosines[row] < 0:
            row = len(clusters)
            clusters.append([])
            pages[row] = page
        clusters[row].append(question)
        totals[row] += vector
        middles[row] = totals[row] / max(float(np.linalg.norm(totals[row])), _MIN_NORM)
    return clusters


def _summarize_cluster(cluster: Sequence[_RefusedQuestion], names: Collection[str]) -> Gap:
    refused = [each for question in cluster for each in question.refused]
    nearest = [q.latest.near for q in cluster if q.latest.near is not None]
    best = min(nearest, key=lambda near: NEARNESS_LEVELS.index(near.score), default=None)
    ordered = sorted(cluster, key=lambda question: -len(question.refused))
    texts = [question.latest.text for question in ordered if question.latest.text]
    days = sorted(each.time[:10] for each in refused)
    return Gap(
        action=_choose_action(best.score if best else None),
        near=best.record if best else None,
        score=best.score if best else None,
        reason=Counter(each.reason for each in refused).most_common(1)[0][0],
        asked=len(refused),
        questions=len(cluster),
        askers=len({each.asker for each in refused if each.asker}),
        first=days[0],
        last=days[-1],
        title=_suggest_title(texts, names) if texts else "",
        samples=tuple(texts[:3]),
    )


def _choose_action(score: Nearness | None) -> GapAction:
    if score is None or score == "far":
        return "off-topic"
    return "write" if score == "low" else "extend"


def _extract_content_words(question: str) -> str:
    """The words of a question that say what it is about: "How do I" is in every other one."""
    return " ".join(
        word for word in split_lowercase_words(question) if word not in tokenization.STOPWORDS
    )


def _collect_site_name_terms(bundle: Bundle) -> Collection[str]:
    """The terms of what the site is called, which tell no page from another."""
    return {term for tag in bundle.site.tags for term in read_site_name_terms(bundle, tag)}


def _suggest_title(texts: Sequence[str], names: Collection[str]) -> str:
    """A page's title from the terms that most of its questions share, in the first one's order."""
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for text in texts:
        words = {term: word for word in text.split() for term in extract_terms(word)[:1]}
        counts.update(words.keys() - names)
        shown |= {term: word for term, word in words.items() if term not in shown}
    most = max(counts.values(), default=0)
    chosen = [term for term in shown if counts[term] * 2 > most][:_MAX_TITLE_WORDS]
    title = " ".join(shown[term].strip("?!.,:;\"'()[]") for term in chosen)
    return title[:1].upper() + title[1:]
