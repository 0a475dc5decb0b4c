"""From a wide pool of candidates to the evidence an answerer sees: no repeats, no crowding."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, Literal, TypeVar

import numpy as np

from . import recipe, scan, sections, terms
from .frozen import frozen
from .question_reading import content_terms
from .recipe import Scored
from .retrieval import TOP_K, Retrieved
from .store import Store
from .types import Evidence, Passage, RoutingHint

T = TypeVar("T", Passage, RoutingHint)

# How many candidates of each stream evidence is selected from.
POOL = 32

PER_RECORD = 4
PER_NOTE = 2
# A passage that leads every other record's best by this much needs one other source at most.
WINNER_MARGIN = 0.20
# Passages that share this much of their runs of words say the same.
SAME = 0.8
RUN = 3

Rule = Literal[
    "eight-above", "enough-of-its-record", "two-of-its-note", "near-duplicate", "clear-winner"
]
_Runs = frozenset[tuple[str, ...]]


@frozen
class Weighed(Generic[T]):
    """A candidate and the rule that leaves it out, None for one that is selected.

    ``by`` is the id of the candidate that the rule holds against it, where that is a single one.
    """

    scored: Scored[T]
    rule: Rule | None = None
    by: str | None = None


def arrange(store: Store, question: str, found: Retrieved) -> Retrieved:
    """Order the passages of a pool and their siblings by sections, where words count at all."""
    if not store.manifest.profile.hybrid:
        return found
    weights = recipe.weigh_terms(store, content_terms(store, question))
    pool = sorted((*found.passages, *found.siblings), key=lambda scored: -scored.score)[:POOL]
    ordered = sections.order_passages(question, weights, pool)
    question_terms = frozenset(term for own in weights.values() for term in own)
    rows = np.array([scored.row for scored in ordered], dtype=np.intp)
    postings = store.postings_of(question_terms)
    own_terms = scan.held_terms(postings, question_terms, rows)
    passages = (replace(each, terms=own) for each, own in zip(ordered, own_terms, strict=True))
    return replace(found, passages=tuple(passages), siblings=())


def select(found: Retrieved) -> Evidence:
    """Select at most eight passages and eight hints of a pool, each stream in its order.

    Of near-duplicates the first is kept, of one record at most four passages and of one note two
    hints, and where one record clearly leads, one passage of another. The lead of the notes is
    that of the best scores, whatever is selected.
    """
    passages = [each.scored for each in weigh_passages(found.passages) if each.rule is None]
    hints = [each.scored for each in weigh_hints(found.hints) if each.rule is None]
    by_score = replace(found, passages=tuple(sorted(found.passages, key=lambda s: -s.score)))
    return Evidence(
        tuple(scored.item for scored in passages),
        tuple(scored.item for scored in hints),
        by_score.best(TOP_K).evidence.lead,
        tuple(scored.section for scored in passages),
        tuple(scored.terms for scored in passages),
    )


def weigh_passages(ranked: Sequence[Scored[Passage]]) -> tuple[Weighed[Passage], ...]:
    """What becomes of each passage of a pool, best first."""
    found: list[Weighed[Passage]] = []
    seen: list[tuple[str, _Runs]] = []
    by_record: Counter[str] = Counter()
    for scored in ranked:
        item = scored.item
        if len(seen) == TOP_K:
            found.append(Weighed(scored, "eight-above"))
            continue
        if by_record[item.record] == PER_RECORD:
            found.append(Weighed(scored, "enough-of-its-record"))
            continue
        runs = _runs(item.text)
        same = next((name for name, other in seen if _repeats(runs, other)), None)
        if same is not None:
            found.append(Weighed(scored, "near-duplicate", same))
            continue
        found.append(Weighed(scored))
        seen.append((item.id, runs))
        by_record[item.record] += 1
    return _led(found)


def _led(found: Sequence[Weighed[Passage]]) -> tuple[Weighed[Passage], ...]:
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
        Weighed(weighed.scored, "clear-winner", best.item.id) if place in dropped else weighed
        for place, weighed in enumerate(found)
    )


def weigh_hints(ranked: Sequence[Scored[RoutingHint]]) -> tuple[Weighed[RoutingHint], ...]:
    """What becomes of each hint of a pool, best first."""
    found: list[Weighed[RoutingHint]] = []
    by_note: Counter[str] = Counter()
    for scored in ranked:
        note = scored.item.note
        if by_note.total() == TOP_K:
            found.append(Weighed(scored, "eight-above"))
        elif by_note[note] == PER_NOTE:
            found.append(Weighed(scored, "two-of-its-note"))
        else:
            found.append(Weighed(scored))
            by_note[note] += 1
    return tuple(found)


def _runs(text: str) -> _Runs:
    """Every run of so many words of a text; the whole of a shorter one."""
    words = terms.words(text)
    return frozenset(
        tuple(words[start : start + RUN]) for start in range(max(1, len(words) - RUN + 1))
    )


def _repeats(runs: _Runs, kept: _Runs) -> bool:
    """Whether a text says what one above it says, or only a part of that."""
    common = len(runs & kept)
    return common == len(runs) or common >= SAME * (len(runs) + len(kept) - common)
