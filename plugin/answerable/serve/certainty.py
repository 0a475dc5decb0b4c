"""Tell whether one section surely answers a question: what the bucket "high" stands for."""

import re
from collections.abc import Mapping

from . import terms
from .types import Passage

# Shares of the question's idf that the excerpt holds with the headings above it, and these alone.
SECTION_SHARE, HEADING_SHARE = 0.9, 0.5

_HOW = re.compile(r"\s*how\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no|without|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_OPPOSITES = tuple(
    (frozenset(first.split("/")), frozenset(second.split("/")))
    for first, second in (
        ("hide/hidden", "show/shown/display"), ("with", "without"),
        ("enable/enabled", "disable/disabled"),
        ("add", "remove/delete"), ("start", "stop"), ("allow", "forbid/prevent/deny"),
        ("include", "exclude"), ("before", "after"), ("increase", "decrease/reduce"),
        ("import", "export"), ("encode", "decode"), ("install", "uninstall"),
        ("upload", "download"), ("open", "close"), ("encrypt", "decrypt"),
    )
)  # fmt: skip


def is_sure(question: str, weights: Mapping[str, float], passage: Passage, excerpt: str) -> bool:
    """Test whether what is shown holds nearly all of a question, and its headings half of it.

    The excerpt must have the question's polarity, and code or steps where the question asks how.
    weights: the idf of the question's terms.
    """
    total = sum(weights.values())
    if not total:
        return False
    # What is cut off a section does not answer, though it may hold the question's words.
    shown = f"{passage.title}\n{excerpt}"
    shown_terms, headings = (
        frozenset(terms.read(text, passage.language)) for text in (shown, passage.title)
    )
    if _sum_weights(weights, shown_terms) < SECTION_SHARE * total:
        return False
    if _sum_weights(weights, headings) < HEADING_SHARE * total:
        return False
    return has_same_polarity(question, shown) and (
        not _HOW.match(question) or _is_practical(passage)
    )


def has_same_polarity(question: str, text: str) -> bool:
    """Test that a text does not speak of the opposite of what is asked about."""
    if _NEGATION.search(question) and not _NEGATION.search(text):
        return False
    asks, says = frozenset(terms.words(question)), frozenset(terms.words(text))
    return not any(
        (asks & own and not asks & other) and (says & other and not says & own)
        for pair in _OPPOSITES
        for own, other in (pair, pair[::-1])
    )


def _sum_weights(weights: Mapping[str, float], own_terms: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in own_terms)


def _is_practical(passage: Passage) -> bool:
    """Test whether a section has something to follow: code, a list, a table or inline code."""
    return any(block.kind in ("code", "item", "row") for block in passage.blocks) or any(
        span.kind == "code" for span in passage.spans
    )
