"""Keyless replies as a reader sees them: the grade, the cards, open or folded, and the places.

The ask box groups an answer by the sections that it cites. The first card is open, and each other
one is folded to its best line, the first that has most of the question's words, unless it has one
line only. A click opens a card to its excerpt, and another one to the whole section. Under the
reply stand the sections that the search finds and no card cites. The rules are those of
`widget/ask-box/draw.js`, and the words that no question is about are those of its strings.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gold_spans import Gold
from scoring import share
from tables import Row

import answerable
from answerable.serve.answers.confidence import bucket_confidence
from answerable.serve.answers.wire import (
    MAX_PLACES,
    build_claim_blocks,
    name_grade,
    select_remarks,
    serialize_section,
)
from answerable.serve.engine import Engine
from answerable.serve.retrieval import selection
from answerable.serve.retrieval.question import Remark
from answerable.serve.types import Claim, Passage, Reply

Blocks = Sequence[dict[str, Any]]

UNSURE_GRADE = name_grade("low", written=False)

_STRINGS = Path(answerable.__file__).parent / "widget" / "strings" / "en.json"
_CONTENT_WORD = re.compile(r"[^\W_](?:\S*[^\W_]|\S*[+#])?")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
_ENDINGS = re.compile(r"(?<=..)(?:ies|y|e|s)+$")


@dataclass(frozen=True, slots=True)
class Card:
    """Hold a card: where it leads, what is seen of it at first, after a click, and after another.

    ``folded``: what is seen without a click, which is the excerpt of an open card.
    """

    url: str
    title: str
    folded: str
    excerpt: str
    section: str


@dataclass(frozen=True, slots=True)
class SeenReply:
    """Hold a reply as a reader sees it; ``grade`` is empty where no page answers."""

    reply: Reply
    grade: str
    cards: tuple[Card, ...]
    places: tuple[Passage, ...]
    remarks: tuple[Remark, ...]

    def list_pages(self, root: str) -> set[str]:
        """List the pages of cards and places as the questions name them. root: the site's path."""
        urls = [*(card.url for card in self.cards), *(place.url for place in self.places)]
        return {url.partition("#")[0].removeprefix(root) for url in urls}


def ask(engine: Engine, question: str) -> SeenReply:
    """Answer a question, and list the places under the reply."""
    pool = engine.retrieve(question, selection.POOL_SIZE)
    reply = engine.answer_from(pool)
    cited = {citation.url for citation in reply.citations}
    places = [scored.item for scored in engine.search(question) if scored.item.url not in cited]
    blocks = [build_claim_blocks(claim, reply.passages) for claim in reply.answer.claims]
    remarks = select_remarks(reply, pool.reading.remarks)
    spellings = [remark.replacement for remark in remarks if remark.replacement]
    return SeenReply(
        reply,
        name_grade(bucket_confidence(reply.confidence), written=reply.written) if blocks else "",
        tuple(_build_cards(engine, reply, blocks, list_content_words(question, *spellings))),
        tuple(places[:MAX_PLACES]),
        tuple(remarks),
    )


def _build_cards(
    engine: Engine, reply: Reply, blocks: Sequence[Blocks | None], words: Set[str]
) -> Iterator[Card]:
    """Build a card for each section; one for each claim, and all open, of an answer in prose."""
    sections: dict[tuple[object, ...], list[tuple[Claim, Blocks | None]]] = {}
    is_excerpt = all(blocks) and all(
        len({(citation.url, citation.title) for citation in claim.citations}) == 1
        for claim in reply.answer.claims
    )
    for number, (claim, structure) in enumerate(zip(reply.answer.claims, blocks, strict=True)):
        citation = claim.citations[0]
        key = (citation.url, citation.title) if is_excerpt else (number,)
        sections.setdefault(key, []).append((claim, structure))
    for place, parts in enumerate(sections.values()):
        citation = parts[0][0].citations[0]
        excerpt = "\n".join(claim.text for claim, _ in parts)
        lines = list_lines([block for _, structure in parts for block in structure or ()])
        is_folded = is_excerpt and place > 0 and len(lines) > 1
        best = max(lines, key=lambda line: len(words & set(_fold_words(line))), default="")
        section = serialize_section(engine.store, citation.id)
        folded = best if is_folded else excerpt
        whole = _join_lines(section["blocks"]) if section else excerpt
        yield Card(citation.url, citation.title, folded, excerpt, whole)


def measure(gold: Mapping[str, Gold], replies: Mapping[str, SeenReply]) -> Row:
    """Measure where the spans of the gold questions are seen; both by the question's id.

    Shares of the gold questions, of which a refusal is a miss: ``in_first_card``, in the excerpt of
    the first card; ``in_open_part``, in what is seen without a click; ``in_excerpts``, after every
    card is opened; ``in_sections``, after every card is opened to its whole section. ``upper``: how
    many of all replies are of the upper grade, answers to unanswerable questions included, and
    ``upper_without_span``: the share of these whose excerpts do not hold their spans.
    """

    def share_held(read: Callable[[SeenReply], Iterable[str]]) -> float | None:
        return share([row.is_held("\n".join(read(replies[name]))) for name, row in gold.items()])

    upper = {name: r for name, r in replies.items() if r.grade not in ("", UNSURE_GRADE)}
    return {
        "in_first_card": share_held(lambda reply: [card.excerpt for card in reply.cards[:1]]),
        "in_open_part": share_held(lambda reply: [card.folded for card in reply.cards]),
        "in_excerpts": share_held(_read_excerpts),
        "in_sections": share_held(lambda reply: [card.section for card in reply.cards]),
        "upper": len(upper),
        "upper_without_span": share(
            [
                name not in gold or not gold[name].is_held("\n".join(_read_excerpts(reply)))
                for name, reply in upper.items()
            ]
        ),
    }


def _read_excerpts(reply: SeenReply) -> list[str]:
    return [card.excerpt for card in reply.cards]


def list_content_words(question: str, *spellings: str) -> set[str]:
    """List the words that a question is about, or all where it is about none, without endings."""
    words = _CONTENT_WORD.findall(" ".join([question, *spellings]))
    stopwords = json.loads(_STRINGS.read_text(encoding="utf-8"))["stopwords"].split()
    content = [word for word in words if word.lower() not in stopwords]
    return set(_fold_words(" ".join(word for word in content or words)))


def _fold_words(text: str) -> Iterator[str]:
    return (_ENDINGS.sub("", word.lower()) for word in _WORD.findall(text) if len(word) > 1)


def list_lines(blocks: Blocks) -> list[str]:
    """List the sentences, items, rows and lines of code of blocks, without names of columns."""
    return [line for block in blocks for line in _iterate_lines(block) if line.strip()]


def _join_lines(blocks: Blocks) -> str:
    """Join all that is drawn of blocks, the names of columns included."""
    rows = [{"rows": [block.get("columns", ()), *block.get("rows", ())]} for block in blocks]
    return "\n".join(list_lines([block | own for block, own in zip(blocks, rows, strict=True)]))


def _iterate_lines(block: dict[str, Any]) -> Iterator[str]:
    yield from _SENTENCE_END.split(_join_spans(block.get("spans", ())))
    for item in block.get("items", ()):
        yield _join_spans(item["spans"])
    for cells in block.get("rows", ()):
        yield " · ".join(map(_join_spans, cells))
    yield from block.get("text", "").split("\n")


def _join_spans(spans: Blocks) -> str:
    return "".join(span["text"] for span in spans)
