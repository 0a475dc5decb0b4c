"""Explain one question: its words, each candidate with scores and fate, and what was expected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.manifest import Profile
from ..serve.engine import Engine
from ..serve.errors import GoldError
from ..serve.retrieval.bm25 import RowRange, compute_idfs
from ..serve.retrieval.boosts import score_hint_labels
from ..serve.retrieval.question import QuestionReading, list_site_name_words
from ..serve.retrieval.retrieve import TOP_K, RetrievalResult, normalize_query, retrieve
from ..serve.retrieval.scoring import (
    Ranking,
    Scored,
    choose_floored_score,
    compute_signals,
    max_cosine_per_hint,
    score_all_codes,
    score_rows,
)
from ..serve.retrieval.selection import (
    POOL_SIZE,
    BudgetLimit,
    SelectionRule,
    arrange_pool,
    decide_hints,
    decide_passages,
    find_budget_limits,
)
from ..serve.retrieval.store import Floats, Signals
from ..serve.stores.bundle import Bundle
from ..serve.text.languages import match_languages
from ..serve.text.tokenization import extract_terms, split_lowercase_words
from ..serve.types import Mode, Passage, Reason, RoutingHint

# Evidence, or what keeps a candidate from being it: its floor, a rule of selection, the budget,
# passages in the asker's language, or more candidates above it than a pool holds.
Fate = (
    Literal["evidence", "under-floor", "other-language", "out-of-pool"]
    | SelectionRule
    | BudgetLimit
)
Stream = Literal["passages", "hints"]


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A content term of a question, read in one language of the site.

    ``text`` is the word that it was read from, the term itself where that is a part of a word.
    ``passages``: how many of the language hold it. ``share``: of the sum of idf, in [0, 1]; 0 for
    a name of the site that no passage holds.
    """

    text: str
    term: str
    language: str
    passages: int
    idf: float
    share: float


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """One candidate: ``score = (base + boost + page_boost + recency) * weight``.

    ``rank`` counts from 1 among those of its stream on its side of the floor. ``to_floor`` is what
    the floor is compared with, minus the floor. ``missing`` are the question's words that a passage
    does not hold. ``by`` is the id of the candidate that decided its fate. A hint has a label and a
    locator, whose words are its ``lexical``, and no boost.
    """

    rank: int
    id: str
    lexical: float
    dense: float
    base: float
    score: float
    to_floor: float
    fate: Fate
    by: str | None = None
    record: str = ""
    label: str = ""
    locator: str = ""
    boost: float = 0.0
    page_boost: float = 0.0
    recency: float = 0.0
    weight: float = 1.0
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedRank:
    """The best item of those that were expected.

    ``asked`` is the id that was named, ``of`` how many items of the bundle it names. ``rank`` is
    that of the score among all ``total`` of its stream, with no floor applied. ``gap`` is what it
    lacks to the floor, 0 above it. ``is_cited``: whether the answer cites any of the items.
    """

    asked: str
    stream: Stream
    of: int
    rank: int
    total: int
    gap: float
    is_cited: bool
    candidate: ExplainedCandidate


@dataclass(frozen=True, slots=True)
class ExplainedOutcome:
    """The answer of the engine: ``cited`` are the ids of passages and hints."""

    mode: Mode
    reason: Reason | None
    confidence: float
    cited: tuple[str, ...]
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class QuestionContext:
    """A question with all that a bundle knows of it before any vector is looked at."""

    bundle: Bundle
    reading: QuestionReading
    words: tuple[QuestionWord, ...]
    signals: Signals

    @property
    def profile(self) -> Profile:
        """The weights and floors of the bundle's embedder."""
        return self.bundle.manifest.profile


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that decided about a question; it holds no text of a note, and of pages the answer.

    ``corrected``: the words that were read as near ones of the site. ``unknown`` are the words that
    no passage holds. Both streams are best first: those above the floor, then those under it.
    ``lead`` is the cosine of the best hint above its floor minus that of the best passage.
    ``outcome`` is None where an answer costs money and was not asked for, ``expected`` where
    nothing was expected, or the question has no words to look for.
    """

    question: str
    language: str | None
    bundle: str
    embedder: str
    profile: Profile
    words: tuple[QuestionWord, ...]
    corrected: Mapping[str, str]
    unknown: tuple[str, ...]
    passages: tuple[ExplainedCandidate, ...]
    hints: tuple[ExplainedCandidate, ...]
    lead: float
    outcome: ExplainedOutcome | None
    expected: ExpectedRank | None

    @property
    def evidence(self) -> tuple[ExplainedCandidate, ...]:
        """The candidates that an answerer sees, passages first."""
        candidates = (*self.passages, *self.hints)
        return tuple(candidate for candidate in candidates if candidate.fate == "evidence")


def explain_question(
    engine: Engine[Bundle],
    question: str,
    *,
    expect: str | None = None,
    language: str | None = None,
    notes: Mapping[str, str] | None = None,
) -> Explanation:
    """Explain one cleaned question; GoldError if nothing has the id that is expected.

    expect: a record, passage, hint or note by its id, or a note by its path. language: a tag of
    the asker's language. notes: from a note's path to its id. An answer is asked for only where it
    costs nothing.
    """
    bundle = engine.store
    target = None if expect is None else _find_expected(bundle, expect, notes or {})
    context = read_context(engine, question)
    retrieved = RetrievalResult(reading=context.reading)
    passages: tuple[ExplainedCandidate, ...] = ()
    hints: tuple[ExplainedCandidate, ...] = ()
    if context.words:
        vector = engine.embedder.embed([context.reading.text])[0]
        retrieved = retrieve(bundle, context.reading, vector, POOL_SIZE, language, near=TOP_K)
        passages = _explain_passages(context, retrieved)
        hints = _explain_hints(context, retrieved)
    has_evidence = any(candidate.fate == "evidence" for candidate in (*passages, *hints))
    outcome = None
    # Without evidence no answerer runs, so a refusal is free whoever answers.
    if not has_evidence or engine.answerer.max_question_tokens == 0:
        reply = engine.answer_from(retrieved)
        cited = tuple(dict.fromkeys(citation.id for citation in reply.answer.citations))
        outcome = ExplainedOutcome(
            reply.answer.mode, reply.reason, reply.confidence, cited, reply.text
        )
    expected = None
    if expect is not None and target and retrieved.vector is not None:
        stream = passages if target[0] == "passages" else hints
        expected = _rank_expected(
            context, retrieved.vector, expect, target, stream, outcome, language
        )
    typed = [word.text for word in context.words]
    # A word that does not count is not missed.
    known_texts = {word.text for word in context.words if word.passages or not word.share}
    return Explanation(
        question=question,
        language=language,
        bundle=bundle.manifest.id,
        embedder=bundle.manifest.identity.label,
        profile=context.profile,
        words=context.words,
        corrected={
            remark.word: remark.replacement
            for remark in context.reading.remarks
            if remark.replacement
        },
        unknown=tuple(dict.fromkeys(word for word in typed if word not in known_texts)),
        passages=passages,
        hints=hints,
        lead=retrieved.truncate(TOP_K).evidence.lead,
        outcome=outcome,
        expected=expected,
    )


def read_context(engine: Engine[Bundle], question: str) -> QuestionContext:
    """Read all that a bundle knows of a cleaned question before any vector is looked at."""
    reading = engine.parse_question(question)
    words = _read_words(engine.store, reading)
    return QuestionContext(engine.store, reading, words, compute_signals(engine.store, reading))


def _read_words(bundle: Bundle, reading: QuestionReading) -> tuple[QuestionWord, ...]:
    """Read the question's content terms in each language of the site, in the question's order."""
    words: list[QuestionWord] = []
    for tag, terms in reading.terms.items():
        rows = _find_language_rows(bundle, tag)
        idfs = compute_idfs(bundle.postings, terms, rows, list_site_name_words(bundle, tag))
        total = sum(idfs.values())
        # Each term is shown as the first word that it alone was read from.
        texts: dict[str, str] = {}
        for word in split_lowercase_words(reading.question):
            if len(own_terms := extract_terms(word, tag, reading.forms[tag])) == 1:
                texts.setdefault(own_terms[0], word)
        for term in dict.fromkeys(terms):
            idf = idfs.get(term, 0.0)
            passages = len(_list_passages_with(bundle, term, rows))
            share = idf / total if total else 0.0
            words.append(QuestionWord(texts.get(term, term), term, tag, passages, idf, share))
    return tuple(words)


def list_missing_words(context: QuestionContext, row: int) -> tuple[QuestionWord, ...]:
    """List the words that count and that a passage does not hold, read in its language."""
    bundle = context.bundle
    tag = bundle.site.language_of(row)
    rows = _find_language_rows(bundle, tag)
    return tuple(
        word
        for word in context.words
        if word.language == tag
        and word.share
        and row not in _list_passages_with(bundle, word.term, rows)
    )


def _find_language_rows(bundle: Bundle, tag: str) -> RowRange:
    """Find the (first, last + 1) rows of a language; (0, 0) if no page is written in it."""
    ranges = (
        (language.first, language.end) for language in bundle.site.languages if language.tag == tag
    )
    return next(ranges, (0, 0))


def _list_passages_with(bundle: Bundle, term: str, rows: RowRange) -> NDArray[np.uint32]:
    """List the passages among some rows that hold a term, in their order."""
    postings = bundle.postings
    index = postings.terms.get(term)
    if index is None:
        return postings.passages[:0]
    passages = postings.passages[int(postings.edges[index]) : int(postings.edges[index + 1])]
    return passages[(passages >= rows[0]) & (passages < rows[1])]


def _explain_passages(
    context: QuestionContext, retrieved: RetrievalResult
) -> tuple[ExplainedCandidate, ...]:
    """Explain the passages of a pool, the best sections first, then those under the floor."""
    arranged = arrange_pool(context.bundle, retrieved)
    decisions = decide_passages(arranged.passages, context.profile.passages_per_page)
    selected = [decision.scored.item for decision in decisions if decision.rule is None]
    limits = iter(find_budget_limits(selected))
    candidates = []
    for rank, decision in enumerate(decisions, 1):
        fate: Fate = decision.rule or next(limits) or "evidence"
        candidates.append(_explain_passage(context, decision.scored, rank, fate, decision.against))
    listed = {candidate.id for candidate in candidates}
    under = (scored for scored in retrieved.near_passages if scored.item.id not in listed)
    for rank, scored in enumerate(under, 1):
        candidates.append(_explain_passage(context, scored, rank, "under-floor"))
    return tuple(candidates)


def _explain_hints(
    context: QuestionContext, retrieved: RetrievalResult
) -> tuple[ExplainedCandidate, ...]:
    """Explain the hints of a pool, best first, then those under the note floor."""
    above = [
        _explain_hint(context, decision.scored, rank, decision.rule or "evidence")
        for rank, decision in enumerate(decide_hints(retrieved.hints), 1)
    ]
    under = [
        _explain_hint(context, scored, rank, "under-floor")
        for rank, scored in enumerate(retrieved.near_hints, 1)
    ]
    return (*above, *under)


def _explain_passage(
    context: QuestionContext, scored: Scored[Passage], rank: int, fate: Fate, by: str | None = None
) -> ExplainedCandidate:
    profile, row = context.profile, scored.row
    missing = list_missing_words(context, row)
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        record=scored.item.record,
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        boost=scored.boost,
        page_boost=scored.page,
        recency=float(context.signals.fresh[row]),
        weight=float(context.signals.weight[row]),
        score=scored.score,
        to_floor=choose_floored_score(profile, scored.base, scored.boost) - profile.floor,
        missing=tuple(dict.fromkeys(word.text for word in missing)),
        fate=fate,
        by=by,
    )


def _explain_hint(
    context: QuestionContext, scored: Scored[RoutingHint], rank: int, fate: Fate
) -> ExplainedCandidate:
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        label=scored.item.label,
        locator=scored.item.locator,
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        score=scored.score,
        to_floor=scored.base - context.profile.note_floor,
        fate=fate,
    )


def _find_expected(
    bundle: Bundle, name: str, notes: Mapping[str, str]
) -> tuple[Stream, tuple[int, ...]]:
    """Find the stream and the rows that an id names; GoldError for one that nothing has.

    name: of a record, a passage, a hint or a note, or a note's path. notes: from path to id.
    """
    records = list(bundle.record_ids)
    if name in records:
        rows = tuple(np.flatnonzero(bundle.passage_records == records.index(name)).tolist())
    else:
        rows = tuple(row for row, own in enumerate(bundle.passage_ids) if own == name)
    if rows:
        return "passages", rows
    note = notes.get(name, name)
    rows = tuple(row for row, hint in enumerate(bundle.hints) if note in (hint.id, hint.note))
    if rows:
        return "hints", rows
    if name in notes:
        raise GoldError(f"--expect: the note {name!r} is not in the bundle: build the site again")
    if name in records:
        raise GoldError(f"--expect: the page {name!r} has no text that can be found: write some")
    ids = [*records, *bundle.passage_ids, *bundle.hints.ids]
    matches = get_close_matches(name, ids, 3, 0.5)
    near = f"; close to it are {', '.join(matches)}" if matches else ": see `ask --places --json`"
    raise GoldError(f"--expect: there is no record, passage or note {name!r} in the bundle{near}")


def _rank_expected(
    context: QuestionContext,
    vector: Floats,
    name: str,
    target: tuple[Stream, Sequence[int]],
    candidates: Sequence[ExplainedCandidate],
    outcome: ExplainedOutcome | None,
    language: str | None,
) -> ExpectedRank:
    """Rank the best item of an id.

    target: its stream and its rows. candidates: the explained ones of that stream.
    """
    bundle, reading = context.bundle, context.reading
    stream, rows = target
    explained = {candidate.id: candidate for candidate in candidates}
    ranking = score_all_passages(bundle, reading, vector)
    scores, is_above, ids = ranking.score, ranking.above_floor, bundle.passage_ids
    if stream == "hints":
        scores, ids = _score_all_hints(bundle, reading, vector), bundle.hints.ids
        is_above = scores >= context.profile.note_floor

    def order(row: int) -> tuple[bool, bool, float]:
        candidate = explained.get(ids[row])
        is_evidence = candidate is not None and candidate.fate == "evidence"
        return (is_evidence, bool(is_above[row]), float(scores[row]))

    row = max(rows, key=order)
    candidate = explained.get(ids[row])
    if candidate is None:
        fate: Fate = "out-of-pool" if is_above[row] else "under-floor"
        rank = _rank_row(scores, row, is_above == is_above[row])
        if stream == "hints":
            score, dense = float(scores[row]), float(_compute_hint_cosines(bundle, vector)[row])
            hint = Scored(bundle.hints.row(row), score, score, lexical=score - dense, dense=dense)
            candidate = _explain_hint(context, hint, rank, fate)
        else:
            readable = match_languages(language, bundle.site.tags)
            if is_above[row] and readable and bundle.site.language_of(row) not in readable:
                fate = "other-language"
            is_row = np.arange(len(ranking.rows)) == row
            (passage,) = ranking.top_items(is_row, 1, bundle.passage)
            candidate = _explain_passage(context, passage, rank, fate)
    # An answer that costs money was not asked for: then evidence counts as cited.
    is_cited = candidate.fate == "evidence"
    if outcome:
        is_cited = not {ids[row] for row in rows}.isdisjoint(outcome.cited)
    return ExpectedRank(
        asked=name,
        stream=stream,
        of=len(rows),
        rank=_rank_row(scores, row),
        total=len(scores),
        gap=max(0.0, -candidate.to_floor),
        is_cited=is_cited,
        candidate=candidate,
    )


def _rank_row(scores: Floats, row: int, among: NDArray[np.bool_] | None = None) -> int:
    """Rank a row from 1 among some rows, all by default; of equal ones the first is first."""
    score = scores[row]
    is_before = scores > score
    is_before[:row] |= scores[:row] == score
    return 1 + int((is_before if among is None else is_before & among).sum())


def score_all_passages(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Ranking:
    """Score every passage. vector: (d,), of the reading's text."""
    rows = np.arange(len(bundle.passage_ids))
    dense = score_all_codes(bundle.passage_codes, normalize_query(bundle, vector))
    return score_rows(bundle.manifest.profile, rows, dense, compute_signals(bundle, reading))


def _score_all_hints(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """Score every hint by its cosine and its label, (hints,). vector: as above."""
    return _compute_hint_cosines(bundle, vector) + score_hint_labels(bundle, reading.idfs)


def _compute_hint_cosines(bundle: Bundle, vector: Floats) -> Floats:
    """Compute the cosine of every hint, (hints,): the best of its windows. vector: (d,)."""
    cosines = score_all_codes(bundle.hint_codes, normalize_query(bundle, vector))
    return max_cosine_per_hint(bundle.hint_owners, cosines, len(bundle.hints))
