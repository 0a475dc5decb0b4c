"""From a wide pool of candidates to the evidence an answerer sees: no repeats, no crowding.

How much evidence an answerer is given: whole passages within one budget.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

import numpy as np

from ..text.tokenization import split_lowercase_words
from ..types import Evidence, Passage, RoutingHint
from .bm25 import match_terms
from .retrieve import TOP_K, RetrievalResult
from .scoring import Scored
from .section_scores import order_by_section
from .store import Store

T = TypeVar("T", Passage, RoutingHint)

# How many candidates of each stream evidence is selected from.
POOL_SIZE = 32

MAX_PASSAGES_PER_RECORD = 4
MAX_HINTS_PER_NOTE = 2
# A passage that leads every other record's best by this much needs one other source at most.
WINNER_MARGIN = 0.20
# Passages that share this much of their runs of words say the same.
DUPLICATE_SHARE = 0.8
SHINGLE_WORDS = 3

SelectionRule = Literal[
    "eight-above", "enough-of-its-record", "two-of-its-note", "near-duplicate", "clear-winner"
]
_Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SelectionDecision(Generic[T]):
    """A candidate and the rule that leaves it out, None for one that is selected.

    ``by`` is the id of the candidate that the rule holds against it, where that is a single one.
    """

    scored: Scored[T]
    rule: SelectionRule | None = None
    by: str | None = None


def arrange_pool(store: Store, found: RetrievalResult) -> RetrievalResult:
    """Order the passages of a pool and their siblings by sections, where words count at all."""
    if not store.manifest.profile.hybrid:
        return found
    weights = found.reading.idfs
    pool = sorted((*found.passages, *found.siblings), key=lambda scored: -scored.score)[:POOL_SIZE]
    ordered = order_by_section(found.reading.question, weights, pool)
    question_terms = frozenset(term for own in weights.values() for term in own)
    rows = np.array([scored.row for scored in ordered], dtype=np.intp)
    postings = store.postings_of(question_terms)
    own_terms = match_terms(postings, question_terms, rows)
    passages = (replace(each, terms=own) for each, own in zip(ordered, own_terms, strict=True))
    return replace(found, passages=tuple(passages), siblings=())


def select_evidence(found: RetrievalResult) -> Evidence:
    """Select at most eight passages and eight hints of a pool, each stream in its order.

    Of near-duplicates the first is kept, of one record at most four passages and of one note two
    hints, and where one record clearly leads, one passage of another. The lead of the notes is
    that of the best scores, whatever is selected.
    """
    passages = [each.scored for each in decide_passages(found.passages) if each.rule is None]
    hints = [each.scored for each in decide_hints(found.hints) if each.rule is None]
    by_score = replace(found, passages=tuple(sorted(found.passages, key=lambda s: -s.score)))
    return Evidence(
        tuple(scored.item for scored in passages),
        tuple(scored.item for scored in hints),
        by_score.truncate(TOP_K).evidence.lead,
        tuple(scored.section for scored in passages),
        tuple(scored.terms for scored in passages),
        found.reading.idfs,
        # The frame of the question counts for its vector, but not for what is retrieved.
        found.vector if found.reading.text == found.reading.question else None,
    )


def decide_passages(ranked: Sequence[Scored[Passage]]) -> tuple[SelectionDecision[Passage], ...]:
    """What becomes of each passage of a pool, best first."""
    found: list[SelectionDecision[Passage]] = []
    seen: list[tuple[str, _Shingles]] = []
    by_record: Counter[str] = Counter()
    for scored in ranked:
        item = scored.item
        if len(seen) == TOP_K:
            found.append(SelectionDecision(scored, "eight-above"))
            continue
        if by_record[item.record] == MAX_PASSAGES_PER_RECORD:
            found.append(SelectionDecision(scored, "enough-of-its-record"))
            continue
        runs = _split_shingles(item.text)
        same = next((name for name, other in seen if _is_near_duplicate(runs, other)), None)
        if same is not None:
            found.append(SelectionDecision(scored, "near-duplicate", same))
            continue
        found.append(SelectionDecision(scored))
        seen.append((item.id, runs))
        by_record[item.record] += 1
    return _apply_clear_winner(found)


def _apply_clear_winner(
    found: Sequence[SelectionDecision[Passage]],
) -> tuple[SelectionDecision[Passage], ...]:
    """Where the best passage's record leads all others, only its passages and the best other."""
    if not found:
        return ()
    best = found[0].scored
    others = [
        place
        for place, weighed in enumerate(found)
        if weighed.rule is None and weighed.scored.item.record != best.item.record
    ]
    if not others or best.score - found[others[0]].scored.score < WINNER_MARGIN:
        return tuple(found)
    dropped = others[1:]
    return tuple(
        SelectionDecision(weighed.scored, "clear-winner", best.item.id)
        if place in dropped
        else weighed
        for place, weighed in enumerate(found)
    )


def decide_hints(
    ranked: Sequence[Scored[RoutingHint]],
) -> tuple[SelectionDecision[RoutingHint], ...]:
    """What becomes of each hint of a pool, best first."""
    found: list[SelectionDecision[RoutingHint]] = []
    by_note: Counter[str] = Counter()
    for scored in ranked:
        note = scored.item.note
        if by_note.total() == TOP_K:
            found.append(SelectionDecision(scored, "eight-above"))
        elif by_note[note] == MAX_HINTS_PER_NOTE:
            found.append(SelectionDecision(scored, "two-of-its-note"))
        else:
            found.append(SelectionDecision(scored))
            by_note[note] += 1
    return tuple(found)


def _split_shingles(text: str) -> _Shingles:
    """Every run of so many words of a text; the whole of a shorter one."""
    words = split_lowercase_words(text)
    return frozenset(
        tuple(words[start : start + SHINGLE_WORDS])
        for start in range(max(1, len(words) - SHINGLE_WORDS + 1))
    )


def _is_near_duplicate(runs: _Shingles, kept: _Shingles) -> bool:
    """Whether a text says what one above it says, or only a part of that."""
    common = len(runs & kept)
    return common == len(runs) or common >= DUPLICATE_SHARE * (len(runs) + len(kept) - common)


MAX_EVIDENCE_CHARACTERS = 24_000
MAX_RECORD_CHARACTERS = 6_000

BudgetLimit = Literal["budget", "record-budget"]


def fit_budget(
    evidence: Evidence,
    total: int = MAX_EVIDENCE_CHARACTERS,
    per_record: int = MAX_RECORD_CHARACTERS,
) -> Evidence:
    """Evidence within a budget, in characters of text and title; hints cost nothing.

    Whole passages are left out, lowest first, and never a part of one. A record's best passage
    counts against the total only, so that a long one is not lost to the record's own share.
    """
    passages = evidence.passages
    limited = find_budget_limits(passages, total, per_record)
    if not any(limited):
        return evidence
    scores, terms = evidence.section_scores, evidence.terms
    fitting = [place for place, limit in enumerate(limited) if limit is None]
    return replace(
        evidence,
        passages=tuple(passages[place] for place in fitting),
        section_scores=tuple(scores[place] for place in fitting if scores),
        terms=tuple(terms[place] for place in fitting if terms),
    )


def find_budget_limits(
    passages: Sequence[Passage],
    total: int = MAX_EVIDENCE_CHARACTERS,
    per_record: int = MAX_RECORD_CHARACTERS,
) -> tuple[BudgetLimit | None, ...]:
    """The limit that leaves each passage out, best first; None for one that fits."""
    found: list[BudgetLimit | None] = []
    used = 0
    by_record: Counter[str] = Counter()
    for passage in passages:
        size = len(passage.text) + len(passage.title)
        share = by_record[passage.record]
        if used + size > total:
            found.append("budget")
        elif share and share + size > per_record:
            found.append("record-budget")
        else:
            found.append(None)
            used += size
            by_record[passage.record] += size
    return tuple(found)
