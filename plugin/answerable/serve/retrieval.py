"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import candidates, codes, hint_words, languages, recipe, scan
from .bundle import Bundle
from .frozen import frozen
from .question_reading import Reading
from .recipe import Ranking, Scored
from .remarks import Remark
from .store import Floats, Signals, Store, Wanted
from .types import Evidence, Passage, RoutingHint

TOP_K = 8
# Of so many pages, so many other passages are looked at, and those are siblings whose score misses
# the floor by this much at most. Measured on two sites: docs/tune.md has the table.
SIBLING_PAGES = 3
MAX_SIBLINGS = 24
SIBLING_SLACK = 0.16
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12


@frozen
class Retrieved:
    """Both streams, best first, and the best candidates under each floor (for maintainers).

    ``siblings`` are other passages of the best pages, a little under the floor: the floor tells
    whether a page answers, and the section score which of its sections does.
    ``question``: in the site's spelling, as an answerer is given it, None where it is not known.
    ``remarks``: what a reader is told of its words.
    """

    passages: tuple[Scored[Passage], ...] = ()
    hints: tuple[Scored[RoutingHint], ...] = ()
    near_passages: tuple[Scored[Passage], ...] = ()
    near_hints: tuple[Scored[RoutingHint], ...] = ()
    siblings: tuple[Scored[Passage], ...] = ()
    question: str | None = None
    remarks: tuple[Remark, ...] = ()

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
            self.siblings,
            self.question,
            self.remarks,
        )


def retrieve(
    store: Store,
    reading: Reading,
    vector: Floats,
    top_k: int = TOP_K,
    language: str | None = None,
    near: int = 0,
) -> Retrieved:
    """Rank both streams for a question.

    vector: (d,) float32, of the bundle's identity, of the reading's text; its length does not
    matter.
    language: what is asked in. Where passages in it are above the floor, all others are left out.
    near: how many candidates under each floor are wanted too.
    A question without content terms retrieves nothing.
    """
    if not reading.terms:
        return Retrieved(remarks=reading.remarks)
    unit = query(store, vector)
    readable = _readable(store, language)
    given = recipe.signals(store, reading.question, reading.terms)
    found = store.passage_candidates(Wanted(unit, given, readable, top_k, near))
    profile = store.manifest.profile
    passages = recipe.ranked(profile, found.rows, found.cosines, given.of(found.rows))
    hints = _scored_hints(store, reading, unit, top_k + near)
    wanted = passages.kept & readable[passages.rows]
    if not wanted.any():
        wanted = passages.kept
    siblings = _rank_siblings(store, given, unit, passages, passages.first(wanted, top_k))
    everything = np.ones(len(siblings.rows), dtype=np.bool_)
    texts = store.passages_at(
        [
            *passages.first(wanted, top_k),
            *passages.first(~passages.kept, near),
            *siblings.first(everything, MAX_SIBLINGS),
        ]
    )
    surfaces = store.hints_at([*hints.first(hints.kept, top_k), *hints.first(~hints.kept, near)])
    return Retrieved(
        passages.best(wanted, top_k, texts.__getitem__),
        hints.best(hints.kept, top_k, surfaces.__getitem__),
        passages.best(~passages.kept, near, texts.__getitem__),
        hints.best(~hints.kept, near, surfaces.__getitem__),
        siblings.best(everything, MAX_SIBLINGS, texts.__getitem__),
        reading.question,
        reading.remarks,
    )


def _rank_siblings(
    store: Store, given: Signals, unit: Floats, ranked: Ranking, first: Sequence[int]
) -> Ranking:
    """Score the passages beside the best ones on their pages. first: rows, best first.

    Only those that hold a word of the question, in the hybrid recipe, where the floor is of words.
    """
    profile = store.manifest.profile
    records = store.passage_records
    pages = list(dict.fromkeys(records[first].tolist()))[:SIBLING_PAGES] if profile.hybrid else []
    beside = np.isin(records, pages) & (given.lexical > 0)
    beside[ranked.rows[ranked.kept]] = False
    rows = np.sort(scan.top(given.lexical, MAX_SIBLINGS, beside))
    found = store.passage_cosines(unit, rows)
    scored = recipe.ranked(profile, found.rows, found.cosines, given.of(found.rows))
    return scored.where(scored.base >= profile.floor - SIBLING_SLACK)


def query(store: Store, vector: Floats) -> Floats:
    """An embedded question as a site's codes are asked: their dimensions, of length 1."""
    if vector.shape != (store.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {store.manifest.identity.dimensions}-d rows"
        )
    if not np.isfinite(vector).all():
        raise ValueError("a query with a number that is not finite")
    kept = vector[: store.manifest.encoding.dimensions]
    unit: Floats = kept / max(float(np.linalg.norm(kept)), _TINY)
    return unit


def rank_passages(bundle: Bundle, reading: Reading, vector: Floats) -> Ranking:
    """The scores of every passage. vector: (d,), of the reading's text."""
    rows = np.arange(len(bundle.passage_ids))
    dense = codes.cosines(bundle.passage_codes, query(bundle, vector))
    given = recipe.signals(bundle, reading.question, reading.terms)
    return recipe.ranked(bundle.manifest.profile, rows, dense, given)


def rank_hints(bundle: Bundle, reading: Reading, vector: Floats) -> Floats:
    """The score of every hint, (hints,). vector: (d,), of the reading's text."""
    return hint_cosines(bundle, vector) + _label_scores(bundle, reading)


def hint_cosines(bundle: Bundle, vector: Floats) -> Floats:
    """The cosine of every hint, (hints,): the best of its windows. vector: (d,)."""
    cosines = codes.cosines(bundle.hint_codes, query(bundle, vector))
    return candidates.best_of(bundle.hint_owners, cosines, len(bundle.hints))


def _readable(store: Store, language: str | None) -> NDArray[np.bool_]:
    """Which passages are in a language that the asker can read, (n,); none if none is given."""
    own = np.zeros(len(store.passage_records), dtype=np.bool_)
    tags = languages.matching(language, store.site.tags)
    for each in store.site.languages:
        if each.tag in tags:
            own[each.first : each.end] = True
    return own


def _scored_hints(store: Store, reading: Reading, unit: Floats, count: int) -> Ranking:
    """The hints that may come first, by their cosines and the words of what is public of them."""
    added = _label_scores(store, reading)
    found = store.hint_candidates(unit, added, count)
    dense, nothing = found.cosines, np.zeros_like(found.cosines)
    lexical = added[found.rows]
    score = dense + lexical
    kept = score >= store.manifest.profile.note_floor
    return Ranking(found.rows, score, score, lexical, dense, nothing, nothing, kept)


def _label_scores(store: Store, reading: Reading) -> Floats:
    if not store.manifest.profile.hybrid:
        return np.zeros(store.manifest.counts["hints"], dtype=np.float32)
    return hint_words.score_labels(store, recipe.weigh_terms(store, reading.terms))
