"""Explain one question: what was found, in which order, what was not, and the cheapest remedy."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np

from ..engine.engine import Engine, find_stored_answer
from ..engine.errors import GoldError
from ..engine.retrieval.bm25 import match_terms
from ..engine.retrieval.question import QuestionReading
from ..engine.retrieval.rank import SAME_QUESTION, Scored, add_floored_boost
from ..engine.retrieval.retrieve import RetrievalResult, retrieve
from ..engine.retrieval.sections import POOL_SIZE, WINDOW_SUFFIX
from ..engine.stores.bundle import Bundle
from ..engine.text.languages import match_languages
from ..engine.text.tokenization import extract_terms, split_lowercase_words
from ..engine.types import Confidence, Mode, Passage, Reason, RoutingHint
from ..indexing.questions import SectionPassages, find_question_fault, list_sections

# Candidates that are named beside the evidence, on each side of the floor.
MAX_OTHERS = 3

ScoredItem = Scored[Passage] | Scored[RoutingHint]
Fate = Literal["evidence", "left-out", "other-language", "under-floor"]
# What made a candidate evidence: its score, or something that counts without one.
Basis = Literal["score", "known-question", "same-page", "call-floor"]
RemedyKind = Literal["known-question", "other-name", "words", "heading", "note", "question"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage or a hint that a question finds.

    ``score`` is the number that is compared with ``floor``. ``missing`` are the words of the
    question that a passage lacks. ``basis`` is None for what is no evidence.
    """

    id: str
    title: str
    fate: Fate
    score: float
    floor: float
    basis: Basis | None = None
    is_cited: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reply of the engine: ``cited`` are the ids of passages and hints."""

    mode: Mode
    reason: Reason | None
    confidence: Confidence
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that an author can do. ``line``: a known question, ready to be imported."""

    kind: RemedyKind
    text: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The account of a question, without any text of a page or a note.

    ``candidates`` are in the order of the evidence, then come those that were left out and those
    under the floor, each best first. ``outcome`` is None where a model would have to be asked.
    ``expected`` is the best of the items that were expected, None if nothing was. ``remedies`` are
    the cheapest first, for the candidate ``target``.
    """

    question: str
    corrected: Mapping[str, str]
    unknown: tuple[str, ...]
    outcome: Outcome | None
    candidates: tuple[Candidate, ...]
    expected: Candidate | None
    target: Candidate | None
    remedies: tuple[Remedy, ...]


def explain_question(
    engine: Engine[Bundle],
    question: str,
    *,
    expect: str | None = None,
    language: str | None = None,
    notes: Mapping[str, str] | None = None,
) -> Explanation:
    """Explain one cleaned question; GoldError if nothing has the id that is expected.

    expect: the id of a record, passage, hint or note, or the path of a note. language: the tag of
    the asker's language. notes: from the path of a note to its id. No model is asked.
    """
    store = engine.store
    expected_ids = _find_expected(store, expect, notes or {}) if expect else frozenset()
    retrieved = engine.retrieve(question, POOL_SIZE, language, near=POOL_SIZE)
    evidence = engine.select_evidence(retrieved)
    reading = retrieved.reading
    outcome = None
    # Without evidence no answerer runs, so a refusal is free whoever answers.
    is_free = not evidence or engine.answerer.max_question_tokens == 0
    if is_free or find_stored_answer(store, reading.question):
        reply = engine.answer_from(retrieved)
        outcome = Outcome(
            reply.answer.mode,
            reply.reason,
            reply.confidence,
            tuple(dict.fromkeys(citation.id for citation in reply.answer.citations)),
        )
    items: tuple[Passage | RoutingHint, ...] = (*evidence.passages, *evidence.hints)
    order = [item.id for item in items]
    cited = outcome.cited if outcome else ()
    ledger = list(_list_candidates(store, retrieved, order, cited))
    matching = [candidate for candidate in ledger if candidate.id in expected_ids]
    matching.sort(key=lambda candidate: not candidate.is_cited)
    expected = matching[0] if matching else _find_far(store, retrieved, expected_ids, language)
    candidates = _shorten(ledger, expected)
    target = expected
    if expected is None and outcome and outcome.reason:
        target = next(iter(candidates), None)
    unknown = tuple(remark.word for remark in reading.remarks if remark.kind == "unknown")
    return Explanation(
        question=question,
        corrected={
            remark.word: remark.replacement for remark in reading.remarks if remark.replacement
        },
        unknown=unknown,
        outcome=outcome,
        candidates=candidates,
        expected=expected,
        target=target,
        remedies=tuple(_list_remedies(store, reading, target, unknown, has_outcome=bool(outcome))),
    )


def _list_candidates(
    store: Bundle, retrieved: RetrievalResult, order: Sequence[str], cited: Sequence[str]
) -> Iterator[Candidate]:
    """List all that was retrieved: the evidence in its order, and then the rest, best first."""
    above = _list_ids((*retrieved.passages, *retrieved.hints))
    siblings = _list_ids(retrieved.siblings)
    passages = (*retrieved.passages, *retrieved.siblings, *retrieved.near_passages)
    ranked: list[ScoredItem] = [*sorted(passages, key=lambda each: -each.score)]
    ranked += [*retrieved.hints, *retrieved.near_hints]
    by_id = {scored.item.id: scored for scored in ranked}
    others = [name for name in by_id if name not in order]
    others.sort(key=lambda name: name not in above)
    for name in (*order, *others):
        scored = by_id[name]
        fate: Fate = "left-out" if name in above else "under-floor"
        basis: Basis | None = None
        if name in order:
            fate, basis = "evidence", "call-floor"
            if name in above:
                basis = _find_basis(scored)
            elif name in siblings:
                basis = "same-page"
        yield _describe(store, retrieved.reading, scored, fate, basis, is_cited=name in cited)


def _list_ids(items: Iterable[ScoredItem]) -> frozenset[str]:
    return frozenset(scored.item.id for scored in items)


def _find_basis(scored: ScoredItem) -> Basis:
    """Find what lifted a candidate over its floor."""
    return "known-question" if scored.question > SAME_QUESTION else "score"


def _compare_with_floor(store: Bundle, scored: ScoredItem) -> tuple[float, float]:
    profile = store.manifest.profile
    if isinstance(scored.item, RoutingHint):
        return scored.score, profile.note_floor
    return add_floored_boost(profile, scored.base, scored.boost), profile.floor


def _describe(
    store: Bundle,
    reading: QuestionReading,
    scored: ScoredItem,
    fate: Fate,
    basis: Basis | None = None,
    *,
    is_cited: bool = False,
) -> Candidate:
    item = scored.item
    score, floor = _compare_with_floor(store, scored)
    if isinstance(item, RoutingHint):
        title = " · ".join(filter(None, (item.label, item.locator)))
        return Candidate(item.id, title, fate, round(score, 4), floor, basis, is_cited)
    missing = list_missing_words(store, reading, scored.row)
    return Candidate(item.id, item.title, fate, round(score, 4), floor, basis, is_cited, missing)


def list_missing_words(store: Bundle, reading: QuestionReading, row: int) -> tuple[str, ...]:
    """List the words of a question that count and that a passage lacks, read in its language."""
    language = store.index.site.language_of(row)
    terms = {term for term, idf in reading.idfs[language].items() if idf}
    (present,) = match_terms(store.postings_of(terms), terms, np.array([row]))
    lacking, forms = terms - present, reading.forms[language]
    words = dict.fromkeys(split_lowercase_words(reading.question))
    return tuple(w for w in words if not lacking.isdisjoint(extract_terms(w, language, forms)))


def _find_far(
    store: Bundle, retrieved: RetrievalResult, ids: frozenset[str], language: str | None
) -> Candidate | None:
    """Find the best of some items that are not among those that were retrieved."""
    if retrieved.vector is None or not ids:
        return None
    count = len(store.index.passage_ids) + len(store.index.hint_ids)
    reading = retrieved.reading
    result = retrieve(store, reading, retrieved.vector, count, near=count)
    above = _list_ids((*result.passages, *result.hints))
    items: tuple[ScoredItem, ...] = (*result.passages, *result.hints)
    items += (*result.near_passages, *result.near_hints)
    for scored in items:
        if scored.item.id in ids:
            fate: Fate = "left-out" if scored.item.id in above else "under-floor"
            readable = match_languages(language, store.index.site.tags)
            is_passage = isinstance(scored.item, Passage)
            if is_passage and readable and store.index.site.language_of(scored.row) not in readable:
                fate = "other-language"
            return _describe(store, reading, scored, fate)
    return None


def _shorten(ledger: Iterable[Candidate], expected: Candidate | None) -> tuple[Candidate, ...]:
    """Shorten what is no evidence to the best of each fate, and keep or add what is expected."""
    counts: dict[tuple[Fate, bool], int] = {}
    shortened = []
    for candidate in ledger:
        key = candidate.fate, candidate.id.startswith("note:")
        counts[key] = counts.get(key, 0) + 1
        if candidate.fate == "evidence" or counts[key] <= MAX_OTHERS or candidate is expected:
            shortened.append(candidate)
    if expected and expected not in shortened:
        shortened.append(expected)
    return tuple(shortened)


def _list_remedies(
    store: Bundle,
    reading: QuestionReading,
    target: Candidate | None,
    unknown: Sequence[str],
    *,
    has_outcome: bool,
) -> Iterator[Remedy]:
    """List what an author could do to have a candidate cited, the cheapest first."""
    if not reading.terms:
        yield Remedy(
            "question",
            "The question names nothing to look for, since its words are common ones or in a "
            "script that no page uses. No page can change that.",
        )
    if target is None or target.is_cited or (target.fate == "evidence" and not has_outcome):
        return
    if target.id in store.index.hint_ids:
        yield Remedy(
            "note",
            f"Let the label or the locator of {target.id} name what readers look for, or split a "
            "note of many subjects.",
        )
        return
    section = _find_section(store, target.id)
    if not find_question_fault(reading.asked, section.text):
        row = {"id": section.id, "hash": section.hash, "questions": [reading.asked]}
        yield Remedy(
            "known-question",
            f"Let {section.id} answer this very question: import the line below with "
            "`answerable questions --import FILE`, and build the site.",
            json.dumps(row, ensure_ascii=False),
        )
    if unknown:
        yield Remedy(
            "other-name",
            f"No page says {_quote(unknown)}. Another name of what a page is about belongs to "
            f"`aliases` in the front matter of {section.windows[0].record}, and what is short for "
            "something to the file of `abbreviations`.",
        )
    missing = f"says {_quote(target.missing)} and " if target.missing else ""
    yield Remedy(
        "words", f"Write a whole sentence that {missing}states the fact into {section.id}."
    )
    yield Remedy(
        "heading", f"If that does not suffice, let the heading of {section.id} name the subject."
    )


def _find_section(store: Bundle, passage: str) -> SectionPassages:
    name = WINDOW_SUFFIX.sub("", passage)
    return next(section for section in list_sections(store.passages()) if section.id == name)


def _quote(words: Sequence[str]) -> str:
    return " and ".join(f"“{word}”" for word in words)


def _find_expected(bundle: Bundle, name: str, notes: Mapping[str, str]) -> frozenset[str]:
    """Find the ids of the passages or hints that a name stands for; GoldError without any.

    name: of a record, a passage, a hint or a note, or a note's path. notes: from path to id.
    """
    records = list(bundle.index.record_ids)
    if name in bundle.index.passage_ids:
        return frozenset((name,))
    if name in records:
        rows = np.flatnonzero(bundle.index.passage_records == records.index(name)).tolist()
        if rows:
            return frozenset(bundle.index.passage_ids[row] for row in rows)
        raise GoldError(f"--expect: the page {name!r} has no text that can be found: write some")
    note = notes.get(name, name)
    if ids := frozenset(hint.id for hint in bundle.hints if note in (hint.id, hint.note)):
        return ids
    if name in notes:
        raise GoldError(f"--expect: the note {name!r} is not in the bundle: build the site again")
    names = [*records, *bundle.index.passage_ids, *bundle.index.hint_ids]
    matches = get_close_matches(name, names, 3, 0.5)
    near = f"; close to it are {', '.join(matches)}" if matches else ": see `ask --places --json`"
    raise GoldError(f"--expect: there is no record, passage or note {name!r} in the bundle{near}")
