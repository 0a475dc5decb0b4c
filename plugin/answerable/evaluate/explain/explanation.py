"""Where what was expected of a question stands.

Why a question is answered as it is: the whole ledger of one decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.profile import Profile
from ...serve.engine import Engine
from ...serve.errors import GoldError
from ...serve.retrieval import retrieve, selection
from ...serve.retrieval.retrieve import TOP_K, RetrievalResult
from ...serve.retrieval.scoring import Ranking, Scored, compute_signals
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.text.languages import match_languages
from ...serve.types import Mode, Reason
from ..bundle_scores import compute_hint_cosines, rank_all_hints, rank_all_passages
from .candidates import (
    ExplainedCandidate,
    Fate,
    QuestionContext,
    explain_hint,
    explain_hints,
    explain_passage,
    explain_passages,
)
from .question_words import (
    QuestionWord,
    list_missing_words,
    list_unknown_words,
    read_question_words,
    score_with_words_added,
)


@dataclass(frozen=True, slots=True)
class ExpectedTarget:
    """What an id names: the rows of its passages or those of its hints."""

    asked: str
    stream: Literal["passages", "hints"]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WordGain:
    """What base a passage would have if it said a word that it lacks once, all else being equal."""

    word: str
    base: float


@dataclass(frozen=True, slots=True)
class ExpectedRank:
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
    gains: tuple[WordGain, ...]
    if_all_said: float | None
    candidate: ExplainedCandidate


def find_expected(bundle: Bundle, name: str, notes: Mapping[str, str]) -> ExpectedTarget:
    """What an id names; GoldError for one that nothing in the bundle has.

    name: of a record, a passage, a hint or a note, or a note's path. notes: from path to id.
    """
    rows = _find_passage_rows(bundle, name)
    if rows:
        return ExpectedTarget(name, "passages", rows)
    note = notes.get(name, name)
    hints = tuple(row for row, hint in enumerate(bundle.hints) if note in (hint.id, hint.note))
    if hints:
        return ExpectedTarget(name, "hints", hints)
    if name in notes:
        raise GoldError(f"--expect: the note {name!r} is not in the bundle: build the site again")
    if name in bundle.record_ids:
        raise GoldError(f"--expect: the page {name!r} has no text that can be found: write some")
    raise GoldError(
        f"--expect: there is no record, passage or note {name!r} in the "
        f"bundle{_suggest_ids(bundle, name)}"
    )


def rank_expected(
    asked: QuestionContext,
    vector: Floats,
    target: ExpectedTarget,
    candidates: Sequence[ExplainedCandidate],
    language: str | None,
) -> ExpectedRank:
    """Where the best item of a target stands. candidates: those of its stream in the ledger."""
    if target.stream == "hints":
        return _rank_expected_hint(asked, vector, target, candidates)
    ranking = rank_all_passages(asked.bundle, asked.reading, vector)
    known = {each.id: each for each in candidates}

    def order(row: int) -> tuple[bool, bool, float]:
        found = known.get(asked.bundle.passage_ids[row])
        is_evidence = found is not None and found.fate == "evidence"
        return (is_evidence, bool(ranking.above_floor[row]), float(ranking.score[row]))

    row = max(target.rows, key=order)
    found = known.get(asked.bundle.passage_ids[row])
    if found is None:
        fate = _explain_absence(asked, ranking, row, candidates, language)
        mask = np.arange(len(ranking.rows)) == row
        scored = ranking.top_items(mask, 1, asked.bundle.passage)[0]
        rank = _rank_row(ranking.score, row, ranking.above_floor == ranking.above_floor[row])
        found = explain_passage(asked, row, scored, rank, fate)
    gains, together = _compute_word_gains(asked, row, found)
    return ExpectedRank(
        asked=target.asked,
        stream="passages",
        of=len(target.rows),
        rank=_rank_row(ranking.score, row),
        total=len(ranking.rows),
        gap=max(0.0, -found.to_floor),
        gains=gains,
        if_all_said=together,
        candidate=found,
    )


def _explain_absence(
    asked: QuestionContext,
    ranking: Ranking,
    row: int,
    candidates: Sequence[ExplainedCandidate],
    language: str | None,
) -> Fate:
    """Why a passage is not among the candidates."""
    if not ranking.above_floor[row]:
        return "under-floor"
    site = asked.bundle.site
    readable = match_languages(language, site.tags)
    if readable and site.language_of(row) not in readable:
        rows = {name: place for place, name in enumerate(asked.bundle.passage_ids)}
        above = (rows[each.id] for each in candidates if each.fate != "under-floor")
        if any(site.language_of(place) in readable for place in above):
            return "other-language"
    return "out-of-pool"


def _compute_word_gains(
    asked: QuestionContext, row: int, found: ExplainedCandidate
) -> tuple[tuple[WordGain, ...], float | None]:
    profile = asked.profile
    lacked = list_missing_words(asked.bundle, asked.words, row)
    if not profile.hybrid or not lacked or found.to_floor >= 0:
        return (), None

    def base(said: Sequence[QuestionWord]) -> float:
        lexical = score_with_words_added(asked.bundle, asked.words, row, said)
        weighted = profile.hybrid * lexical + profile.dense * found.dense
        return weighted / (profile.hybrid + profile.dense)

    gains = [WordGain(word.text, base([word])) for word in lacked]
    return tuple(sorted(gains, key=lambda gain: -gain.base)), base(lacked)


def _rank_expected_hint(
    asked: QuestionContext,
    vector: Floats,
    target: ExpectedTarget,
    candidates: Sequence[ExplainedCandidate],
) -> ExpectedRank:
    bundle, profile = asked.bundle, asked.profile
    best = rank_all_hints(bundle, asked.reading, vector)
    row = max(target.rows, key=lambda row: float(best[row]))
    item = bundle.hints.row(row)
    found = next((each for each in candidates if each.id == item.id), None)
    if found is None:
        fate: Fate = "out-of-pool" if best[row] >= profile.note_floor else "under-floor"
        score, dense = float(best[row]), float(compute_hint_cosines(bundle, vector)[row])
        words = score - dense
        scored = Scored(item, score=score, base=score, lexical=words, dense=dense)
        above = best >= profile.note_floor
        found = explain_hint(asked, scored, _rank_row(best, row, above == above[row]), fate)
    return ExpectedRank(
        asked=target.asked,
        stream="hints",
        of=len(target.rows),
        rank=_rank_row(best, row),
        total=len(best),
        gap=max(0.0, -found.to_floor),
        gains=(),
        if_all_said=None,
        candidate=found,
    )


def _rank_row(scores: Floats, row: int, among: NDArray[np.bool_] | None = None) -> int:
    """A row's rank from 1 among some rows, all by default; of equal ones the first is first."""
    own = scores[row]
    before = scores > own
    before[:row] |= scores[:row] == own
    return 1 + int((before if among is None else before & among).sum())


def _find_passage_rows(bundle: Bundle, name: str) -> tuple[int, ...]:
    """The rows of a record's passages, or of the passage of an id."""
    if name in bundle.record_ids:
        record = list(bundle.record_ids).index(name)
        return tuple(np.flatnonzero(bundle.passage_records == record).tolist())
    return tuple(row for row, each in enumerate(bundle.passage_ids) if each == name)


def _suggest_ids(bundle: Bundle, name: str) -> str:
    known = [*bundle.record_ids, *bundle.passage_ids, *bundle.hints.ids.texts()]
    near = get_close_matches(name, known, 3, 0.5)
    return f"; close to it are {', '.join(near)}" if near else ": see `answerable search`"


@dataclass(frozen=True, slots=True)
class ExplainedOutcome:
    """What the engine answers: ``cited`` are the ids of passages and hints."""

    mode: Mode
    reason: Reason | None
    confidence: float
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that has decided about a question; it holds no text of a passage and none of a note.

    ``unknown`` are the words that no passage holds. Both streams are best first: what is above
    the floor, then what is under it. ``lead`` is the cosine of the best hint above its floor minus
    that of the best passage. ``outcome`` is None where an answer costs money and was not asked
    for, ``expected`` where nothing was named, or the question has no words to look for.
    """

    question: str
    language: str | None
    bundle: str
    embedder: str
    profile: Profile
    words: tuple[QuestionWord, ...]
    unknown: tuple[str, ...]
    passages: tuple[ExplainedCandidate, ...]
    hints: tuple[ExplainedCandidate, ...]
    lead: float
    outcome: ExplainedOutcome | None
    expected: ExpectedRank | None

    @property
    def evidence(self) -> tuple[ExplainedCandidate, ...]:
        """The candidates that an answerer sees, passages first."""
        return _select_evidence(self.passages, self.hints)


def explain_question(
    engine: Engine[Bundle],
    question: str,
    *,
    expect: str | None = None,
    language: str | None = None,
    notes: Mapping[str, str] | None = None,
) -> Explanation:
    """The ledger of one cleaned question; GoldError if nothing has the id that is expected.

    expect: a record, passage, hint or note by its id, or a note by its path. language: a tag of
    what is asked in. notes: from a note's path to its id. An answer is asked for only where it
    costs nothing.
    """
    bundle = engine.store
    target = None if expect is None else find_expected(bundle, expect, notes or {})
    reading = engine.parse_question(question)
    words = read_question_words(bundle, reading)
    given = compute_signals(bundle, reading)
    asked = QuestionContext(bundle, reading, words, given)
    found = RetrievalResult(reading=reading)
    passages: tuple[ExplainedCandidate, ...] = ()
    hints: tuple[ExplainedCandidate, ...] = ()
    expected: ExpectedRank | None = None
    if words:
        vector = engine.embedder.embed([reading.text])[0]
        found = retrieve.retrieve(
            bundle, reading, vector, selection.POOL_SIZE, language, near=TOP_K
        )
        passages = explain_passages(asked, found)
        hints = explain_hints(asked, found)
        if target:
            stream = passages if target.stream == "passages" else hints
            expected = rank_expected(asked, vector, target, stream, language)
    return Explanation(
        question=question,
        language=language,
        bundle=bundle.manifest.id,
        embedder=bundle.manifest.identity.label,
        profile=bundle.manifest.profile,
        words=words,
        unknown=list_unknown_words(words),
        passages=passages,
        hints=hints,
        lead=found.truncate(TOP_K).evidence.lead,
        outcome=_find_outcome(engine, found, is_refused=not _select_evidence(passages, hints)),
        expected=expected,
    )


def _find_outcome(
    engine: Engine[Bundle], found: RetrievalResult, *, is_refused: bool
) -> ExplainedOutcome | None:
    # Without evidence no answerer runs, so a refusal is free whoever answers.
    if not is_refused and engine.answerer.max_question_tokens:
        return None
    reply = engine.answer_from(found)
    cited = tuple(dict.fromkeys(citation.id for citation in reply.answer.citations))
    return ExplainedOutcome(reply.answer.mode, reply.reason, reply.confidence, cited)


def _select_evidence(*streams: tuple[ExplainedCandidate, ...]) -> tuple[ExplainedCandidate, ...]:
    return tuple(each for stream in streams for each in stream if each.fate == "evidence")
