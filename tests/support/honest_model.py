"""A scripted model: read the data lines of a prompt, quote the sentences that support an answer."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from answerable.engine.text.markdown import Block
from answerable.engine.text.sentences import split_sentences
from answerable.indexing.stems import extract_stems

MAX_CLAIMS = 3
MAX_ROUTES = 2
# A sentence answers if it covers this share of the question, and this one of the best sentence;
# the words of its title count less than its own. A hint is on the subject from its own share on.
_FLOOR, _NEXT_TO_BEST, _TITLE_WEIGHT, _HINT_FLOOR = 0.5, 0.85, 0.6, 0.4


class PromptSource(NamedTuple):
    """A quotable text under its title."""

    id: str
    title: str
    text: str


class PromptHint(NamedTuple):
    """The public surface of a private note: its label and its locator."""

    id: str
    label: str
    locator: str


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A request as a scripted model sees it: ``text`` is the whole user message."""

    text: str
    question: str = ""
    sources: tuple[PromptSource, ...] = ()
    hints: tuple[PromptHint, ...] = ()
    violation: str | None = None
    schema: Mapping[str, Any] | None = None


ScriptedModel = Callable[[ParsedPrompt], str]


def parse_prompt(texts: Iterable[str], schema: Mapping[str, Any] | None = None) -> ParsedPrompt:
    """Parse the evidence and the question of user messages; lines that are no data are skipped."""
    text = "\n".join(texts)
    sources: dict[str, PromptSource] = {}
    hints: dict[str, PromptHint] = {}
    last: dict[str, str] = {}
    for line in parse_data_lines(text):
        values = {key: value for key, value in line.items() if isinstance(value, str)}
        kind, name, words = (values.get(key, "") for key in ("kind", "id", "text"))
        if kind == "source" and name:
            sources.setdefault(name, PromptSource(name, values.get("title", ""), words))
        elif kind == "hint" and name:
            hint = PromptHint(name, values.get("label", ""), values.get("locator", ""))
            hints.setdefault(name, hint)
        else:
            last[kind] = words
    evidence = tuple(sources.values()), tuple(hints.values())
    return ParsedPrompt(text, last.get("question", ""), *evidence, last.get("violation"), schema)


def parse_data_lines(text: str) -> Iterator[dict[str, Any]]:
    """Parse the lines of a text that are JSON objects; only a line feed ends a line."""
    for line in text.split("\n"):
        try:
            value = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def split_prompt_sentences(text: str) -> Iterator[str]:
    """Split a text into sentences, verbatim, line by line."""
    for line in text.splitlines():
        for start, end in split_sentences(Block("text", line)):
            yield line[start:end]


def write_honest_draft(prompt: ParsedPrompt) -> dict[str, Any]:
    """Quote the sentences that support an answer best; both lists are empty if none does."""
    terms = list(dict.fromkeys(extract_stems(prompt.question)))
    quotes = _choose_sentences(terms, prompt.sources)
    claims = [{"text": q, "evidence": [{"source": s, "quote": q}]} for s, q in quotes]
    routes = [hint.id for hint in prompt.hints if _cover(terms, hint) >= _HINT_FLOOR]
    if not claims and not routes and terms:
        routes = [hint.id for hint in prompt.hints]
    return {"claims": claims, "routes": routes[:MAX_ROUTES], "complete": bool(claims)}


def honest_model(prompt: ParsedPrompt) -> str:
    """Write an honest draft with the properties that the request's schema has."""
    draft = write_honest_draft(prompt)
    names = (prompt.schema or {}).get("properties", draft)
    return json.dumps({name: value for name, value in draft.items() if name in names})


def _choose_sentences(
    terms: Sequence[str], sources: Iterable[PromptSource]
) -> list[tuple[str, str]]:
    """Pick the best supported sentences with their sources, in the order of the sources."""
    sentences = [
        (source, text, set(extract_stems(text)))
        for source in sources
        for text in split_prompt_sentences(source.text)
        if len(text.split()) > 3 and not text.endswith("?")
    ]
    weights = {}
    for term in terms:
        count = sum(term in own for _, _, own in sentences)
        weights[term] = math.log(1 + (len(sentences) - count + 0.5) / (count + 0.5))
    scores = []
    for source, _, own in sentences:
        support = sum(weights[term] for term in own.intersection(terms))
        titled = set(extract_stems(source.title)).intersection(terms) - own
        # A sentence without a word of the question says nothing of it, whatever its title.
        score = support + _TITLE_WEIGHT * sum(weights[term] for term in titled) if support else 0
        scores.append(score / sum(weights.values()) if terms else 0)
    floor = max(_FLOOR, _NEXT_TO_BEST * max(scores, default=0))
    best: dict[str, int] = {}
    for index in sorted(range(len(sentences)), key=lambda number: -scores[number]):
        if scores[index] >= floor and len(best) < MAX_CLAIMS:
            best.setdefault(sentences[index][1], index)
    return [(sentences[index][0].id, sentences[index][1]) for index in sorted(best.values())]


def _cover(terms: Sequence[str], hint: PromptHint) -> float:
    surface = set(extract_stems(f"{hint.label} {hint.locator}"))
    return len(surface.intersection(terms)) / max(1, len(terms))
