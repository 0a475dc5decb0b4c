"""Reorder retrieved passages by how well their section answers: local terms, heading, code."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ..structure import TITLE_SEPARATOR
from ..text.tokenization import count_words, extract_terms
from ..types import Passage
from .question import QuestionReading, read_site_names
from .scoring import Scored
from .store import Store

# The weights of a section's parts: the score of its page's best passage, the terms that tell the
# sections of the page apart, its own heading, names from the question, and something to copy.
# Measured on two sites: docs/tune.md has the table.
PAGE_WEIGHT, LOCAL_WEIGHT, HEADING_WEIGHT, IDENTIFIER_WEIGHT = 2.0, 0.25, 0.10, 0.10
CODE_BONUS, SHORT_PENALTY = 0.10, -0.10
# In the place of both where a definition is asked for: for the first passage of the page whose
# title holds what is asked for, and of the home page, whatever others say, for the site itself.
INTRODUCTION_BONUS, HOME_BONUS = 0.20, 1.20
# The paths of home pages, also below a language and with its suffix.
HOME_RECORDS = ("index", "README")
# A passage of fewer words that has no code or list is an introduction or a pointer.
MIN_SECTION_WORDS = 30


def is_home_record(record: str, language: str) -> bool:
    """Test whether a page is the first one of a site, or of one of its languages."""
    return record.removeprefix(f"{language}/").removesuffix(f".{language}") in HOME_RECORDS


def order_by_section(
    store: Store, reading: QuestionReading, pool: Sequence[Scored[Passage]]
) -> list[Scored[Passage]]:
    """Order a pool by section score and base score, best first, and add the section scores."""
    pages: dict[str, list[Scored[Passage]]] = defaultdict(list)
    for scored in pool:
        pages[scored.item.record].append(scored)
    rated = {
        scored.item.id: replace(scored, section=section)
        for page in pages.values()
        for scored, section in zip(page, _score_sections(store, reading, page), strict=True)
    }
    ordered = (rated[scored.item.id] for scored in pool)
    return sorted(ordered, key=lambda scored: -scored.section - scored.base)


def _score_sections(
    store: Store, reading: QuestionReading, page: Sequence[Scored[Passage]]
) -> Iterator[float]:
    """Yield the scores of the sections of one page, in the order of its passages.

    An identifier is compared with its case folded, in the text and the headings.
    """
    weights = reading.idfs[page[0].item.language]
    best = max(scored.score for scored in page)
    page_terms = [read_passage_terms(scored.item) for scored in page]
    local = weigh_terms_in_page(weights, page_terms)
    total = sum(local.values()) or 1.0
    names = {name.lower() for name in reading.identifiers}
    for scored, own in zip(page, page_terms, strict=True):
        passage = scored.item
        text = f"{passage.title}\n{passage.text}".lower()
        share = sum(name in text for name in names) / len(names) if names else 0.0
        if reading.asks_for_definition:
            form = _score_introduction(store, reading, scored)
        else:
            form = CODE_BONUS if has_code(passage) else 0
            form += SHORT_PENALTY if is_short(passage) else 0
        yield (
            PAGE_WEIGHT * best
            + LOCAL_WEIGHT * sum(weight for term, weight in local.items() if term in own) / total
            + HEADING_WEIGHT * match_heading(weights, passage)
            + IDENTIFIER_WEIGHT * share
            + form
        )


def _score_introduction(store: Store, reading: QuestionReading, scored: Scored[Passage]) -> float:
    """Score a passage that introduces what a definition is asked of: its page's first."""
    records, language = store.passage_records, scored.item.language
    record = records[scored.row]
    terms = frozenset(reading.terms.get(language, ()))
    if not terms or (scored.row and records[scored.row - 1] == record):
        return 0.0
    if is_home_record(scored.item.record, language) and terms in read_site_names(store, language):
        return HOME_BONUS
    titles = store.title_terms
    is_titled = all(t in titles.rows and record in titles.entry(t).records for t in terms)
    return INTRODUCTION_BONUS if is_titled else 0.0


def weigh_terms_in_page(
    weights: Mapping[str, float], page_terms: Sequence[frozenset[str]]
) -> dict[str, float]:
    """Weigh the question's terms by how rare they are among the passages of one page.

    page_terms: of each passage. The weight is the idf in the whole site times that in the page,
    ln(1 + (n - df + .5) / (df + .5)); a term that no passage of the page holds has none.
    """
    count = len(page_terms)
    local: dict[str, float] = {}
    for term, weight in weights.items():
        frequency = sum(term in own for own in page_terms)
        if frequency:
            local[term] = weight * math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
    return local


def match_heading(weights: Mapping[str, float], passage: Passage) -> float:
    """Compute the cosine of the question's terms and those of a passage's own heading, by idf."""
    own = frozenset(extract_terms(passage.title.rpartition(TITLE_SEPARATOR)[2], passage.language))
    highest = max(weights.values(), default=0.0)
    both = sum(weights[term] ** 2 for term in own if term in weights)
    # The idf of a heading's other words is not known here: each counts like the rarest asked for.
    size = both + highest**2 * sum(term not in weights for term in own)
    question_size = sum(weight**2 for weight in weights.values())
    return both / math.sqrt(size * question_size) if both else 0.0


@lru_cache(maxsize=512)
def read_passage_terms(passage: Passage) -> frozenset[str]:
    """Extract the terms of a passage and of the headings above it."""
    return frozenset(extract_terms(f"{passage.title}\n{passage.text}", passage.language))


def has_code(passage: Passage) -> bool:
    """Test whether a passage has a block of code."""
    return any(block.kind == "code" for block in passage.blocks)


def is_short(passage: Passage) -> bool:
    """Test whether a passage is a few words of plain prose."""
    plain = all(block.kind in ("text", "label") for block in passage.blocks)
    return plain and count_words(passage.text) < MIN_SECTION_WORDS
