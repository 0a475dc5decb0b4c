"""Choice among retrieved passages: section scores, duplicates, and the evidence of each page."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

import numpy as np

from ..bundle_format.manifest import LOCAL_PROFILE
from ..structure import TITLE_SEPARATOR
from ..text.tokenization import extract_terms, split_lowercase_words, split_words
from ..types import Evidence, Passage, RoutingHint
from .bm25 import compute_idf_share, match_terms
from .boosts import SAME_QUESTION
from .question import QuestionReading, names_site
from .retrieve import TOP_K, RetrievalResult
from .scoring import Scored
from .store import Store

# The weights of a section's parts: the score of its page's best passage, the base score of its own,
# the share of the question that its heading has, code, and the logarithm of its length in terms,
# without which short passages lead. Fitted on three sites, each by the other two: docs/tune.md.
PAGE_WEIGHT, OWN_WEIGHT, HEADING_WEIGHT = 2.0, 3.5, 0.6
CODE_BONUS, LENGTH_WEIGHT = 0.25, 0.2
# The weight of the best question that the section is known to answer, and what is added where that
# is the asked one, term for term: more than all else, so that a suggestion that is chosen is
# answered by its section first, and an answerer sees it.
QUESTION_WEIGHT, SAME_QUESTION_BONUS = 0.5, 100.0
# In the place of both where a definition is asked for: for the first passage of the page whose
# title holds what is asked for, and of the home page, whatever others say, for the site itself.
INTRODUCTION_BONUS, HOME_BONUS = 2.0, 5.0
# Taken from the section of a member of an API, whose anchor is its dotted name, and added where the
# question has the name: where scores are nearly equal a guide answers more often than a reference.
MEMBER_WEIGHT = 0.12
_MEMBER = re.compile(r"#.*\.([^.]+)$")
# The number of a further window at the end of its id.
WINDOW_SUFFIX = re.compile(r"~(\d+)$")
# The paths of home pages, also below a language and with its suffix.
HOME_RECORDS = ("index", "README")


def is_home_record(record: str, language: str) -> bool:
    """Test whether a page is the first one of a site, or of one of its languages."""
    return record.removeprefix(f"{language}/").removesuffix(f".{language}") in HOME_RECORDS


def order_by_section(
    store: Store, reading: QuestionReading, pool: Sequence[Scored[Passage]]
) -> list[Scored[Passage]]:
    """Order a pool by section score, best first, and add the section scores."""
    lengths = store.postings_of(()).lengths
    words = frozenset(split_lowercase_words(reading.question))
    best: dict[str, float] = {}
    for scored in pool:
        best[scored.item.record] = max(scored.score, best.get(scored.item.record, scored.score))

    def rate(scored: Scored[Passage]) -> float:
        passage = scored.item
        heading = passage.title.rpartition(TITLE_SEPARATOR)[2]
        language = passage.language
        forms = reading.forms[language]
        share = compute_idf_share(reading.idfs[language], forms, heading, language)
        form = 0.0
        if reading.asks_for_definition:
            form = _score_introduction(store, reading, scored, heading)
        if not form:
            form = CODE_BONUS if has_code(passage) else 0.0
            form += LENGTH_WEIGHT * math.log(1 + int(lengths[scored.row]))
        if member := _MEMBER.search(passage.url):
            is_named = words.issuperset(split_lowercase_words(member[1]))
            form += MEMBER_WEIGHT if is_named else -MEMBER_WEIGHT
        if scored.question > SAME_QUESTION:
            form += SAME_QUESTION_BONUS
        form += QUESTION_WEIGHT * scored.question
        page = PAGE_WEIGHT * best[passage.record]
        return page + OWN_WEIGHT * scored.base + HEADING_WEIGHT * share + form

    rated = (replace(scored, section=rate(scored)) for scored in pool)
    return sorted(rated, key=lambda scored: -scored.section)


def _score_introduction(
    store: Store, reading: QuestionReading, scored: Scored[Passage], heading: str
) -> float:
    """Score a passage that introduces what a definition is asked of.

    It is the first passage of its page, or of a section whose heading is no more than that.
    """
    records, language = store.passage_records, scored.item.language
    record = records[scored.row]
    terms = frozenset(reading.terms.get(language, ()))
    if not terms or WINDOW_SUFFIX.search(scored.item.id):
        return 0.0
    is_first = not scored.row or records[scored.row - 1] != record
    is_home = is_first and is_home_record(scored.item.record, language)
    if is_home and names_site(store, reading, language):
        return HOME_BONUS
    titles = store.title_terms
    is_titled = all(t in titles.rows and record in titles.entry(t).records for t in terms)
    # Terms alone would take "Your berth" for "Berth".
    is_whole = len(split_words(heading)) <= len(terms)
    is_headed = is_whole and terms == frozenset(
        extract_terms(heading, language, reading.forms[language])
    )
    return INTRODUCTION_BONUS if is_headed or (is_first and is_titled) else 0.0


def has_code(passage: Passage) -> bool:
    """Test whether a passage has a block of code."""
    return any(block.kind == "code" for block in passage.blocks)


T = TypeVar("T", Passage, RoutingHint)

# How many candidates of each stream the evidence is selected from.
POOL_SIZE = 32

MAX_HINTS_PER_NOTE = 2
# A passage that leads every other record's best by this much needs one other source at most.
WINNER_MARGIN = 0.20
# Passages that share this much of their shingles are near-duplicates.
DUPLICATE_SHARE = 0.8
SHINGLE_WORDS = 3

MAX_EVIDENCE_CHARACTERS = 24_000
MAX_RECORD_CHARACTERS = 6_000

SelectionRule = Literal[
    "eight-above", "enough-of-its-record", "two-of-its-note", "near-duplicate", "clear-winner"
]
BudgetLimit = Literal["budget", "record-budget"]
Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SelectionDecision(Generic[T]):
    """Hold a candidate and the rule that drops it, None for one that is selected.

    ``against`` is the id of the candidate that the rule compares it with, where that is one.
    """

    scored: Scored[T]
    rule: SelectionRule | None = None
    against: str | None = None


def arrange_pool(store: Store, retrieved: RetrievalResult) -> RetrievalResult:
    """Order the passages of a pool and their siblings by sections, where words count at all."""
    if not store.manifest.profile.hybrid:
        return retrieved
    reading = retrieved.reading
    pool = sorted((*retrieved.passages, *retrieved.siblings), key=lambda scored: -scored.score)
    del pool[POOL_SIZE:]
    ordered = order_by_section(store, reading, pool)
    terms = frozenset(term for weights in reading.idfs.values() for term in weights)
    rows = np.array([scored.row for scored in ordered], dtype=np.intp)
    terms_by_row = match_terms(store.postings_of(terms), terms, rows)
    passages = (replace(each, terms=own) for each, own in zip(ordered, terms_by_row, strict=True))
    return replace(retrieved, passages=tuple(passages), siblings=())


def select_evidence(
    retrieved: RetrievalResult, per_record: int = LOCAL_PROFILE.passages_per_page
) -> Evidence:
    """Select at most eight passages and eight hints of a pool, each stream in its order.

    The first of near-duplicates stays, of one record so many passages and of one note two hints,
    and where one record clearly leads, one passage of another. The lead of the notes is that of
    the best scores, whatever is selected.
    """
    decisions = decide_passages(retrieved.passages, per_record)
    passages = [each.scored for each in decisions if each.rule is None]
    hints = [each.scored for each in decide_hints(retrieved.hints) if each.rule is None]
    by_score = tuple(sorted(retrieved.passages, key=lambda scored: -scored.score))
    reading = retrieved.reading
    return Evidence(
        tuple(scored.item for scored in passages),
        tuple(scored.item for scored in hints),
        replace(retrieved, passages=by_score).truncate(TOP_K).evidence.lead,
        tuple(scored.section for scored in passages),
        tuple(scored.terms for scored in passages),
        reading.idfs,
        reading.forms,
        # An answerer compares with the whole question, its frame included.
        tuple(retrieved.vector.tolist())
        if retrieved.vector is not None and reading.text == reading.question
        else None,
    )


def decide_passages(
    pool: Sequence[Scored[Passage]], per_record: int = LOCAL_PROFILE.passages_per_page
) -> tuple[SelectionDecision[Passage], ...]:
    """Decide for each passage of a pool, best first, which rule drops it.

    per_record: the most passages of one page, beside the one with its best base score.
    """
    rising = sorted(pool, key=lambda scored: -scored.base)[::-1]
    best_of_pages = {scored.item.record: scored.item.id for scored in rising}
    decisions: list[SelectionDecision[Passage]] = []
    selected: list[tuple[str, Shingles]] = []
    by_record: Counter[str] = Counter()
    for scored in pool:
        item = scored.item
        if len(selected) == TOP_K:
            decisions.append(SelectionDecision(scored, "eight-above"))
            continue
        if by_record[item.record] >= per_record and item.id != best_of_pages[item.record]:
            decisions.append(SelectionDecision(scored, "enough-of-its-record"))
            continue
        shingles = make_shingles(item.text)
        same = next((name for name, own in selected if is_near_duplicate(shingles, own)), None)
        if same is not None:
            decisions.append(SelectionDecision(scored, "near-duplicate", same))
            continue
        decisions.append(SelectionDecision(scored))
        selected.append((item.id, shingles))
        by_record[item.record] += 1
    return _apply_clear_winner(decisions)


def decide_hints(pool: Sequence[Scored[RoutingHint]]) -> tuple[SelectionDecision[RoutingHint], ...]:
    """Decide for each hint of a pool, best first, which rule drops it."""
    decisions: list[SelectionDecision[RoutingHint]] = []
    by_note: Counter[str] = Counter()
    for scored in pool:
        rule: SelectionRule | None = None
        if by_note.total() == TOP_K:
            rule = "eight-above"
        elif by_note[scored.item.note] == MAX_HINTS_PER_NOTE:
            rule = "two-of-its-note"
        else:
            by_note[scored.item.note] += 1
        decisions.append(SelectionDecision(scored, rule))
    return tuple(decisions)


def fit_budget(
    evidence: Evidence,
    total: int = MAX_EVIDENCE_CHARACTERS,
    per_record: int = MAX_RECORD_CHARACTERS,
) -> Evidence:
    """Fit evidence to a budget in characters of text, title and context; hints cost nothing.

    Whole passages are dropped, lowest first, and never a part of one. A record's best passage and
    its context count against the total only, so that a long one is not lost to the record's share.
    """
    passages = evidence.passages
    limits = find_budget_limits(passages, total, per_record)
    if not any(limits):
        return evidence
    scores, terms = evidence.section_scores, evidence.terms
    fitting = [place for place, limit in enumerate(limits) if limit is None]
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
    """Find the limit that drops each passage, best first; None for one that fits."""
    limits: list[BudgetLimit | None] = []
    used = 0
    by_record: Counter[str] = Counter()
    for passage in passages:
        size = len(passage.text) + len(passage.title)
        share = by_record[passage.record]
        context = 0 if share else len(passage.title) + count_context_characters(passage)
        if used + size + context > total:
            limits.append("budget")
        elif share and share + size > per_record:
            limits.append("record-budget")
        else:
            limits.append(None)
            used += size + context
            by_record[passage.record] += size
    return tuple(limits)


def count_context_characters(passage: Passage) -> int:
    """Count the characters of a passage's page that a model reads beside the passage."""
    return len(passage.summary) + sum(map(len, passage.themes))


def _apply_clear_winner(
    decisions: Sequence[SelectionDecision[Passage]],
) -> tuple[SelectionDecision[Passage], ...]:
    """Drop all but the best passage of other records where the best record clearly leads."""
    if not decisions:
        return ()
    best = decisions[0].scored
    others = [
        place
        for place, decision in enumerate(decisions)
        if decision.rule is None and decision.scored.item.record != best.item.record
    ]
    if not others or best.score - decisions[others[0]].scored.score < WINNER_MARGIN:
        return tuple(decisions)
    return tuple(
        SelectionDecision(decision.scored, "clear-winner", best.item.id)
        if place in others[1:]
        else decision
        for place, decision in enumerate(decisions)
    )


def make_shingles(text: str) -> Shingles:
    """Make the runs of three words of a text, of which near-duplicates share most."""
    words = split_lowercase_words(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return frozenset(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def is_near_duplicate(shingles: Shingles, other: Shingles) -> bool:
    """Test whether a text repeats the other one, or only a part of it."""
    common = len(shingles & other)
    return common == len(shingles) or common >= DUPLICATE_SHARE * (
        len(shingles) + len(other) - common
    )
