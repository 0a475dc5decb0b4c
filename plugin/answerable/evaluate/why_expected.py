"""Where what was expected of a question stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..serve import languages, recipe, retrieval
from ..serve.bundle import Bundle
from ..serve.errors import GoldError
from ..serve.recipe import Ranking
from ..serve.store import Floats
from . import why_candidates, why_words
from .why_candidates import Asked, Candidate, Fate


@dataclass(frozen=True, slots=True)
class Target:
    """What an id names: the rows of its passages or those of its hints."""

    asked: str
    stream: Literal["passages", "hints"]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """What base a passage would have if it said a word that it lacks once, all else being equal."""

    word: str
    base: float


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the best item of what was expected stands.

    ``of``: how many items of the bundle it names. ``rank`` is that of the score among all ``total``
    of its stream, floor or no floor. ``gap`` is what it lacks to the floor, 0 above it. ``gains``
    are the missing words of one under the floor, the most useful first; ``if_all_said`` is its
    base with all of them, None where no word could help.
    """

    asked: str
    stream: Literal["passages", "hints"]
    of: int
    rank: int
    total: int
    gap: float
    gains: tuple[Gain, ...]
    if_all_said: float | None
    candidate: Candidate


def find(bundle: Bundle, name: str, notes: Mapping[str, str]) -> Target:
    """What an id names; GoldError for one that nothing in the bundle has.

    name: of a record, a passage, a hint or a note, or a note's path. notes: from path to id.
    """
    rows = _passages(bundle, name)
    if rows:
        return Target(name, "passages", rows)
    note = notes.get(name, name)
    hints = tuple(row for row, hint in enumerate(bundle.hints) if note in (hint.id, hint.note))
    if hints:
        return Target(name, "hints", hints)
    if name in notes:
        raise GoldError(f"--expect: the note {name!r} is not in the bundle: build the site again")
    if name in bundle.record_ids:
        raise GoldError(f"--expect: the page {name!r} has no text that can be found: write some")
    raise GoldError(
        f"--expect: there is no record, passage or note {name!r} in the bundle{_near(bundle, name)}"
    )


def stand(
    asked: Asked,
    vector: Floats,
    target: Target,
    candidates: Sequence[Candidate],
    language: str | None,
) -> Standing:
    """Where the best item of a target stands. candidates: those of its stream in the ledger."""
    if target.stream == "hints":
        return _hint(asked, vector, target, candidates)
    ranking = retrieval.rank_passages(asked.bundle, asked.reading, vector)
    known = {each.id: each for each in candidates}

    def order(row: int) -> tuple[bool, bool, float]:
        found = known.get(asked.bundle.passage_ids[row])
        is_evidence = found is not None and found.fate == "evidence"
        return (is_evidence, bool(ranking.kept[row]), float(ranking.score[row]))

    row = max(target.rows, key=order)
    found = known.get(asked.bundle.passage_ids[row])
    if found is None:
        fate = _unlisted(asked, ranking, row, candidates, language)
        mask = np.arange(len(ranking.rows)) == row
        scored = ranking.best(mask, 1, asked.bundle.passage)[0]
        rank = _rank(ranking.score, row, ranking.kept == ranking.kept[row])
        found = why_candidates.passage(asked, row, scored, rank, fate)
    gains, together = _gains(asked, row, found)
    return Standing(
        asked=target.asked,
        stream="passages",
        of=len(target.rows),
        rank=_rank(ranking.score, row),
        total=len(ranking.rows),
        gap=max(0.0, -found.to_floor),
        gains=gains,
        if_all_said=together,
        candidate=found,
    )


def _unlisted(
    asked: Asked,
    ranking: Ranking,
    row: int,
    candidates: Sequence[Candidate],
    language: str | None,
) -> Fate:
    """Why a passage is not among the candidates."""
    if not ranking.kept[row]:
        return "under-floor"
    site = asked.bundle.site
    readable = languages.matching(language, site.tags)
    if readable and site.language_of(row) not in readable:
        rows = {name: place for place, name in enumerate(asked.bundle.passage_ids)}
        above = (rows[each.id] for each in candidates if each.fate != "under-floor")
        if any(site.language_of(place) in readable for place in above):
            return "other-language"
    return "out-of-pool"


def _gains(asked: Asked, row: int, found: Candidate) -> tuple[tuple[Gain, ...], float | None]:
    profile = asked.profile
    lacked = why_words.missing(asked.bundle, asked.words, row)
    if not profile.hybrid or not lacked or found.to_floor >= 0:
        return (), None

    def base(said: Sequence[why_words.Word]) -> float:
        lexical = why_words.lexical_if_said(asked.bundle, asked.words, row, said)
        weighted = profile.hybrid * lexical + profile.dense * found.dense
        return weighted / (profile.hybrid + profile.dense)

    gains = [Gain(word.text, base([word])) for word in lacked]
    return tuple(sorted(gains, key=lambda gain: -gain.base)), base(lacked)


def _hint(
    asked: Asked, vector: Floats, target: Target, candidates: Sequence[Candidate]
) -> Standing:
    bundle, profile = asked.bundle, asked.profile
    best = retrieval.rank_hints(bundle, asked.reading, vector)
    row = max(target.rows, key=lambda row: float(best[row]))
    item = bundle.hints.row(row)
    found = next((each for each in candidates if each.id == item.id), None)
    if found is None:
        fate: Fate = "out-of-pool" if best[row] >= profile.note_floor else "under-floor"
        score, dense = float(best[row]), float(retrieval.hint_cosines(bundle, vector)[row])
        words = score - dense
        scored = recipe.Scored(item, score=score, base=score, lexical=words, dense=dense)
        above = best >= profile.note_floor
        found = why_candidates.hint(asked, scored, _rank(best, row, above == above[row]), fate)
    return Standing(
        asked=target.asked,
        stream="hints",
        of=len(target.rows),
        rank=_rank(best, row),
        total=len(best),
        gap=max(0.0, -found.to_floor),
        gains=(),
        if_all_said=None,
        candidate=found,
    )


def _rank(scores: Floats, row: int, among: NDArray[np.bool_] | None = None) -> int:
    """A row's rank from 1 among some rows, all by default; of equal ones the first is first."""
    own = scores[row]
    before = scores > own
    before[:row] |= scores[:row] == own
    return 1 + int((before if among is None else before & among).sum())


def _passages(bundle: Bundle, name: str) -> tuple[int, ...]:
    """The rows of a record's passages, or of the passage of an id."""
    if name in bundle.record_ids:
        record = list(bundle.record_ids).index(name)
        return tuple(np.flatnonzero(bundle.passage_records == record).tolist())
    return tuple(row for row, each in enumerate(bundle.passage_ids) if each == name)


def _near(bundle: Bundle, name: str) -> str:
    known = [*bundle.record_ids, *bundle.passage_ids, *bundle.hints.ids.texts()]
    near = get_close_matches(name, known, 3, 0.5)
    return f"; close to it are {', '.join(near)}" if near else ": see `answerable search`"
