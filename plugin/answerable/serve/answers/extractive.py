"""The keyless answerer: verbatim excerpts of the best sections, and where else to look."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embedders.embedder import Embedder, Vectors
from ..provider_registry import is_embedder_local
from ..retrieval.question import read_content_terms, weigh_terms
from ..retrieval.store import Store
from ..text.tokenization import extract_terms
from ..types import Evidence, Passage
from .confidence import is_direct_answer
from .excerpts import MAX_VISIBLE_CHARACTERS, Excerpt, ExcerptBudget, cut_excerpt
from .statements import PassageStatements, Statement, is_quotable_alone, split_statements

MAX_DRAFT_ROUTES = 2
# Passages whose readings are kept: some 20 KB each.
CACHED_PASSAGES = 512

# The notebook alone answers where its best cosine leads the best passage's by this much.
ROUTES_ONLY_LEAD = 0.10
# A note that lags the best passage by more than this is beside the point of an answered question.
ROUTES_LAG = 0.15
# A section is shown if its best statement backs an answer at least this much.
SUPPORT_FLOOR = 0.34
# A further one is shown if its best statement does so at least this much of the first one's.
MIN_SHARE_OF_FIRST = 0.60
# How long the excerpts are that are shown, best first; where the first is sure, it is alone.
EXCERPT_BUDGETS = (ExcerptBudget(125, 14), ExcerptBudget(60, 11), ExcerptBudget(60, 9))
# What the best statement of a section counts for, beside its section score.
SUPPORT_WEIGHT = 1.0

Vector = NDArray[np.float32]

_WINDOW = re.compile(r"~(\d+)$")


@dataclass(frozen=True, slots=True)
class _ReadPassage:
    """A passage's statements, the terms of each, and their vectors, (n, d)."""

    reading: PassageStatements
    terms: tuple[frozenset[str], ...]
    vectors: Vectors | None


@dataclass(frozen=True, slots=True)
class _RatedSection:
    """A passage of the evidence and how well its statements back an answer.

    ``best`` is the support of the best that can be quoted alone, ``value`` orders the sections.
    """

    number: int
    passage: Passage
    supports: tuple[float, ...]
    best: float
    value: float


@dataclass(frozen=True, slots=True)
class _SectionExcerpt:
    """A section and what is shown of it."""

    section: _RatedSection
    excerpt: Excerpt


# No slots: cached_property keeps what it has computed in the instance.
@dataclass(frozen=True)
class ExtractiveAnswerer:
    """Quote what a person would copy from the best sections, one excerpt where it is sure.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. No supporting statement and no hint: it declines.
    """

    store: Store
    embedder: Embedder

    @property
    def label(self) -> str:
        """Name the answerer: its answers depend on nothing but the bundle."""
        return "extractive"

    @property
    def max_question_tokens(self) -> int:
        """Return 0: it runs in the process and costs nothing."""
        return 0

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft verbatim excerpts; it needs no second attempt, so violation is unused."""
        del violation
        routes = [f"h{n}" for n in range(1, min(len(evidence.hints), MAX_DRAFT_ROUTES) + 1)]
        if routes and evidence.lead >= ROUTES_ONLY_LEAD:
            return {"claims": [], "routes": routes}
        claims = self._claims(question, evidence)
        if claims and evidence.lead < -ROUTES_LAG:
            routes = []
        return {"claims": claims, "routes": routes}

    def _claims(self, question: str, evidence: Evidence) -> list[dict[str, Any]]:
        """Draft a claim for each section of which something is shown."""
        claims: dict[str, list[_SectionExcerpt]] = {}
        for shown in self._shown(question, evidence):
            windows = claims.setdefault(shown.section.passage.url, [])
            if sum(each.excerpt.visible for each in (*windows, shown)) > MAX_VISIBLE_CHARACTERS:
                windows = claims.setdefault(shown.section.passage.id, [])
            windows.append(shown)
        return [_draft_claim(windows) for windows in claims.values()]

    def _shown(self, question: str, evidence: Evidence) -> Iterator[_SectionExcerpt]:
        """Cut the excerpts that are shown, best first: one where it is sure, else up to three."""
        weights = evidence.idfs or weigh_terms(self.store, read_content_terms(self.store, question))
        statements: set[str] = set()
        least, count = SUPPORT_FLOOR, 0
        for section in self._sections(question, evidence, weights):
            passage, own = section.passage, weights[section.passage.language]
            excerpt = cut_excerpt(
                passage, section.supports, own, EXCERPT_BUDGETS[count], statements
            )
            if excerpt is None or section.best < least:
                continue
            yield _SectionExcerpt(section, excerpt)
            count += 1
            least = max(least, MIN_SHARE_OF_FIRST * section.best)
            statements.update(excerpt.statements)
            is_sure = count == 1 and is_direct_answer(question, own, passage, excerpt.text)
            if is_sure or count == len(EXCERPT_BUDGETS):
                return

    def _sections(
        self,
        question: str,
        evidence: Evidence,
        weights: Mapping[str, Mapping[str, float]],
    ) -> list[_RatedSection]:
        """The passages of the evidence in the order in which they are shown."""
        vector = evidence.vector if self._is_local else None
        if self._is_local and vector is None:
            vector = self.embedder.embed([question])[0]
        sections: list[_RatedSection] = []
        for number, passage in enumerate(evidence.passages, 1):
            own = weights[passage.language]
            described = evidence.terms[number - 1] if evidence.terms else frozenset()
            read = self._reading(passage)
            supports = self._supports(read, own, vector, described)
            best = _find_best_support(passage, read.reading, supports)
            score = evidence.section_scores[number - 1] if evidence.section_scores else 0.0
            value = score + SUPPORT_WEIGHT * best
            sections.append(_RatedSection(number, passage, supports, best, value))
        return sorted(sections, key=lambda section: -section.value)

    def _supports(
        self,
        read: _ReadPassage,
        idfs: Mapping[str, float],
        vector: Vector | None,
        retrieved: frozenset[str],
    ) -> tuple[float, ...]:
        """The share of the question's idf that each statement covers, and its cosine if known.

        retrieved: the question's terms that the passage was found by. Those that it does not hold
        itself are its page's summary or themes, which are said of every statement.
        """
        total = sum(idfs.values()) or 1.0
        described = retrieved - frozenset().union(*read.terms)
        scores = np.array(
            [
                sum(w for term, w in idfs.items() if term in held or term in described) / total
                for held in read.terms
            ]
        )
        if vector is not None and read.vectors is not None and len(scores):
            weight = self.store.manifest.profile.dense
            scores = (scores + weight * (read.vectors @ vector)) / (1 + weight)
        return tuple(float(score) for score in scores)

    @cached_property
    def _reading(self) -> Callable[[Passage], _ReadPassage]:
        """Reads a passage, and keeps some."""
        return lru_cache(maxsize=CACHED_PASSAGES)(self._read)

    def _read(self, passage: Passage) -> _ReadPassage:
        reading = split_statements(passage)
        texts = [_add_headings(passage, statement) for statement in reading.statements]
        held = tuple(frozenset(extract_terms(text, passage.language)) for text in texts)
        is_embedded = self._is_local and bool(texts)
        return _ReadPassage(reading, held, self.embedder.embed(texts) if is_embedded else None)

    @property
    def _is_local(self) -> bool:
        # With a remote embedder a call for every question's sentences would cost more than it adds.
        return is_embedder_local(self.embedder.identity.provider)


def _add_headings(passage: Passage, statement: Statement) -> str:
    """A statement under its headings and its tab's or term's label, which it rarely repeats."""
    words = passage.text[statement.start : statement.end]
    if statement.label < 0 or statement.kind == "label":
        return f"{passage.title}\n{words}"
    label = passage.blocks[statement.label]
    return f"{passage.title}\n{passage.text[label.start : label.end]}\n{words}"


def _find_best_support(
    passage: Passage, reading: PassageStatements, supports: Sequence[float]
) -> float:
    """The support of the best statement that can be quoted alone, 0 where there is none."""
    statements = zip(reading.statements, supports, strict=True)
    quotable = (s for statement, s in statements if is_quotable_alone(passage.text, statement))
    return max(quotable, default=0.0)


def _draft_claim(shown: Sequence[_SectionExcerpt]) -> dict[str, Any]:
    """A claim of the windows of one section, in the order of the page."""
    ordered = sorted(shown, key=lambda each: _parse_window_number(each.section.passage))
    return {
        "text": "\n…\n".join(each.excerpt.text for each in ordered),
        "evidence": [
            {"source": f"s{each.section.number}", "quote": part}
            for each in ordered
            for part in each.excerpt.parts
        ],
    }


def _parse_window_number(passage: Passage) -> int:
    """Which window of its section a passage is."""
    match = _WINDOW.search(passage.id)
    return int(match[1]) if match else 1
