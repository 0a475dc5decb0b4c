"""The keyless answerer: the best supporting sentences, verbatim, and where else to look."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import scan, terms
from .bundle import Bundle
from .embedder import Embedder
from .frozen import frozen
from .recipe import name_terms
from .types import Evidence, Passage

MAX_CLAIMS = 3
MAX_ROUTES = 2

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
class ExtractiveAnswerer:
    """Quotes sentences by the score that retrieval uses, one sentence at a time.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. No supporting sentence and no hint: it declines.
    """

    bundle: Bundle
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
        found = [
            (rank, passage, statement)
            for rank, passage in enumerate(passages)
            for statement in _statements(passage)
        ]
        if not found:
            return
        # A sentence is read under its headings, whose words it rarely repeats.
        read = [f"{passage.title}\n{statement.sentence}" for _, passage, statement in found]
        languages = [passage.language for _, passage, _ in found]
        scores = self._coverage(question, list(zip(languages, read, strict=True)))
        if self.embedder.identity.provider == "local":
            # With a remote embedder a call for every question's sentences would cost more than
            # it adds.
            vectors = self.embedder.embed([question, *read])
            weight = self.bundle.manifest.profile.dense
            scores = (scores + weight * (vectors[1:] @ vectors[0])) / (1 + weight)
        for (rank, _, statement), score in zip(found, scores, strict=True):
            support = float(score) * statement.weight * RANK_DECAY**rank
            yield _Sentence(rank, statement.start, statement.text, support)

    def _coverage(self, question: str, texts: Sequence[tuple[str, str]]) -> np.ndarray[Any, Any]:
        """The share of the question's idf that each text covers, (texts,) in [0, 1].

        texts: (language, text); a question is read in the language of the text.
        """
        weights = {language: self._idfs(question, language) for language, _ in texts}
        totals = {language: sum(found.values()) or 1.0 for language, found in weights.items()}
        held = ((language, set(terms.read(text, language))) for language, text in texts)
        return np.array(
            [
                sum(w for t, w in weights[language].items() if t in h) / totals[language]
                for language, h in held
            ]
        )

    def _idfs(self, question: str, language: str) -> dict[str, float]:
        own = (e for e in self.bundle.site.languages if e.tag == language)
        rows = next(((e.first, e.end) for e in own), (0, len(self.bundle.postings.lengths)))
        names = name_terms(self.bundle, language)
        return scan.idfs(self.bundle.postings, terms.read(question, language), rows, names)


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
