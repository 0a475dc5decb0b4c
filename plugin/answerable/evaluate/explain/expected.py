"""Rank an expected id's best passage or hint among all; rescore it with the words that it lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...serve.errors import GoldError
from ...serve.retrieval.scoring import Ranking, Scored
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.text.languages import match_languages
from ..bundle_scores import compute_hint_cosines, score_all_hints, score_all_passages
from .candidates import ExplainedCandidate, Fate, QuestionContext, explain_hint, explain_passage
from .forecast import EditForecast
from .question_words import QuestionWord, list_missing_words, score_with_words_added

Stream = Literal["passages", "hints"]


@dataclass(frozen=True, slots=True)
class ExpectedTarget:
    """The rows that an id names: of a record's passages, of one passage or of a note's hints."""

    name: str
    stream: Stream
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WordGain:
    """The base that a passage would have if it also held a missing word, once."""

    word: str
    base: float


@dataclass(frozen=True, slots=True)
class ExpectedRank:
    """The rank of the best item that was expected.

    ``asked`` is the id that was named, ``of`` how many items of the bundle it names. ``rank`` is
    that of the score among all ``total`` of its stream, with no floor applied. ``gap`` is what it
    lacks to the floor, 0 above it. ``gains`` are the missing words of an item under the floor, the
    most useful first; ``if_all_said`` is its base with all of them, None where no word could help.
    ``quote``: what a keyless answer would quote if nothing else had been retrieved; "" for nothing,
    and for a hint. ``forecast``: of the sentence to write, None where it is cited or is a hint.
    """

    asked: str
    stream: Stream
    of: int
    rank: int
    total: int
    gap: float
    gains: tuple[WordGain, ...]
    if_all_said: float | None
    candidate: ExplainedCandidate
    quote: str = ""
    forecast: EditForecast | None = None


def find_expected(bundle: Bundle, name: str, notes: Mapping[str, str]) -> ExpectedTarget:
    """Find the rows that an id names; GoldError for one that nothing in the bundle has.

    name: of a record, a passage, a hint or a note, or a note's path. notes: from path to id.
    """
    rows = _find_passage_rows(bundle, name)
    if rows:
        return ExpectedTarget(name, "passages", rows)
    note = notes.get(name, name)
    rows = tuple(row for row, hint in enumerate(bundle.hints) if note in (hint.id, hint.note))
    if rows:
        return ExpectedTarget(name, "hints", rows)
    if name in notes:
        raise GoldError(f"--expect: the note {name!r} is not in the bundle: build the site again")
    if name in bundle.record_ids:
        raise GoldError(f"--expect: the page {name!r} has no text that can be found: write some")
    raise GoldError(
        f"--expect: there is no record, passage or note {name!r} in the "
        f"bundle{_suggest_ids(bundle, name)}"
    )


def rank_expected(
    context: QuestionContext,
    vector: Floats,
    target: ExpectedTarget,
    candidates: Sequence[ExplainedCandidate],
    language: str | None,
) -> ExpectedRank:
    """Rank the best item of a target. candidates: the explained ones of its stream."""
    explained = {candidate.id: candidate for candidate in candidates}
    if target.stream == "hints":
        scores = score_all_hints(context.bundle, context.reading, vector)
        row = max(target.rows, key=lambda row: float(scores[row]))
        candidate = explained.get(context.bundle.hints.row(row).id)
        candidate = candidate or _explain_unlisted_hint(context, vector, scores, row)
        return _make_rank(target, scores, row, candidate)
    ranking = score_all_passages(context.bundle, context.reading, vector)

    def order(row: int) -> tuple[bool, bool, float]:
        candidate = explained.get(context.bundle.passage_ids[row])
        is_evidence = candidate is not None and candidate.fate == "evidence"
        return (is_evidence, bool(ranking.above_floor[row]), float(ranking.score[row]))

    row = max(target.rows, key=order)
    candidate = explained.get(context.bundle.passage_ids[row])
    if candidate is None:
        fate = _explain_absence(context, ranking, row, candidates, language)
        mask = np.arange(len(ranking.rows)) == row
        scored = ranking.top_items(mask, 1, context.bundle.passage)[0]
        rank = _rank_row(ranking.score, row, ranking.above_floor == ranking.above_floor[row])
        candidate = explain_passage(context, row, scored, rank, fate)
    gains, base_with_all = _compute_word_gains(context, row, candidate)
    return _make_rank(target, ranking.score, row, candidate, gains, base_with_all)


def _make_rank(
    target: ExpectedTarget,
    scores: Floats,
    row: int,
    candidate: ExplainedCandidate,
    gains: tuple[WordGain, ...] = (),
    base_with_all: float | None = None,
) -> ExpectedRank:
    return ExpectedRank(
        asked=target.name,
        stream=target.stream,
        of=len(target.rows),
        rank=_rank_row(scores, row),
        total=len(scores),
        gap=max(0.0, -candidate.to_floor),
        gains=gains,
        if_all_said=base_with_all,
        candidate=candidate,
    )


def _explain_unlisted_hint(
    context: QuestionContext, vector: Floats, scores: Floats, row: int
) -> ExplainedCandidate:
    is_above = scores >= context.profile.note_floor
    score, dense = float(scores[row]), float(compute_hint_cosines(context.bundle, vector)[row])
    hint = context.bundle.hints.row(row)
    scored = Scored(hint, score=score, base=score, lexical=score - dense, dense=dense)
    fate: Fate = "out-of-pool" if is_above[row] else "under-floor"
    return explain_hint(context, scored, _rank_row(scores, row, is_above == is_above[row]), fate)


def _explain_absence(
    context: QuestionContext,
    ranking: Ranking,
    row: int,
    candidates: Sequence[ExplainedCandidate],
    language: str | None,
) -> Fate:
    """Explain why a passage is not among the candidates."""
    if not ranking.above_floor[row]:
        return "under-floor"
    site = context.bundle.site
    readable = match_languages(language, site.tags)
    if readable and site.language_of(row) not in readable:
        rows = {name: each for each, name in enumerate(context.bundle.passage_ids)}
        above = (rows[each.id] for each in candidates if each.fate != "under-floor")
        if any(site.language_of(each) in readable for each in above):
            return "other-language"
    return "out-of-pool"


def _compute_word_gains(
    context: QuestionContext, row: int, candidate: ExplainedCandidate
) -> tuple[tuple[WordGain, ...], float | None]:
    """Compute the base with each missing word, and with all of them; above the floor neither."""
    profile = context.profile
    missing = list_missing_words(context.bundle, context.words, row)
    if not profile.hybrid or not missing or candidate.to_floor >= 0:
        return (), None

    def compute_base(added: Sequence[QuestionWord]) -> float:
        lexical = score_with_words_added(context.bundle, context.words, row, added)
        weighted = profile.hybrid * lexical + profile.dense * candidate.dense
        return weighted / (profile.hybrid + profile.dense)

    gains = [WordGain(word.text, compute_base([word])) for word in missing]
    return tuple(sorted(gains, key=lambda gain: -gain.base)), compute_base(missing)


def _rank_row(scores: Floats, row: int, among: NDArray[np.bool_] | None = None) -> int:
    """Rank a row from 1 among some rows, all by default; of equal ones the first is first."""
    score = scores[row]
    is_before = scores > score
    is_before[:row] |= scores[:row] == score
    return 1 + int((is_before if among is None else is_before & among).sum())


def _find_passage_rows(bundle: Bundle, name: str) -> tuple[int, ...]:
    """Find the rows of a record's passages, or of the passage of an id."""
    if name in bundle.record_ids:
        record = list(bundle.record_ids).index(name)
        return tuple(np.flatnonzero(bundle.passage_records == record).tolist())
    return tuple(row for row, each in enumerate(bundle.passage_ids) if each == name)


def _suggest_ids(bundle: Bundle, name: str) -> str:
    ids = [*bundle.record_ids, *bundle.passage_ids, *bundle.hints.ids.texts()]
    matches = get_close_matches(name, ids, 3, 0.5)
    return f"; close to it are {', '.join(matches)}" if matches else ": see `answerable search`"
