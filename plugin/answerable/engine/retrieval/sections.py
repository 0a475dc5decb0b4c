"""The order of sections, in which evidence is shown, quoted and listed, and the choice of hints."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..rules import RULES, compile_rule
from ..text.markdown import read_markdown
from ..text.tokenization import split_lowercase_words
from ..types import TITLE_SEPARATOR, Passage, RoutingHint
from .bm25 import compute_idf_share
from .question import QuestionReading
from .rank import SAME_QUESTION, Scored
from .retrieve import TOP_K, RetrievalResult
from .store import Store

# The weights of a section's parts: the score of its page's best passage, the base score of its own,
# the share of the question that its heading has, code, and the logarithm of its length in terms,
# without which short passages lead. Fitted on three sites, each by the other two.
PAGE_WEIGHT: float = RULES["sections"]["PAGE_WEIGHT"]
OWN_WEIGHT: float = RULES["sections"]["OWN_WEIGHT"]
HEADING_WEIGHT: float = RULES["sections"]["HEADING_WEIGHT"]
CODE_BONUS: float = RULES["sections"]["CODE_BONUS"]
LENGTH_WEIGHT: float = RULES["sections"]["LENGTH_WEIGHT"]
# The weight of the best question that the section is known to answer, and what is added where that
# is the asked one, term for term: more than all else, so that a suggestion that is chosen is
# answered by its section first.
QUESTION_WEIGHT: float = RULES["sections"]["QUESTION_WEIGHT"]
SAME_QUESTION_BONUS: float = RULES["sections"]["SAME_QUESTION_BONUS"]
# The number of a further window at the end of its id.
WINDOW_SUFFIX = compile_rule("sections", "WINDOW_SUFFIX")
# How many candidates of each stream are ordered.
POOL_SIZE: int = RULES["sections"]["POOL_SIZE"]
# Sections of one page that a search lists: with more, one page hides the others.
SECTIONS_PER_PAGE: int = RULES["sections"]["SECTIONS_PER_PAGE"]
MAX_HINTS_PER_NOTE = 2
# Passages that share this much of their shingles are near-duplicates.
DUPLICATE_SHARE = 0.8
SHINGLE_WORDS = 3

Shingles = frozenset[tuple[str, ...]]


def order_sections(
    store: Store, reading: QuestionReading, pool: Sequence[Scored[Passage]]
) -> list[Scored[Passage]]:
    """Order a pool by section score, best first, and add the section scores."""
    lengths = store.index.passage_lengths
    best: dict[str, float] = {}
    for scored in pool:
        best[scored.item.record] = max(scored.score, best.get(scored.item.record, scored.score))

    def rate(scored: Scored[Passage]) -> float:
        passage = scored.item
        heading = passage.title.rpartition(TITLE_SEPARATOR)[2]
        weights, forms = reading.idfs[passage.language], reading.forms[passage.language]
        share = compute_idf_share(weights, forms, heading, passage.language)
        score = PAGE_WEIGHT * best[passage.record] + OWN_WEIGHT * scored.base
        score += HEADING_WEIGHT * share + QUESTION_WEIGHT * scored.question
        score += LENGTH_WEIGHT * math.log(1 + int(lengths[scored.row]))
        score += CODE_BONUS if has_code(passage) else 0.0
        return score + (SAME_QUESTION_BONUS if scored.question > SAME_QUESTION else 0.0)

    rated = (replace(scored, section=rate(scored)) for scored in pool)
    return sorted(rated, key=lambda scored: -scored.section)


def has_code(passage: Passage) -> bool:
    """True if a passage has a block of code."""
    return any(placed.block.kind == "code" for placed in read_markdown(passage.markdown).blocks)


def choose_passages(store: Store, retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """Choose the passages that answer a question without a model, best first.

    What a project was answers only a question that has a word for history.
    """
    ordered = order_candidates(store, retrieved)
    return [scored for scored in ordered if answers_question(store, retrieved.reading, scored)]


def answers_question(store: Store, reading: QuestionReading, scored: Scored[Passage]) -> bool:
    """True unless a passage is of history, and neither asked for nor known to be the answer."""
    is_history = store.index.is_history[store.index.passage_records[scored.row]]
    return not is_history or reading.asks_for_history or scored.question > SAME_QUESTION


def order_candidates(store: Store, retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """Order what is above the floor, and what is a little under it beside such a passage."""
    pool = sorted((*retrieved.passages, *retrieved.siblings), key=lambda scored: -scored.score)
    return order_sections(store, retrieved.reading, pool[:POOL_SIZE])


def list_sections(store: Store, retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """List the sections that a search finds, best first, at most eight, no two of the same text.

    Those that answer come first, then near misses with a word of the question: nothing that is
    listed is evidence, so the floor that keeps an answer honest need not hide a place to look.
    """
    near = (scored for scored in retrieved.near_passages if scored.lexical > 0)
    sections: dict[str, Scored[Passage]] = {}
    texts: set[str] = set()
    by_record: Counter[str] = Counter()
    ordered = order_candidates(store, retrieved)
    # A stable sort: what answers keeps its order, and so does what does not.
    ordered.sort(key=lambda scored: not answers_question(store, retrieved.reading, scored))
    for scored in (*ordered, *near):
        passage = scored.item
        is_new = passage.url not in sections and passage.text not in texts
        if is_new and by_record[passage.record] < SECTIONS_PER_PAGE:
            by_record[passage.record] += 1
            texts.add(passage.text)
            sections[passage.url] = scored
    return list(sections.values())[:TOP_K]


def choose_hints(pool: Sequence[Scored[RoutingHint]]) -> list[RoutingHint]:
    """Choose the hints that an answerer may see: the best eight, at most two of one note."""
    by_note: Counter[str] = Counter()
    chosen: list[RoutingHint] = []
    for scored in pool:
        if by_note[scored.item.note] < MAX_HINTS_PER_NOTE:
            by_note[scored.item.note] += 1
            chosen.append(scored.item)
    return chosen[:TOP_K]


def make_shingles(text: str) -> Shingles:
    """Make the runs of three words of a text, of which near-duplicates share most."""
    words = split_lowercase_words(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return frozenset(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def is_near_duplicate(shingles: Shingles, other: Shingles) -> bool:
    """True if a text repeats the other one, or only a part of it."""
    common = len(shingles & other)
    return common == len(shingles) or common >= DUPLICATE_SHARE * (
        len(shingles) + len(other) - common
    )
