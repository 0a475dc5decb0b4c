"""Scripted answer models: parse a prompt's sources and hints, write an honest or invented draft.

A model is a function from a parsed prompt to the text that it writes.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sentencex

from ..serve.text.tokenization import extract_terms

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

_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot)\b|n't\b", re.IGNORECASE)

# OpenAI's models that reason take an effort and no temperature.
_REASONING_NAMES = re.compile(r"o\d|gpt-[5-9](?!.*-chat)")
_PLAIN_NAMES = re.compile(r"gpt-|chatgpt-")


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A quotable text under its title."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptHint:
    """The public surface of a private note: its label and its locator."""

    id: str
    label: str
    locator: str


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A request as a scripted model sees it.

    ``text`` is the whole user message, ``schema`` the strict one that was sent, if any.
    """

    text: str
    question: str = ""
    sources: tuple[PromptSource, ...] = ()
    hints: tuple[PromptHint, ...] = ()
    violation: str | None = None
    schema: Mapping[str, Any] | None = None


ScriptedModel = Callable[[ParsedPrompt], str]


def parse_prompt(texts: Iterable[str], schema: Mapping[str, Any] | None = None) -> ParsedPrompt:
    """Parse the evidence and the question of user messages. Lines that are not data are skipped.

    Of two sources or hints with one id the first counts; of questions and violations the last.
    """
    text = "\n".join(texts)
    sources: dict[str, PromptSource] = {}
    hints: dict[str, PromptHint] = {}
    question, violation = "", None
    for line in _data_lines(text):
        values = {key: v if isinstance(v, str) else "" for key, v in line.items()}
        name = values.get("id", "")
        match values.get("kind"):
            case "source" if name:
                source = PromptSource(name, values.get("title", ""), values.get("text", ""))
                sources.setdefault(name, source)
            case "hint" if name:
                hint = PromptHint(name, values.get("label", ""), values.get("locator", ""))
                hints.setdefault(name, hint)
            case "violation":
                violation = values.get("text", "")
            case "question":
                question = values.get("text", "")
    return ParsedPrompt(
        text, question, tuple(sources.values()), tuple(hints.values()), violation, schema
    )


def write_honest_draft(prompt: ParsedPrompt) -> dict[str, Any]:
    """Quote the sentences that support an answer best; both lists are empty if none does."""
    terms = list(dict.fromkeys(extract_terms(prompt.question)))
    claims = [
        {"text": s.text, "evidence": [{"source": s.source, "quote": s.text}]}
        for s in _best_sentences(terms, list(_source_sentences(prompt)))
    ]
    routes = [hint.id for hint in prompt.hints if _hint_overlap(terms, hint) >= _HINT_FLOOR]
    if not claims and not routes and terms:
        routes = [hint.id for hint in prompt.hints]
    return {"claims": claims, "routes": routes[:MAX_ROUTES]}


def honest_model(prompt: ParsedPrompt) -> str:
    """Write an honest draft with the properties that the request's schema has."""
    draft = write_honest_draft(prompt)
    if prompt.schema:
        properties = prompt.schema.get("properties", {})
        draft = {name: value for name, value in draft.items() if name in properties}
    return json.dumps(draft)


def contrite_model(prompt: ParsedPrompt) -> str:
    """Invent a source at first; write an honest draft once the violation is pointed out."""
    if prompt.violation is not None:
        return honest_model(prompt)
    quote = next(
        (quote for source in prompt.sources for quote in split_prompt_sentences(source.text)),
        "There is no source.",
    )
    claim = {"text": quote, "evidence": [{"source": "s99", "quote": quote}]}
    return json.dumps({"claims": [claim], "routes": ["h99", "note:0123456789"]})


def honest_judge(prompt: ParsedPrompt) -> str:
    """Judge a claim by its quotes: no if negation differs, yes if they hold all its terms."""
    lines = list(_data_lines(prompt.text))
    quotes = " ".join(str(line["text"]) for line in lines if line.get("kind") == "quote")
    claim = " ".join(str(line["text"]) for line in lines if line.get("kind") == "claim")
    if _count_negations(claim) != _count_negations(quotes):
        support = "no"
    else:
        is_covered = set(extract_terms(claim)) <= set(extract_terms(quotes))
        support = "yes" if is_covered else "unclear"
    return json.dumps({"supported": support})


def lying_judge(prompt: ParsedPrompt) -> str:
    """Find every claim supported."""
    del prompt
    return json.dumps({"supported": "yes"})


# The models that every stub has; a name that it does not know is the honest one's.
SCRIPTED_MODELS: Mapping[str, ScriptedModel] = {
    "honest": honest_model,
    "contrite": contrite_model,
    "honest-judge": honest_judge,
    "lying-judge": lying_judge,
}


def _count_negations(text: str) -> int:
    return len(_NEGATION.findall(text))


def takes_reasoning_effort(name: str) -> bool:
    """Recognize OpenAI's models that take a reasoning effort and no temperature, by name."""
    return _REASONING_NAMES.match(name) is not None


def refuses_reasoning_effort(name: str) -> bool:
    """Recognize OpenAI's models that refuse a reasoning effort, by name."""
    return _PLAIN_NAMES.match(name) is not None and not takes_reasoning_effort(name)


def split_prompt_sentences(text: str) -> Iterator[str]:
    """Split a text into sentences, verbatim, line by line."""
    for line in text.splitlines():
        for piece in sentencex.segment("en", line):
            if piece.strip():
                yield piece.strip()


@dataclass(frozen=True, slots=True)
class _SourceSentence:
    """A sentence of a source, its terms and those of the source's title."""

    source: str
    text: str
    terms: frozenset[str]
    title_terms: frozenset[str]


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


def _source_sentences(prompt: ParsedPrompt) -> Iterator[_SourceSentence]:
    for source in prompt.sources:
        title_terms = frozenset(extract_terms(source.title))
        for text in split_prompt_sentences(source.text):
            if len(text.split()) >= _MIN_WORDS and not text.endswith("?"):
                terms = frozenset(extract_terms(text))
                yield _SourceSentence(source.id, text, terms, title_terms)


def _best_sentences(
    terms: Sequence[str], sentences: Sequence[_SourceSentence]
) -> list[_SourceSentence]:
    """Pick the best supported sentences, each text once, in the order of the sources."""
    weights = {term: _sentence_idf(term, sentences) for term in terms}
    total = sum(weights.values())
    if not total:
        return []
    scores = [_question_support(sentence, weights) / total for sentence in sentences]
    floor = max(_SUPPORT_FLOOR, _NEXT_TO_BEST * max(scores, default=0.0))
    best: dict[str, int] = {}
    for index in sorted(range(len(sentences)), key=lambda i: -scores[i]):
        if len(best) == MAX_CLAIMS or scores[index] < floor:
            break
        best.setdefault(sentences[index].text, index)
    return [sentences[index] for index in sorted(best.values())]


def _question_support(sentence: _SourceSentence, weights: Mapping[str, float]) -> float:
    support = sum(weight for term, weight in weights.items() if term in sentence.terms)
    # A sentence without a word of the question says nothing of it, whatever its title.
    only_in_title = sentence.title_terms - sentence.terms
    by_title = sum(weight for term, weight in weights.items() if term in only_in_title)
    return support + _TITLE_WEIGHT * by_title if support else 0.0


def _sentence_idf(term: str, sentences: Sequence[_SourceSentence]) -> float:
    frequency = sum(term in sentence.terms for sentence in sentences)
    return math.log(1 + (len(sentences) - frequency + 0.5) / (frequency + 0.5))


def _hint_overlap(terms: Sequence[str], hint: PromptHint) -> float:
    surface = set(extract_terms(f"{hint.label} {hint.locator}"))
    return len(surface.intersection(terms)) / len(terms) if terms else 0.0
