"""The answer without a model: whole passages, the line of each, and how sure it is."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..index.manifest import Profile
from ..retrieval.question import QuestionReading
from ..retrieval.rank import SAME_QUESTION, Scored
from ..rules import RULES
from ..text.sentences import TextRange, list_units
from ..text.tokenization import extract_terms, word_or_letter_pattern
from ..types import Confidence, Evidence, Passage

MAX_DRAFT_ROUTES = 2
# Two whole passages hold more answers than three excerpts of them did.
MAX_PASSAGES: int = RULES["extractive"]["MAX_PASSAGES"]
# The notebook alone answers where its best cosine leads the best passage's by this much.
ROUTES_ONLY_LEAD = 0.10
# A note that lags the best passage by more than this does not belong beside claims.
ROUTES_LAG = 0.15


@dataclass(frozen=True, slots=True)
class ExtractiveAnswerer:
    """Quote the first two passages of the evidence, each as a claim that is its own quote.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. Without a passage and a hint it declines.
    """

    label: str = "extractive"
    max_question_tokens: int = 0
    max_evidence_characters: int | None = None

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft verbatim excerpts, whatever the violation of an earlier draft was."""
        del question, violation
        routes = [f"h{n}" for n in range(1, min(len(evidence.hints), MAX_DRAFT_ROUTES) + 1)]
        if routes and evidence.lead >= ROUTES_ONLY_LEAD:
            return {"claims": [], "routes": routes}
        claims: list[dict[str, Any]] = [
            {
                "text": passage.text,
                "evidence": [{"source": f"s{n}", "quote": passage.text}],
            }
            for n, passage in enumerate(evidence.passages[:MAX_PASSAGES], 1)
        ]
        if claims and evidence.lead < -ROUTES_LAG:
            routes = []
        return {"claims": claims, "routes": routes}


# Of 246 questions of five sites whose answers were marked, 152 had theirs in lines of 30 words,
# 162 in lines of 45 and 164 in lines of 60.
LINE_WORDS: int = RULES["line"]["LINE_WORDS"]
# A line is longer by this many words at most where its last sentence ends there.
EXTRA_WORDS: int = RULES["line"]["EXTRA_WORDS"]
# Else it ends with the sentence before, if it has so many words then.
MIN_WORDS: int = RULES["line"]["MIN_WORDS"]
# What a word adds that the line has already.
REPEATED_SHARE: float = RULES["line"]["REPEATED_SHARE"]
# Weights within this are equal: the last bits of a logarithm differ between machines.
TIE: float = RULES["line"]["TIE"]

_INNER_CAPITAL = re.compile(r"(?<=.)[A-Z]")


def find_line(reading: QuestionReading, passage: Passage) -> TextRange:
    """Find the (start, end) of a passage's line for a question.

    It begins where a sentence or a line of text begins, and of lines with equal weight it is the
    first.
    """
    text, units = passage.text, list_units(passage)
    weights, forms = reading.idfs[passage.language], reading.forms[passage.language]
    words = list(word_or_letter_pattern().finditer(text))
    starts = [word.start() for word in words]
    terms = [_read_terms(word, text, passage.language, weights, forms) for word in words]
    firsts = [bisect_left(starts, start) for start, _ in units]
    ends = [bisect_left(starts, end) for _, end in units]
    best, line = -1.0, (0, len(text))
    for first, (start, _) in zip(firsts, units, strict=True):
        last = min(_choose_end(first, ends), len(words))
        weight = _weigh(terms[first:last], weights)
        if weight > best + TIE and last > first:
            end = units[ends.index(last)][1] if last in ends else words[last - 1].end()
            best, line = weight, (start, end)
    return line


def _choose_end(first: int, ends: Sequence[int]) -> int:
    """Choose the word before which a line ends that begins at a word: at the end of a unit."""
    shortest = first + LINE_WORDS
    place = bisect_left(ends, shortest)
    if place < len(ends) and ends[place] <= shortest + EXTRA_WORDS:
        return ends[place]
    is_enough = place and ends[place - 1] >= first + MIN_WORDS
    return ends[place - 1] if is_enough or place == len(ends) else shortest


def _read_terms(
    word: re.Match[str],
    text: str,
    language: str,
    weights: Mapping[str, float],
    forms: Mapping[str, str],
) -> Sequence[str]:
    """Read the question's terms in a word: itself, and its parts where it is in camel case."""
    written = word.group()
    if len(written) == 1 and not written.isascii():
        # A script without spaces has pairs of letters for words.
        written = text[word.start() : word.start() + 2]
    elif not _INNER_CAPITAL.search(written):
        term = forms.get(written.lower(), written.lower())
        return (term,) if term in weights else ()
    return [term for term in extract_terms(written, language, forms) if term in weights]


def _weigh(terms: Sequence[Sequence[str]], weights: Mapping[str, float]) -> float:
    seen: set[str] = set()
    weight = 0.0
    for term in (term for listed in terms for term in listed):
        weight += weights[term] * (REPEATED_SHARE if term in seen else 1.0)
        seen.add(term)
    return weight


# Where the first passages come from this many pages, no section is clearly meant.
FIRST_PASSAGES: int = RULES["confidence"]["FIRST_PASSAGES"]
MANY_PAGES: int = RULES["confidence"]["MANY_PAGES"]
# The best score of an answer of the upper grade is so far above the floor. Of 221 answers that were
# read, both rules together leave 34 % of the upper grade wrong, instead of 42 % without them.
SURE_ABOVE_FLOOR: float = RULES["confidence"]["SURE_ABOVE_FLOOR"]


def rate_passages(
    profile: Profile, reading: QuestionReading, passages: list[Scored[Passage]]
) -> Confidence:
    """Rate the passages that answer a question without a model, best first: medium or low.

    Low where no section is clearly meant, or where the site lacks a word of the question.
    """
    if passages[0].question > SAME_QUESTION:
        # Its author says that the section answers this very question.
        return "medium"
    if any(remark.kind == "unknown" for remark in reading.remarks):
        return "low"
    pages = {scored.item.record for scored in passages[:FIRST_PASSAGES]}
    best = max(scored.base for scored in passages)
    return (
        "medium" if len(pages) < MANY_PAGES and best >= profile.floor + SURE_ABOVE_FLOOR else "low"
    )
