"""Explain one question: what was found, in which order, what was not, and the cheapest remedy."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import numpy as np

from ..engine.bundle import Bundle
from ..engine.engine import Engine, find_stored_answer
from ..engine.errors import GoldError
from ..engine.retrieval.question import QuestionReading
from ..engine.retrieval.rank import Scored
from ..engine.retrieval.retrieve import POOL_SIZE, RetrievalResult, retrieve
from ..engine.text.tokenization import extract_terms, match_languages, split_lowercase_words
from ..engine.types import WINDOW_SUFFIX, Confidence, Mode, Passage, Reason, RoutingHint
from ..indexing.questions import find_question_fault, list_sections

# Candidates that are named beside the evidence, of passages and hints each.
MAX_OTHERS = 3

ScoredItem = Scored[Passage] | Scored[RoutingHint]
Fate = Literal["cited", "evidence", "left-out", "other-language", "under-floor"]
# What made a candidate evidence: its score, or something that counts without one.
Basis = Literal["score", "known-question", "same-page", "call-floor"]
RemedyKind = Literal["known-question", "other-name", "words", "note", "question"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage or a hint that a question finds.

    ``score`` is the number that is compared with ``floor``. ``missing`` are the words of the
    question that a passage lacks. ``basis`` is None if it is not evidence.
    """

    id: str
    title: str
    fate: Fate
    score: float
    floor: float
    basis: Basis | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_evidence(self) -> bool:
        """True if an answer may use it."""
        return self.basis is not None


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

    ``candidates`` are in the order of the evidence, then come the best of those that were left out
    and of those under the floor. ``outcome`` is None where a model would have to be asked.
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
    everything = list(_list_candidates(store, retrieved, order, outcome, language))
    matching = [candidate for candidate in everything if candidate.id in expected_ids]
    expected = min(matching, key=lambda candidate: candidate.fate != "cited", default=None)
    candidates = _shorten(everything, expected)
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
    store: Bundle,
    retrieved: RetrievalResult,
    order: Sequence[str],
    outcome: Outcome | None,
    language: str | None,
) -> Iterator[Candidate]:
    """List all passages and hints: the evidence in its order, and then the rest, best first."""
    if retrieved.vector is None:
        return
    # What was expected is found however far down it is.
    count = len(store.index.passage_ids) + len(store.index.hint_ids)
    whole = retrieve(store, retrieved.reading, retrieved.vector, count, near=count)
    above = {scored.item.id for scored in whole.passages}
    above |= {hint.item.id for hint in whole.hints}
    siblings = {scored.item.id for scored in retrieved.siblings}
    ranked: list[ScoredItem] = [*whole.passages, *whole.near_passages]
    ranked.sort(key=lambda scored: -scored.score)
    ranked += [*whole.hints, *whole.near_hints]
    by_id = {scored.item.id: scored for scored in ranked}
    others = sorted((name for name in by_id if name not in order), key=lambda n: n not in above)
    readable = match_languages(language, store.index.site.tags)
    for name in (*order, *others):
        scored = by_id[name]
        basis: Basis | None = None
        fate: Fate = "left-out" if name in above else "under-floor"
        if name in order:
            fate = "cited" if outcome and name in outcome.cited else "evidence"
            basis = "same-page" if name in siblings else "call-floor"
            if name in above:
                is_under = scored.floored < store.manifest.profile.floor
                is_known = isinstance(scored.item, Passage) and is_under
                basis = "known-question" if is_known else "score"
        elif (
            readable
            and isinstance(scored.item, Passage)
            and store.index.site.language_of(scored.row) not in readable
        ):
            fate = "other-language"
        yield _describe(store, retrieved.reading, scored, fate, basis)


def _describe(
    store: Bundle, reading: QuestionReading, scored: ScoredItem, fate: Fate, basis: Basis | None
) -> Candidate:
    item, profile = scored.item, store.manifest.profile
    if isinstance(item, RoutingHint):
        title = " · ".join(filter(None, (item.label, item.locator)))
        return Candidate(item.id, title, fate, round(scored.score, 4), profile.note_floor, basis)
    score = round(scored.floored, 4)
    missing = list_missing_words(store, reading, scored.row)
    return Candidate(item.id, item.title, fate, score, profile.floor, basis, missing)


def list_missing_words(store: Bundle, reading: QuestionReading, row: int) -> tuple[str, ...]:
    """List the words of a question that count and that a passage lacks, read in its language."""
    language = store.index.site.language_of(row)
    terms = {term for term, idf in reading.idfs[language].items() if idf}
    postings, forms = store.postings_of(terms), reading.forms[language]
    lacking = {term for term in terms if row not in postings.passages[postings.find(term)]}
    words = dict.fromkeys(split_lowercase_words(reading.question))
    return tuple(w for w in words if not lacking.isdisjoint(extract_terms(w, language, forms)))


def _shorten(everything: Iterable[Candidate], expected: Candidate | None) -> tuple[Candidate, ...]:
    """Keep the evidence, the best others of each fate, and what was expected."""
    counts: Counter[tuple[Fate, bool]] = Counter()
    shortened = []
    for candidate in everything:
        key = candidate.fate, candidate.id.startswith("note:")
        counts[key] += 1
        if candidate.is_evidence or counts[key] <= MAX_OTHERS or candidate is expected:
            shortened.append(candidate)
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
    if target is None or target.fate == "cited" or (target.is_evidence and not has_outcome):
        return
    if target.id in store.index.hint_ids:
        yield Remedy(
            "note",
            f"Let the label or the locator of {target.id} name what readers look for, or split a "
            "note of many subjects.",
        )
        return
    name = WINDOW_SUFFIX.sub("", target.id)
    section = next(row for row in list_sections(store.passages()) if row.id == name)
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
        "words",
        f"Write a whole sentence that {missing}states the fact into {section.id}; if that does not "
        "suffice, let its heading name the subject.",
    )


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
        raise GoldError(f"--expect: the note {name!r} is not in the index: build the site again")
    names = [*records, *bundle.index.passage_ids, *bundle.index.hint_ids]
    matches = get_close_matches(name, names, 3, 0.5)
    near = (
        f"; close to it are {', '.join(matches)}"
        if matches
        else ": name one that `answerable why` lists"
    )
    raise GoldError(f"--expect: there is no page, section or note {name!r} in the index{near}")
