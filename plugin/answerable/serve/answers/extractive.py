"""Answerer without a language model: quote verbatim excerpts, and point to up to two notes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embedders.embedder import Embedder
from ..provider_registry import embeds_in_process
from ..retrieval.question import QuestionReading, read_question
from ..retrieval.scoring import score_codes
from ..retrieval.selection import SAME_QUESTION_BONUS, WINDOW_SUFFIX
from ..retrieval.store import Store
from ..structure import BARE
from ..text.tokenization import extract_words
from ..types import Evidence, Passage
from ..vectors import Int8Codes, quantize_int8
from .confidence import is_direct_answer
from .excerpts import Excerpt, ExcerptBudget, cut_excerpt

MAX_DRAFT_ROUTES = 2
# How many passages' statements are cached: some 20 KB each.
CACHED_PASSAGES = 512

# The notebook alone answers where its best cosine leads the best passage's by this much.
ROUTES_ONLY_LEAD = 0.10
# A note that lags the best passage by more than this does not belong beside claims.
ROUTES_LAG = 0.15
# A section is shown if its best statement supports an answer at least this much.
SUPPORT_FLOOR = 0.34
# A further one is shown if its best statement has at least this share of the first one's support.
MIN_SHARE_OF_FIRST = 0.60
# The lengths of the excerpts that are shown, best first; where the first is sure, it is alone.
EXCERPT_BUDGETS = (ExcerptBudget(125, 14), ExcerptBudget(60, 11), ExcerptBudget(60, 9))
# The weight of the support of a section's best statement, added to its section score.
SUPPORT_WEIGHT = 1.0

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _EmbeddedStatements:
    """Hold the words of each of a passage's statements, and the 8-bit codes of their vectors."""

    words: tuple[frozenset[str], ...]
    codes: Int8Codes | None


@dataclass(frozen=True, slots=True)
class _RatedSection:
    """Hold a passage of the evidence and how well its statements support an answer.

    ``number``: its position in the evidence, from 1. ``best`` is the support of the best statement
    that can be quoted alone, ``value`` orders the sections.
    """

    number: int
    passage: Passage
    supports: tuple[float, ...]
    best: float
    value: float


@dataclass(frozen=True, slots=True)
class _SectionExcerpt:
    """Hold a section and the excerpt of it that is shown."""

    section: _RatedSection
    excerpt: Excerpt


# No slots: cached_property stores its value in the instance.
@dataclass(frozen=True)
class ExtractiveAnswerer:
    """Quote what a person would copy from the best sections, one excerpt where it is sure.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. Without a supporting statement and a hint it declines.
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

    @property
    def max_evidence_characters(self) -> int | None:
        """Return None: it quotes what is above the floor."""
        return None

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft verbatim excerpts; it needs no second attempt, so violation is unused."""
        del violation
        routes = [f"h{n}" for n in range(1, min(len(evidence.hints), MAX_DRAFT_ROUTES) + 1)]
        if routes and evidence.lead >= ROUTES_ONLY_LEAD:
            return {"claims": [], "routes": routes}
        claims = self._draft_claims(question, evidence)
        if claims and evidence.lead < -ROUTES_LAG:
            routes = []
        return {"claims": claims, "routes": routes}

    def _draft_claims(self, question: str, evidence: Evidence) -> list[dict[str, Any]]:
        claims: dict[str, list[_SectionExcerpt]] = {}
        for each in self._cut_excerpts(question, evidence):
            claims.setdefault(each.section.passage.url, []).append(each)
        return [_draft_claim(windows) for windows in claims.values()]

    def _cut_excerpts(self, question: str, evidence: Evidence) -> Iterator[_SectionExcerpt]:
        """Cut the excerpts that are shown, best first: one where it is sure, else up to three."""
        # Evidence that nothing was retrieved for, such as a test's, says nothing of the question.
        read = evidence if evidence.idfs else read_question(self.store, question)
        statements: set[str] = set()
        # Windows of one section share the room of one claim.
        shown: Counter[str] = Counter()
        min_support, count = SUPPORT_FLOOR, 0
        for section in self._rate_sections(question, evidence, read):
            passage, language = section.passage, section.passage.language
            weights, forms = read.idfs[language], read.forms[language]
            whole = EXCERPT_BUDGETS[count]
            budget = replace(whole, visible=whole.visible - shown[passage.url])
            excerpt = cut_excerpt(passage, section.supports, weights, budget, statements, forms)
            # What its author says that a section answers needs no support of words.
            is_known = section.value > SAME_QUESTION_BONUS
            if excerpt is None or (section.best < min_support and not is_known):
                continue
            yield _SectionExcerpt(section, excerpt)
            count += 1
            shown[passage.url] += excerpt.visible
            min_support = max(min_support, MIN_SHARE_OF_FIRST * section.best)
            statements.update(excerpt.statements)
            is_sure = count == 1 and is_direct_answer(
                question, weights, forms, passage, excerpt.text
            )
            if is_sure or count == len(EXCERPT_BUDGETS):
                return

    def _rate_sections(
        self, question: str, evidence: Evidence, read: Evidence | QuestionReading
    ) -> list[_RatedSection]:
        vector = None
        if self._is_local and evidence.vector is not None:
            vector = np.array(evidence.vector, dtype=np.float32)
        elif self._is_local:
            vector = self.embedder.embed([question])[0]
        sections: list[_RatedSection] = []
        for number, passage in enumerate(evidence.passages, 1):
            matched = evidence.terms[number - 1] if evidence.terms else frozenset()
            own = self._embed_cached(passage)
            weights, forms = read.idfs[passage.language], read.forms[passage.language]
            supports = self._rate_statements(own, weights, forms, vector, matched)
            pairs = zip(passage.statements, supports, strict=True)
            quotable = (support for statement, support in pairs if not statement.flags & BARE)
            best = max(quotable, default=0.0)
            score = evidence.section_scores[number - 1] if evidence.section_scores else 0.0
            value = score + SUPPORT_WEIGHT * best
            sections.append(_RatedSection(number, passage, supports, best, value))
        return sorted(sections, key=lambda section: -section.value)

    def _rate_statements(
        self,
        statements: _EmbeddedStatements,
        weights: Mapping[str, float],
        forms: Mapping[str, str],
        vector: Vector | None,
        matched: frozenset[str],
    ) -> tuple[float, ...]:
        """Rate each statement by its share of the question's idf, and by its cosine if known.

        matched: the question's terms in the passage's retrieval text. Those that no statement has
        are in its page's summary or themes, and count for every statement.
        """
        terms_by_statement = [
            {forms.get(word, word) for word in words} for words in statements.words
        ]
        total = sum(weights.values()) or 1.0
        described = matched - frozenset().union(*terms_by_statement)
        scores = np.array(
            [
                sum(w for term, w in weights.items() if term in terms or term in described) / total
                for terms in terms_by_statement
            ]
        )
        if vector is not None and statements.codes is not None:
            dense = self.store.manifest.profile.dense
            cosines = score_codes(statements.codes, vector, np.arange(len(scores)))
            scores = (scores + dense * cosines.astype(np.float64)) / (1 + dense)
        return tuple(float(score) for score in scores)

    @cached_property
    def _embed_cached(self) -> Callable[[Passage], _EmbeddedStatements]:
        """Embed the statements of a passage, or return them from a cache."""
        return lru_cache(maxsize=CACHED_PASSAGES)(self._embed_statements)

    def _embed_statements(self, passage: Passage) -> _EmbeddedStatements:
        """Read the words of each statement of a passage, and embed each where that is free."""
        texts = list_statement_texts(passage)
        words = tuple(frozenset(extract_words(text, passage.language)) for text in texts)
        is_embedded = self._is_local and bool(texts)
        codes = embed_statements(self.embedder, texts) if is_embedded else None
        return _EmbeddedStatements(words, codes)

    @cached_property
    def _is_local(self) -> bool:
        # With a remote embedder a call for every question's sentences would cost more than it adds.
        return embeds_in_process(self.embedder.identity.provider)


def list_statement_texts(passage: Passage) -> list[str]:
    """List the texts by which the statements of a passage are matched, one for each.

    A statement rarely repeats its headings and its tab's or term's label, so they are added.
    """
    texts = []
    for statement in passage.statements:
        words = passage.text[statement.start : statement.end]
        if statement.label >= 0 and statement.kind != "label":
            label = passage.blocks[statement.label]
            words = f"{passage.text[label.start : label.end]}\n{words}"
        texts.append(f"{passage.title}\n{words}")
    return texts


def embed_statements(embedder: Embedder, texts: Sequence[str]) -> Int8Codes:
    """Embed the texts of statements as 8-bit codes."""
    return quantize_int8(embedder.embed(texts))


def _draft_claim(excerpts: Sequence[_SectionExcerpt]) -> dict[str, Any]:
    """Draft a claim of the windows of one section, in the order of the page."""

    def window(excerpt: _SectionExcerpt) -> int:
        match = WINDOW_SUFFIX.search(excerpt.section.passage.id)
        return int(match[1]) if match else 1

    ordered = sorted(excerpts, key=window)
    return {
        "text": "\n…\n".join(each.excerpt.text for each in ordered),
        "evidence": [
            {"source": f"s{each.section.number}", "quote": part, "start": start}
            for each in ordered
            for part, start in zip(each.excerpt.parts, each.excerpt.starts, strict=True)
        ],
    }
