"""What a prompt tells a scripted model: the evidence and the question, read from its data lines.

The model that answers honestly: the sentences that support a question best, verbatim.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sentencex

from ..serve.text.tokenization import extract_terms


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A quotable text under its title."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptHint:
    """The public surface of something that can only be pointed at."""

    id: str
    label: str
    locator: str


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A request as a scripted model sees it.

    ``text`` is the whole of what the user said, ``schema`` the strict one that was sent, if any.
    """

    text: str
    question: str = ""
    sources: tuple[PromptSource, ...] = ()
    hints: tuple[PromptHint, ...] = ()
    violation: str | None = None
    schema: Mapping[str, Any] | None = None


def parse_prompt(texts: Iterable[str], schema: Mapping[str, Any] | None = None) -> ParsedPrompt:
    """The prompt in what a user said. Lines that are not data are skipped.

    Of two sources or hints with one id the first counts; of questions and violations the last.
    """
    text = "\n".join(texts)
    sources: dict[str, PromptSource] = {}
    hints: dict[str, PromptHint] = {}
    question, violation = "", None
    for line in _data_lines(text):
        words = {name: v if isinstance(v, str) else "" for name, v in line.items()}
        name = words.get("id", "")
        match words.get("kind"):
            case "source" if name:
                source = PromptSource(name, words.get("title", ""), words.get("text", ""))
                sources.setdefault(name, source)
            case "hint" if name:
                hint = PromptHint(name, words.get("label", ""), words.get("locator", ""))
                hints.setdefault(name, hint)
            case "violation":
                violation = words.get("text", "")
            case "question":
                question = words.get("text", "")
    return ParsedPrompt(
        text, question, tuple(sources.values()), tuple(hints.values()), violation, schema
    )


def _data_lines(text: str) -> Iterator[dict[str, Any]]:
    # Only a line feed ends a data line: a text may hold other line separators unescaped.
    for line in text.split("\n"):
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


MAX_CLAIMS = 3
MAX_ROUTES = 2

# A title says what a sentence is about; less than the sentence itself does.
_TITLE_WEIGHT = 0.6
# A sentence supports an answer if it covers this much of the question, and this of the best one.
_SUPPORT_FLOOR = 0.5
_NEXT_TO_BEST = 0.85
# A hint is beside the point of an answered question under this share of it.
_HINT_FLOOR = 0.4
# A shorter sentence is a label or a fragment.
_MIN_WORDS = 4


@dataclass(frozen=True, slots=True)
class _SourceSentence:
    """A sentence of a source, and the terms of both it and its title."""

    source: str
    text: str
    terms: frozenset[str]
    title: frozenset[str]


def write_honest_draft(prompt: ParsedPrompt) -> dict[str, Any]:
    """A draft that keeps the contract; both lists are empty if nothing supports an answer."""
    wanted = list(dict.fromkeys(extract_terms(prompt.question)))
    claims = [
        {"text": s.text, "evidence": [{"source": s.source, "quote": s.text}]}
        for s in _best_sentences(wanted, list(_source_sentences(prompt)))
    ]
    routes = [hint.id for hint in prompt.hints if _hint_overlap(wanted, hint) >= _HINT_FLOOR]
    if not claims and not routes and wanted:
        routes = [hint.id for hint in prompt.hints]
    return {"claims": claims, "routes": routes[:MAX_ROUTES]}


def split_prompt_sentences(text: str) -> Iterator[str]:
    """The sentences of a text, verbatim, line by line."""
    for line in text.splitlines():
        for piece in sentencex.segment("en", line):
            if piece.strip():
                yield piece.strip()


def _source_sentences(prompt: ParsedPrompt) -> Iterator[_SourceSentence]:
    for source in prompt.sources:
        title = frozenset(extract_terms(source.title))
        for text in split_prompt_sentences(source.text):
            if len(text.split()) >= _MIN_WORDS and not text.endswith("?"):
                yield _SourceSentence(source.id, text, frozenset(extract_terms(text)), title)


def _best_sentences(
    wanted: Sequence[str], found: Sequence[_SourceSentence]
) -> list[_SourceSentence]:
    weights = {term: _sentence_idf(term, found) for term in wanted}
    total = sum(weights.values())
    if not total:
        return []
    scores = [_question_support(sentence, weights) / total for sentence in found]
    best = max(scores, default=0.0)
    chosen: dict[str, int] = {}
    for index in sorted(range(len(found)), key=lambda i: -scores[i]):
        if len(chosen) == MAX_CLAIMS or scores[index] < max(_SUPPORT_FLOOR, _NEXT_TO_BEST * best):
            break
        chosen.setdefault(found[index].text, index)
    return [found[index] for index in sorted(chosen.values())]


def _question_support(sentence: _SourceSentence, weights: dict[str, float]) -> float:
    own = sum(weight for term, weight in weights.items() if term in sentence.terms)
    # A sentence without a word of the question says nothing of it, whatever its title.
    rest = (w for term, w in weights.items() if term in sentence.title - sentence.terms)
    return own + _TITLE_WEIGHT * sum(rest) if own else 0.0


def _sentence_idf(term: str, found: Sequence[_SourceSentence]) -> float:
    holding = sum(term in sentence.terms for sentence in found)
    return math.log(1 + (len(found) - holding + 0.5) / (holding + 0.5))


def _hint_overlap(wanted: Iterable[str], hint: PromptHint) -> float:
    asked = set(wanted)
    surface = set(extract_terms(f"{hint.label} {hint.locator}"))
    return len(asked & surface) / len(asked) if asked else 0.0
