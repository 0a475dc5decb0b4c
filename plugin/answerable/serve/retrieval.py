"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import boosts, languages, recency, scan, terms
from .bundle import Bundle
from .derived import once
from .types import Evidence, Passage, RoutingHint

TOP_K = 8
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12

T = TypeVar("T", Passage, RoutingHint)


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """A candidate and the parts of its score.

    ``base`` is the score before ``boost``, which is what names and themes add; ``score`` also has
    what being new adds and the weight of the record. ``lexical`` is 0 for a hint, which has no
    terms.
    """

    item: T
    score: float
    base: float
    lexical: float
    dense: float
    boost: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Both streams, best first, and the best candidates under each floor (for maintainers)."""

    passages: tuple[Scored[Passage], ...] = ()
    hints: tuple[Scored[RoutingHint], ...] = ()
    near_passages: tuple[Scored[Passage], ...] = ()
    near_hints: tuple[Scored[RoutingHint], ...] = ()

    @property
    def evidence(self) -> Evidence:
        """What an answerer may see of this."""
        lead = max((hint.dense for hint in self.hints), default=0.0) - max(
            (passage.dense for passage in self.passages), default=0.0
        )
        return Evidence(
            tuple(scored.item for scored in self.passages),
            tuple(scored.item for scored in self.hints),
            lead,
        )

    def best(self, count: int) -> "Retrieved":
        """What so small a ``top_k`` would have retrieved."""
        return Retrieved(
            self.passages[:count],
            self.hints[:count],
            self.near_passages[:count],
            self.near_hints[:count],
        )


@dataclass(frozen=True, slots=True)
class Ranking:
    """One stream's scores, (n,) each, and which rows are above the floor."""

    score: NDArray[np.float32]
    base: NDArray[np.float32]
    lexical: NDArray[np.float32]
    dense: NDArray[np.float32]
    boost: NDArray[np.float32]
    kept: NDArray[np.bool_]

    def top(self, wanted: NDArray[np.bool_], count: int) -> list[int]:
        """The best ``count`` of the wanted rows; equal scores keep the order of the rows."""
        rows = np.flatnonzero(wanted)
        order = np.argsort(-self.score[rows], kind="stable")[:count]
        return [int(row) for row in rows[order]]

    def scored(self, row: int, item: T) -> Scored[T]:
        return Scored(
            item,
            score=float(self.score[row]),
            base=float(self.base[row]),
            lexical=float(self.lexical[row]),
            dense=float(self.dense[row]),
            boost=float(self.boost[row]),
        )


def content_terms(bundle: Bundle, question: str) -> Mapping[str, list[str]]:
    """The question's terms by the languages of the site, without a language that has none.

    A term counts if the bundle could know it: a stem in a script its pages use. A site of notes
    alone has no pages to tell its scripts by, so every script counts.
    """
    scripts = bundle.site.scripts
    read = {
        tag: [
            term
            for term in terms.read(question, tag)
            if not scripts or terms.scripts(term) <= scripts
        ]
        for tag in bundle.site.tags
    }
    return {tag: found for tag, found in read.items() if found}


def retrieve(
    bundle: Bundle,
    question: str,
    vector: NDArray[np.float32],
    top_k: int = TOP_K,
    language: str | None = None,
) -> Retrieved:
    """Rank both streams for a question.

    vector: (d,) float32, of the bundle's identity; its length does not matter.
    language: what is asked in. Where passages in it are above the floor, all others are left out.
    A question without content terms retrieves nothing.
    """
    if vector.shape != (bundle.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {bundle.manifest.identity.dimensions}-d rows"
        )
    words = content_terms(bundle, question)
    if not words:
        return Retrieved()
    unit = vector / max(float(np.linalg.norm(vector)), _TINY)
    passages = rank_passages(bundle, question, unit, words)
    hints = _rank_hints(bundle, unit)
    wanted = _preferred(bundle, passages.kept, language)
    return Retrieved(
        _passages(bundle, passages, wanted, top_k),
        _hints(bundle, hints, hints.kept, top_k),
        _passages(bundle, passages, ~passages.kept, top_k),
        _hints(bundle, hints, ~hints.kept, top_k),
    )


def _preferred(bundle: Bundle, kept: NDArray[np.bool_], language: str | None) -> NDArray[np.bool_]:
    """The rows in the asker's language among those above the floor; all of them if there is none.

    (n,) bool, as ``kept``.
    """
    readable = languages.matching(language, bundle.site.tags)
    own = np.zeros_like(kept)
    for each in bundle.site.languages:
        if each.tag in readable:
            own[each.first : each.end] = kept[each.first : each.end]
    return own if own.any() else kept


def rank_passages(
    bundle: Bundle,
    question: str,
    vector: NDArray[np.float32],
    words: Mapping[str, Sequence[str]],
) -> Ranking:
    """Every passage's scores. vector: of length 1; words: the question's content terms.

    The floor is held against the score before boosts in the hybrid recipe, and never against what
    being new or a record's weight makes of it.
    """
    profile = bundle.manifest.profile
    dense = scan.cosines(bundle.passage_vectors, vector)
    lexical = _lexical(bundle, words)
    if profile.hybrid == 0:
        base = dense
    else:
        weighted = profile.hybrid * lexical + profile.dense * dense
        base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    boost = boosts.of(bundle, question)[bundle.passage_records]
    floored = base + boost if profile.hybrid == 0 else base
    score = base + boost
    if recency.is_about_now(question, bundle.site.tags):
        score = (
            score + np.float32(profile.recency) * recency.freshness(bundle)[bundle.passage_records]
        )
    score = score * bundle.weights[bundle.passage_records]
    return Ranking(score, base, lexical, dense, boost, floored >= profile.floor)


def _lexical(bundle: Bundle, words: Mapping[str, Sequence[str]]) -> NDArray[np.float32]:
    """Each language is a corpus of its own, whose words a question is read with."""
    scores = np.zeros(len(bundle.postings.lengths), dtype=np.float32)
    for each in bundle.site.languages:
        scores[each.first : each.end] = scan.lexical(
            bundle.postings,
            words.get(each.tag, ()),
            (each.first, each.end),
            name_terms(bundle, each.tag),
        )
    return scores


@once
def name_terms(bundle: Bundle, language: str) -> frozenset[str]:
    """The terms of what the site and its author are called, which no page need hold."""
    return frozenset(term for name in bundle.site.names for term in terms.read(name, language))


def _rank_hints(bundle: Bundle, vector: NDArray[np.float32]) -> Ranking:
    """A hint's score is the best cosine of its windows."""
    windows = scan.cosines(bundle.hint_vectors, vector)
    dense = np.full(len(bundle.hints), -1.0, dtype=np.float32)
    np.maximum.at(dense, bundle.hint_owners, windows)
    nothing = np.zeros_like(dense)
    kept = dense >= bundle.manifest.profile.note_floor
    return Ranking(dense, dense, nothing, dense, nothing, kept)


def _passages(
    bundle: Bundle, ranking: Ranking, wanted: NDArray[np.bool_], top_k: int
) -> tuple[Scored[Passage], ...]:
    return tuple(ranking.scored(row, bundle.passage(row)) for row in ranking.top(wanted, top_k))


def _hints(
    bundle: Bundle, ranking: Ranking, wanted: NDArray[np.bool_], top_k: int
) -> tuple[Scored[RoutingHint], ...]:
    return tuple(ranking.scored(row, bundle.hints[row]) for row in ranking.top(wanted, top_k))
