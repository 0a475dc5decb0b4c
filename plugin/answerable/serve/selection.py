"""From a wide pool of candidates to the evidence an answerer sees: no repeats, no crowding."""

from collections import Counter
from collections.abc import Sequence

from . import terms
from .recipe import Scored
from .retrieval import TOP_K, Retrieved
from .types import Evidence, Passage, RoutingHint

# How many candidates of each stream evidence is selected from.
POOL = 32

PER_RECORD = 2
PER_NOTE = 2
# A passage that leads every other record's best by this much needs one other source at most.
WINNER_MARGIN = 0.20
# Passages that share this much of their runs of words say the same.
SAME = 0.8
RUN = 3

_Runs = frozenset[tuple[str, ...]]


def select(found: Retrieved) -> Evidence:
    """At most eight passages and eight hints of a pool, each stream in its order.

    Of near-duplicates the best ranked is kept, of one record or note at most two, and where one
    record clearly leads, one passage of another. The lead of the notes is that of what is ranked
    highest, whatever is selected.
    """
    passages = _passages(found.passages)
    hints = _hints(found.hints)
    return Evidence(passages, hints, found.best(TOP_K).evidence.lead)


def _passages(ranked: Sequence[Scored[Passage]]) -> tuple[Passage, ...]:
    kept: list[Scored[Passage]] = []
    seen: list[_Runs] = []
    by_record: Counter[str] = Counter()
    for scored in ranked:
        if len(kept) == TOP_K:
            break
        if by_record[scored.item.record] == PER_RECORD:
            continue
        runs = _runs(scored.item.text)
        if any(_repeats(runs, other) for other in seen):
            continue
        kept.append(scored)
        seen.append(runs)
        by_record[scored.item.record] += 1
    return tuple(scored.item for scored in _led(kept))


def _led(kept: Sequence[Scored[Passage]]) -> Sequence[Scored[Passage]]:
    """Where the best passage's record leads all others, only its passages and the best other."""
    others = [scored for scored in kept if scored.item.record != kept[0].item.record]
    if not others or kept[0].score - others[0].score < WINNER_MARGIN:
        return kept
    dropped = others[1:]
    return [scored for scored in kept if scored not in dropped]


def _hints(ranked: Sequence[Scored[RoutingHint]]) -> tuple[RoutingHint, ...]:
    kept: list[RoutingHint] = []
    by_note: Counter[str] = Counter()
    for scored in ranked:
        note = scored.item.note
        if len(kept) < TOP_K and by_note[note] < PER_NOTE:
            kept.append(scored.item)
            by_note[note] += 1
    return tuple(kept)


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
