"""The keyless answerer: the best supporting sentences, verbatim, and where else to look."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import provided, scan, terms
from .embedder import Embedder, Vectors
from .frozen import frozen
from .recipe import name_terms
from .store import Store
from .types import Evidence, Passage

MAX_CLAIMS = 3
MAX_ROUTES = 2
# Passages whose readings are kept: some 20 KB each.
KEPT = 512

# The notebook alone answers where its best cosine leads the best passage's by this much.
ROUTES_ONLY_LEAD = 0.10
# A note that lags the best passage by more than this is beside the point of an answered question.
ROUTES_LAG = 0.15
# A sentence backs an answer if it scores at least this, and this share of the best one. On CLAPnq
# a stricter share loses answers to sentences that merely repeat the question.
SUPPORT_FLOOR = 0.34
NEXT_TO_BEST = 0.60
# What each further passage's sentences count for, relative to the one ranked above it.
RANK_DECAY = 0.95
# A sentence shorter than this is a label or a fragment.
MIN_WORDS = 4
# A sentence that leads into code is quoted with it up to this many characters of code; what
# leads into more is quoted alone and counts for less.
MAX_CODE = 400
WITHOUT_CODE = 0.8

Vector = NDArray[np.float32]

_QUESTIONS = ("?", "？", "؟")
_LEAD_INS = (":", "：", "...", "…")


@frozen
class _Sentence:
    """A sentence of a passage: which one, where, and how well it supports an answer."""

    rank: int
    start: int
    text: str
    support: float


@frozen
class _Statement:
    """What may be quoted: where, the sentence that is scored, and what its score counts for."""

    start: int
    sentence: str
    text: str
    weight: float = 1.0


@frozen
class _Reading:
    """What a passage states, the terms of each statement, and their vectors, (n, d)."""

    statements: tuple[_Statement, ...]
    terms: tuple[frozenset[str], ...]
    vectors: Vectors | None


@frozen
class ExtractiveAnswerer:
    """Quotes sentences by the score that retrieval uses, one sentence at a time.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. No supporting sentence and no hint: it declines.
    """

    store: Store
    embedder: Embedder

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """A draft of verbatim sentences; it needs no second attempt, so violation is unused."""
        del violation
        routes = [f"h{n}" for n in range(1, min(len(evidence.hints), MAX_ROUTES) + 1)]
        if routes and evidence.lead >= ROUTES_ONLY_LEAD:
            return {"claims": [], "routes": routes}
        claims = [_claim(sentence) for sentence in self._best(question, evidence.passages)]
        if claims and evidence.lead < -ROUTES_LAG:
            routes = []
        return {"claims": claims, "routes": routes}

    def _best(self, question: str, passages: Sequence[Passage]) -> list[_Sentence]:
        sentences = sorted(self._supports(question, passages), key=lambda s: -s.support)
        chosen: dict[str, _Sentence] = {}
        for sentence in sentences:
            if len(chosen) == MAX_CLAIMS or sentence.support < SUPPORT_FLOOR:
                break
            if sentence.support >= NEXT_TO_BEST * sentences[0].support:
                chosen.setdefault(sentence.text, sentence)
        return sorted(chosen.values(), key=lambda s: (s.rank, s.start))

    def _supports(self, question: str, passages: Sequence[Passage]) -> Iterator[_Sentence]:
        idfs = {tag: self._idfs(question, tag) for tag in {each.language for each in passages}}
        vector = self.embedder.embed([question])[0] if self._is_local else None
        for rank, passage in enumerate(passages):
            reading = self._reading(passage)
            scores = self._scores(reading, idfs[passage.language], vector)
            for statement, score in zip(reading.statements, scores, strict=True):
                support = score * statement.weight * RANK_DECAY**rank
                yield _Sentence(rank, statement.start, statement.text, support)

    def _scores(
        self, reading: _Reading, idfs: Mapping[str, float], vector: Vector | None
    ) -> list[float]:
        """The share of the question's idf that each statement covers, and its cosine if known."""
        total = sum(idfs.values()) or 1.0
        scores = np.array(
            [sum(w for term, w in idfs.items() if term in held) / total for held in reading.terms]
        )
        if vector is not None and reading.vectors is not None:
            weight = self.store.manifest.profile.dense
            scores = (scores + weight * (reading.vectors @ vector)) / (1 + weight)
        return [float(score) for score in scores]

    @cached_property
    def _reading(self) -> Callable[[Passage], _Reading]:
        """Reads a passage, and keeps some."""
        return lru_cache(maxsize=KEPT)(self._read)

    def _read(self, passage: Passage) -> _Reading:
        statements = tuple(_statements(passage))
        # A sentence is read under its headings, whose words it rarely repeats.
        read = [f"{passage.title}\n{statement.sentence}" for statement in statements]
        held = tuple(frozenset(terms.read(text, passage.language)) for text in read)
        return _Reading(statements, held, self.embedder.embed(read) if self._is_local else None)

    @property
    def _is_local(self) -> bool:
        # With a remote embedder a call for every question's sentences would cost more than it adds.
        return provided.embeds_here(self.embedder.identity.provider)

    def _idfs(self, question: str, language: str) -> dict[str, float]:
        own = (e for e in self.store.site.languages if e.tag == language)
        listed = terms.read(question, language)
        postings = self.store.postings_of(listed)
        rows = next(((e.first, e.end) for e in own), (0, len(postings.lengths)))
        return scan.idfs(postings, listed, rows, name_terms(self.store, language))


def _statements(passage: Passage) -> Iterator[_Statement]:
    """What a passage states; a sentence that leads into what is not code states nothing."""
    starts = [start for start, _ in passage.sentences]
    edges = [*starts, len(passage.text)][1:]
    for (start, end), edge in zip(passage.sentences, edges, strict=True):
        sentence = passage.text[start:end]
        if terms.count_words(sentence) < MIN_WORDS or sentence.endswith(_QUESTIONS):
            continue
        if not sentence.endswith(_LEAD_INS):
            yield _Statement(start, sentence, sentence)
        elif code := _code(passage.text[end:edge]):
            if len(code) <= MAX_CODE:
                yield _Statement(start, sentence, passage.text[start:edge].rstrip())
            else:
                yield _Statement(start, sentence, sentence, WITHOUT_CODE)


def _code(between: str) -> str:
    """The code between two sentences, as far as there is some: only code has no sentences."""
    return between.strip() if between.startswith("\n\n") else ""


def _claim(sentence: _Sentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "evidence": [{"source": f"s{sentence.rank + 1}", "quote": sentence.text}],
    }
