"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import scan, terms
from .bundle import Bundle, Name
from .phrases import fade, runs
from .types import Evidence, Passage, RoutingHint

TOP_K = 8
NAME_BOOST = 0.30
THEME_BOOST = 0.15
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12

T = TypeVar("T", Passage, RoutingHint)


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """A candidate and the parts of its score.

    ``base`` is the score before the boost; ``lexical`` is 0 for a hint, which has no terms.
    """

    item: T
    score: float
    base: float
    lexical: float
    dense: float


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


@dataclass(frozen=True, slots=True)
class Ranking:
    """One stream's scores, (n,) each, and which rows are above the floor."""

    score: NDArray[np.float32]
    base: NDArray[np.float32]
    lexical: NDArray[np.float32]
    dense: NDArray[np.float32]
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
        )


def content_terms(bundle: Bundle, question: str) -> list[str]:
    """The question's terms that the bundle could know: stems in a script its pages use.

    A site of notes alone has no pages to tell its scripts by, so every script counts.
    """
    return [
        term
        for term in terms.read(question, bundle.site.language)
        if not bundle.site.scripts or terms.scripts(term) <= bundle.site.scripts
    ]


def retrieve(
    bundle: Bundle, question: str, vector: NDArray[np.float32], top_k: int = TOP_K
) -> Retrieved:
    """Rank both streams for a question.

    vector: (d,) float32, of the bundle's identity; its length does not matter.
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
    return Retrieved(
        _passages(bundle, passages, passages.kept, top_k),
        _hints(bundle, hints, hints.kept, top_k),
        _passages(bundle, passages, ~passages.kept, top_k),
        _hints(bundle, hints, ~hints.kept, top_k),
    )


def rank_passages(
    bundle: Bundle, question: str, vector: NDArray[np.float32], words: Sequence[str]
) -> Ranking:
    """Every passage's scores. vector: of length 1; words: the question's content terms."""
    profile = bundle.manifest.profile
    dense = scan.cosines(bundle.passage_vectors, vector)
    lexical = scan.lexical(bundle.postings, words)
    if profile.hybrid == 0:
        base = dense
    else:
        weighted = profile.hybrid * lexical + profile.dense * dense
        base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    score = base + _boosts(bundle, question)[bundle.passage_records]
    floored = score if profile.hybrid == 0 else base
    return Ranking(score, base, lexical, dense, floored >= profile.floor)


def _rank_hints(bundle: Bundle, vector: NDArray[np.float32]) -> Ranking:
    """A hint's score is the best cosine of its windows."""
    windows = scan.cosines(bundle.hint_vectors, vector)
    dense = np.full(len(bundle.hints), -1.0, dtype=np.float32)
    np.maximum.at(dense, bundle.hint_owners, windows)
    nothing = np.zeros_like(dense)
    return Ranking(dense, dense, nothing, dense, dense >= bundle.manifest.profile.note_floor)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Authored names by their phrases, and how many words those have."""

    names: Mapping[str, Name]
    lengths: tuple[int, ...]

    def named(self, question: str) -> Iterable[Name]:
        """The names that a question uses as whole phrases."""
        found = self.names.keys() & set(runs(question, self.lengths))
        return [self.names[phrase] for phrase in found]


@lru_cache(maxsize=8)
def _phrases(bundle: Bundle) -> tuple[_Phrases, _Phrases]:
    """A bundle's names and themes, whose phrases a build has normalised."""
    return _by_phrase(bundle.names), _by_phrase(bundle.themes)


def _by_phrase(names: Iterable[Name]) -> _Phrases:
    by_phrase = {name.phrase: name for name in names if name.phrase}
    return _Phrases(by_phrase, tuple({len(phrase.split()) for phrase in by_phrase}))


def _boosts(bundle: Bundle, question: str) -> NDArray[np.float32]:
    """What the question's authored names add to each record, (records,) float32."""
    boosts = np.zeros(len(bundle.record_ids), dtype=np.float32)
    for phrases, boost in zip(_phrases(bundle), (NAME_BOOST, THEME_BOOST), strict=True):
        best = np.zeros_like(boosts)
        for name in phrases.named(question):
            rows = list(name.records)
            best[rows] = np.maximum(best[rows], boost * _fade(bundle, name))
        boosts += best
    return boosts


def _fade(bundle: Bundle, name: Name) -> float:
    if not bundle.manifest.profile.theme_fade:
        return 1.0
    return fade(name.frequency, len(bundle.record_ids))


def _passages(
    bundle: Bundle, ranking: Ranking, wanted: NDArray[np.bool_], top_k: int
) -> tuple[Scored[Passage], ...]:
    return tuple(ranking.scored(row, bundle.passage(row)) for row in ranking.top(wanted, top_k))


def _hints(
    bundle: Bundle, ranking: Ranking, wanted: NDArray[np.bool_], top_k: int
) -> tuple[Scored[RoutingHint], ...]:
    return tuple(ranking.scored(row, bundle.hints[row]) for row in ranking.top(wanted, top_k))
