"""Compute confidence: how far the best score is above its floor, less if no one section answers.

The local vectors are of English words, so for other languages the words alone tell.
"""

import math
import re
from collections.abc import Mapping

from ..bundle_format.manifest import Manifest
from ..embedders.local_embedder import LOCAL_IDENTITY
from ..retrieval.bm25 import compute_idf_share
from ..retrieval.boosts import SAME_QUESTION
from ..retrieval.retrieve import RetrievalResult
from ..retrieval.scoring import choose_floored_score
from ..text.tokenization import split_lowercase_words
from ..types import Answer, Confidence, Passage

# How fast confidence approaches 1 as the best score rises above its floor: "high" begins .145 above
# it where one section is sure, "medium" .052 above it there and .085 where none is. Calibrated on
# two sites whose answers were judged by reading.
CONFIDENCE_SCALE = 0.12
HIGH_CONFIDENCE, MEDIUM_CONFIDENCE = 0.70, 0.35
# The factor where no single section surely answers: confidence is never "high" then.
INDIRECT_ANSWER_FACTOR = 0.69
# Shares of the question's idf in the excerpt with the headings above it, and in these alone.
MIN_EXCERPT_SHARE, MIN_HEADING_SHARE = 0.9, 0.5

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


def rate_answer(manifest: Manifest, answer: Answer, retrieved: RetrievalResult) -> float:
    """Compute the confidence in an answer that has a source, in [0, 1)."""
    profile, reading = manifest.profile, retrieved.reading
    if not answer.claims:
        return compute_confidence(retrieved.hints[0].score - profile.note_floor)
    first = answer.claims[0]
    cited = {citation.id for citation in first.citations}
    pool = (*retrieved.passages, *retrieved.siblings)
    scored = next(each for each in pool if each.item.id in cited)
    passage = scored.item
    weights, forms = reading.idfs[passage.language], reading.forms[passage.language]
    quotes = "\n".join(citation.quote for citation in first.citations)
    if manifest.identity == LOCAL_IDENTITY and not passage.language.startswith("en"):
        best = compute_idf_share(weights, forms, f"{passage.title}\n{quotes}", passage.language)
    else:
        # Neither its page nor its date says how near a passage comes to the question.
        best = max(choose_floored_score(profile, s.base, s.boost) for s in retrieved.passages)
    is_sure = not profile.hybrid or (
        not any(remark.kind == "unknown" for remark in reading.remarks)
        and len({citation.id for claim in answer.claims for citation in claim.citations}) == 1
        and is_direct_answer(reading.question, weights, forms, passage, quotes)
    )
    factor = 1 if is_sure else INDIRECT_ANSWER_FACTOR
    confidence = factor * compute_confidence(best - profile.floor)
    # Its author says that the section answers this very question.
    return max(confidence, MEDIUM_CONFIDENCE) if scored.question > SAME_QUESTION else confidence


def compute_confidence(distance: float) -> float:
    """Map the distance of the best score from its floor to [0, 1), rising."""
    return 1.0 - math.exp(-max(0.0, distance) / CONFIDENCE_SCALE)


def bucket_confidence(value: float) -> Confidence:
    """Name the bucket of a confidence, which is all that is published of it."""
    if value >= HIGH_CONFIDENCE:
        return "high"
    return "medium" if value >= MEDIUM_CONFIDENCE else "low"


def is_direct_answer(
    question: str,
    weights: Mapping[str, float],
    forms: Mapping[str, str],
    passage: Passage,
    excerpt: str,
) -> bool:
    """Test whether an excerpt contains nearly all of a question, and its headings half of it.

    The excerpt must also have the question's polarity, and code or steps if the question asks how.
    weights: the idf of the question's terms. forms: the term of each of their forms.
    """
    # The parts of a section that are not shown do not answer, whatever words they have.
    shown = f"{passage.title}\n{excerpt}"
    if compute_idf_share(weights, forms, shown, passage.language) < MIN_EXCERPT_SHARE:
        return False
    if compute_idf_share(weights, forms, passage.title, passage.language) < MIN_HEADING_SHARE:
        return False
    if not has_same_polarity(question, shown):
        return False
    return (
        not _HOW.match(question)
        or any(block.kind in ("code", "item", "row") for block in passage.blocks)
        or any(span.kind == "code" for span in passage.spans)
    )


def has_same_polarity(question: str, text: str) -> bool:
    """Test that a text does not negate a question or use the antonyms of its words."""
    if _NEGATION.search(question) and not _NEGATION.search(text):
        return False
    question_words = frozenset(split_lowercase_words(question))
    text_words = frozenset(split_lowercase_words(text))
    return not any(
        (question_words & own and not question_words & other)
        and (text_words & other and not text_words & own)
        for pair in _OPPOSITES
        for own, other in (pair, pair[::-1])
    )
