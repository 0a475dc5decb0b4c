"""The line of a passage: the run of some 45 words that has most of the question's words."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from ..rules import RULES
from ..text.tokenization import NO_FORMS, extract_terms, word_or_letter_pattern
from ..types import Passage
from .units import TextRange, list_units

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


def find_line(
    passage: Passage, weights: Mapping[str, float], forms: Mapping[str, str] = NO_FORMS
) -> TextRange:
    """Find the (start, end) of a passage's line for a question.

    It begins where a sentence or a line of text begins, and of lines with equal weight it is the
    first. weights: of the question's terms. forms: the term of each form of these terms.
    """
    text, units = passage.text, list_units(passage)
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
