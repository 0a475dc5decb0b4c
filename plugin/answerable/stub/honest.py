"""The model that answers honestly: the sentences that support a question best, verbatim."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sentencex

from ..serve import terms
from .prompts import Hint, Prompt

MAX_CLAIMS = 3
MAX_ROUTES = 2

# A title says what a sentence is about; less than the sentence itself does.
_TITLE_WEIGHT = 0.6
# A sentence supports an answer if it covers this much of the question, and this of the best one.
_FLOOR = 0.5
_NEXT_TO_BEST = 0.85
# A hint is beside the point of an answered question under this share of it.
_HINT_FLOOR = 0.4
# A shorter sentence is a label or a fragment.
_MIN_WORDS = 4


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a source, and the terms of both it and its title."""

    source: str
    text: str
    terms: frozenset[str]
    title: frozenset[str]


def draft(prompt: Prompt) -> dict[str, Any]:
    """A draft that keeps the contract; both lists are empty if nothing supports an answer."""
    wanted = list(dict.fromkeys(terms.read(prompt.question)))
    claims = [
        {"text": s.text, "evidence": [{"source": s.source, "quote": s.text}]}
        for s in _best(wanted, list(_sentences(prompt)))
    ]
    routes = [hint.id for hint in prompt.hints if _overlap(wanted, hint) >= _HINT_FLOOR]
    if not claims and not routes and wanted:
        routes = [hint.id for hint in prompt.hints]
    return {"claims": claims, "routes": routes[:MAX_ROUTES]}


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, verbatim, line by line."""
    for line in text.splitlines():
        for piece in sentencex.segment("en", line):
            if piece.strip():
                yield piece.strip()


def _sentences(prompt: Prompt) -> Iterator[_Sentence]:
    for source in prompt.sources:
        title = frozenset(terms.read(source.title))
        for text in sentences(source.text):
            if len(text.split()) >= _MIN_WORDS and not text.endswith("?"):
                yield _Sentence(source.id, text, frozenset(terms.read(text)), title)


def _best(wanted: Sequence[str], found: Sequence[_Sentence]) -> list[_Sentence]:
    weights = {term: _idf(term, found) for term in wanted}
    total = sum(weights.values())
    if not total:
        return []
    scores = [_support(sentence, weights) / total for sentence in found]
    best = max(scores, default=0.0)
    chosen: dict[str, int] = {}
    for index in sorted(range(len(found)), key=lambda i: -scores[i]):
        if len(chosen) == MAX_CLAIMS or scores[index] < max(_FLOOR, _NEXT_TO_BEST * best):
            break
        chosen.setdefault(found[index].text, index)
    return [found[index] for index in sorted(chosen.values())]


def _support(sentence: _Sentence, weights: dict[str, float]) -> float:
    own = sum(weight for term, weight in weights.items() if term in sentence.terms)
    # A sentence without a word of the question says nothing of it, whatever its title.
    rest = (w for term, w in weights.items() if term in sentence.title - sentence.terms)
    return own + _TITLE_WEIGHT * sum(rest) if own else 0.0


def _idf(term: str, found: Sequence[_Sentence]) -> float:
    holding = sum(term in sentence.terms for sentence in found)
    return math.log(1 + (len(found) - holding + 0.5) / (holding + 0.5))


def _overlap(wanted: Iterable[str], hint: Hint) -> float:
    asked = set(wanted)
    surface = set(terms.read(f"{hint.label} {hint.locator}"))
    return len(asked & surface) / len(asked) if asked else 0.0
