"""Rank passages and hints above their floors for a question, and order the sections."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.tokenization import match_languages
from ..types import TITLE_SEPARATOR, Passage, RoutingHint
from ..vectors import Floats, Rows
from .question import QuestionReading
from .rank import (
    SAME_QUESTION,
    Ranking,
    Scored,
    compute_signals,
    score_candidates,
    score_hint_labels,
    select_top_rows,
)
from .store import PassageQuery, Signals, Store, compute_idf_share

TOP_K: int = RULES["retrieve"]["TOP_K"]
# The siblings of a pool: other passages of its best pages, whose score misses the floor by this
# much at most. Measured on two sites.
SIBLING_PAGES: int = RULES["retrieve"]["SIBLING_PAGES"]
MAX_SIBLINGS: int = RULES["retrieve"]["MAX_SIBLINGS"]
SIBLING_SLACK: float = RULES["retrieve"]["SIBLING_SLACK"]
# A query without tokens is all zeros, and is divided by this.
_TINY: float = RULES["retrieve"]["TINY"]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Both streams, best first, and the best candidates under each floor.

    ``siblings`` are other passages of the best pages, a little under the floor: the floor tells
    whether a page answers, and the section score which of its sections does. ``reading``: of the
    question. ``vector``: of the reading's text, None where nothing was embedded. ``language``: of
    the asker, None if it is not known.
    """

    reading: QuestionReading = field(compare=False)
    passages: tuple[Scored[Passage], ...] = ()
    hints: tuple[Scored[RoutingHint], ...] = ()
    near_passages: tuple[Scored[Passage], ...] = ()
    near_hints: tuple[Scored[RoutingHint], ...] = ()
    siblings: tuple[Scored[Passage], ...] = ()
    vector: Floats | None = field(default=None, compare=False, repr=False)
    language: str | None = field(default=None, compare=False)

    @property
    def lead(self) -> float:
        """The best cosine of the first hints minus the best one of the first passages."""
        hint = max((hint.dense for hint in self.hints[:TOP_K]), default=0.0)
        return hint - max((passage.dense for passage in self.passages[:TOP_K]), default=0.0)

    def truncate(self, count: int) -> "RetrievalResult":
        """Return what a smaller ``top_k`` would have retrieved."""
        return replace(
            self,
            passages=self.passages[:count],
            hints=self.hints[:count],
            near_passages=self.near_passages[:count],
            near_hints=self.near_hints[:count],
        )


def retrieve(
    store: Store,
    reading: QuestionReading,
    vector: Floats,
    top_k: int = TOP_K,
    language: str | None = None,
    near: int = 0,
    near_floor: float = -np.inf,
) -> RetrievalResult:
    """Rank both streams for a question; one without content terms retrieves nothing.

    vector: (d,) float32, of the bundle's identity, of the reading's text; its length does not
    matter. language: of the question. Where passages in it are above the floor, all others are left
    out. near: how many candidates under each floor to return too. near_floor: the least score of
    such a passage before boosts.
    """
    if not reading.terms:
        return RetrievalResult(reading)
    unit = normalize_query(store, vector)
    readable = _mark_readable(store, language)
    signals = compute_signals(store, reading)
    query = PassageQuery(unit, signals, readable, top_k, near, near_floor)
    candidates = store.passage_candidates(query)
    passages = score_candidates(store.manifest.profile, candidates, signals)
    hints = _score_hints(store, reading, unit)
    eligible = passages.above_floor & readable[passages.rows]
    if not eligible.any():
        eligible = passages.above_floor
    best = passages.select_top(eligible, top_k)
    under_floor = ~passages.above_floor & (passages.base >= near_floor)
    is_near = under_floor & readable[passages.rows]
    if not is_near.any():
        is_near = under_floor
    near_best = passages.select_top(is_near, near)
    siblings = _rank_siblings(store, signals, unit, passages, best.rows)
    rows = np.concatenate((best.rows, near_best.rows, siblings.rows))
    texts = store.passages_at(rows.tolist())
    return RetrievalResult(
        reading,
        best.list_items(texts.__getitem__),
        hints.select_top(hints.above_floor, top_k).list_items(store.index.make_hint),
        near_best.list_items(texts.__getitem__),
        hints.select_top(~hints.above_floor, near).list_items(store.index.make_hint),
        siblings.list_items(texts.__getitem__),
        vector,
        language,
    )


def normalize_query(store: Store, vector: Floats) -> Floats:
    """Cut an embedded question to the dimensions of a site's codes and scale it to length 1."""
    if vector.shape != (store.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {store.manifest.identity.dimensions}-d rows"
        )
    if not np.isfinite(vector).all():
        raise ValueError("a query with a number that is not finite")
    truncated = vector[: store.manifest.dimensions]
    unit: Floats = truncated / max(float(np.linalg.norm(truncated)), _TINY)
    return unit


def _rank_siblings(
    store: Store, signals: Signals, unit: Floats, ranked: Ranking, best: Rows
) -> Ranking:
    """Rank the passages beside the best ones on their pages that have a word of the question.

    best: rows, best first.
    """
    profile, records = store.manifest.profile, store.index.passage_records
    pages = list(dict.fromkeys(records[best].tolist()))[:SIBLING_PAGES]
    beside = np.isin(records, pages) & (signals.lexical > 0)
    beside[ranked.rows[ranked.above_floor]] = False
    rows = np.sort(select_top_rows(signals.lexical, MAX_SIBLINGS, beside))
    scored = score_candidates(profile, store.passage_cosines(unit, rows), signals)
    return scored.select_top(scored.base >= profile.floor - SIBLING_SLACK, MAX_SIBLINGS)


def _score_hints(store: Store, reading: QuestionReading, unit: Floats) -> Ranking:
    index = store.index
    lexical = score_hint_labels(store, reading.idfs)
    # Of the best window of each hint.
    dense = np.full(len(lexical), -1.0, dtype=np.float32)
    np.maximum.at(dense, index.hint_owners, index.hint_codes.score(unit))
    rows, zeros, score = np.arange(len(dense)), np.zeros_like(dense), dense + lexical
    above_floor = score >= store.manifest.profile.note_floor
    return Ranking(rows, score, score, lexical, dense, score, zeros, zeros, above_floor)


def _mark_readable(store: Store, language: str | None) -> NDArray[np.bool_]:
    """Mark the passages in a language that the asker can read, (n,); none if none is known."""
    readable = np.zeros(len(store.index.passage_records), dtype=np.bool_)
    tags = match_languages(language, store.index.site.tags)
    for each in store.index.site.languages:
        if each.tag in tags:
            readable[each.first : each.end] = True
    return readable


# The weights of a section's parts: the score of its page's best passage, the base score of its own,
# the share of the question that its heading has, code, and the logarithm of its length in terms,
# without which short passages lead. Fitted on three sites, each by the other two.
PAGE_WEIGHT: float = RULES["sections"]["PAGE_WEIGHT"]
OWN_WEIGHT: float = RULES["sections"]["OWN_WEIGHT"]
HEADING_WEIGHT: float = RULES["sections"]["HEADING_WEIGHT"]
CODE_BONUS: float = RULES["sections"]["CODE_BONUS"]
LENGTH_WEIGHT: float = RULES["sections"]["LENGTH_WEIGHT"]
# The weight of the best question that the section is known to answer, and what is added where that
# is the asked one, term for term: more than all else, so that a suggestion that is chosen is
# answered by its section first.
QUESTION_WEIGHT: float = RULES["sections"]["QUESTION_WEIGHT"]
SAME_QUESTION_BONUS: float = RULES["sections"]["SAME_QUESTION_BONUS"]
# How many candidates of each stream are ordered.
POOL_SIZE: int = RULES["sections"]["POOL_SIZE"]
# Sections of one page that a search lists: with more, one page hides the others.
SECTIONS_PER_PAGE: int = RULES["sections"]["SECTIONS_PER_PAGE"]
MAX_HINTS_PER_NOTE = 2


def order_sections(
    store: Store, reading: QuestionReading, pool: Sequence[Scored[Passage]]
) -> list[Scored[Passage]]:
    """Order a pool by section score, best first, and add the section scores."""
    lengths = store.index.passage_lengths
    best: dict[str, float] = {}
    for scored in pool:
        best[scored.item.record] = max(scored.score, best.get(scored.item.record, scored.score))

    def rate(scored: Scored[Passage]) -> float:
        passage = scored.item
        heading = passage.title.rpartition(TITLE_SEPARATOR)[2]
        weights, forms = reading.idfs[passage.language], reading.forms[passage.language]
        share = compute_idf_share(weights, forms, heading, passage.language)
        score = PAGE_WEIGHT * best[passage.record] + OWN_WEIGHT * scored.base
        score += HEADING_WEIGHT * share + QUESTION_WEIGHT * scored.question
        score += LENGTH_WEIGHT * math.log(1 + int(lengths[scored.row]))
        score += CODE_BONUS if store.index.has_code[scored.row] else 0.0
        return score + (SAME_QUESTION_BONUS if scored.question > SAME_QUESTION else 0.0)

    rated = (replace(scored, section=rate(scored)) for scored in pool)
    return sorted(rated, key=lambda scored: -scored.section)


def choose_passages(store: Store, retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """Choose the passages that answer a question without a model, best first.

    What a project was answers only a question that has a word for history.
    """
    ordered = order_candidates(store, retrieved)
    return [scored for scored in ordered if answers_question(store, retrieved.reading, scored)]


def answers_question(store: Store, reading: QuestionReading, scored: Scored[Passage]) -> bool:
    """True unless a passage is of history, and neither asked for nor known to be the answer."""
    is_history = store.index.is_history[store.index.passage_records[scored.row]]
    return not is_history or reading.asks_for_history or scored.question > SAME_QUESTION


def order_candidates(
    store: Store, retrieved: RetrievalResult, near: Sequence[Scored[Passage]] = ()
) -> list[Scored[Passage]]:
    """Order what is above the floor, and what is a little under it beside such a passage.

    near: near misses that are candidates too.
    """
    found = (*retrieved.passages, *retrieved.siblings, *near)
    by_row = {scored.row: scored for scored in found}
    pool = sorted(by_row.values(), key=lambda scored: -scored.score)
    return order_sections(store, retrieved.reading, pool[:POOL_SIZE])


def list_sections(store: Store, retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """List the sections that a search finds, best first, at most eight, no two of the same text.

    Those that answer come first, then near misses with a word of the question: nothing that is
    listed is evidence, so the floor that keeps an answer honest need not hide a place to look.
    """
    near = (scored for scored in retrieved.near_passages if scored.lexical > 0)
    sections: dict[str, Scored[Passage]] = {}
    texts: set[str] = set()
    by_record: Counter[str] = Counter()
    ordered = order_candidates(store, retrieved)
    # A stable sort: what answers keeps its order, and so does what does not.
    ordered.sort(key=lambda scored: not answers_question(store, retrieved.reading, scored))
    for scored in (*ordered, *near):
        passage = scored.item
        is_new = passage.url not in sections and passage.text not in texts
        if is_new and by_record[passage.record] < SECTIONS_PER_PAGE:
            by_record[passage.record] += 1
            texts.add(passage.text)
            sections[passage.url] = scored
    return list(sections.values())[:TOP_K]


def choose_hints(pool: Sequence[Scored[RoutingHint]]) -> list[RoutingHint]:
    """Choose the hints that an answerer may see: the best eight, at most two of one note."""
    by_note: Counter[str] = Counter()
    chosen: list[RoutingHint] = []
    for scored in pool:
        if by_note[scored.item.note] < MAX_HINTS_PER_NOTE:
            by_note[scored.item.note] += 1
            chosen.append(scored.item)
    return chosen[:TOP_K]
