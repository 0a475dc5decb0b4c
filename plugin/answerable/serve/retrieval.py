"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import codes, languages, recipe, scan, terms
from .bundle import Bundle
from .frozen import frozen
from .recipe import Floats, Ranking, Scored, Signals
from .types import Evidence, Passage, RoutingHint

TOP_K = 8
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12


@frozen
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
    vector: Floats,
    top_k: int = TOP_K,
    language: str | None = None,
    near: int = 0,
) -> Retrieved:
    """Rank both streams for a question.

    vector: (d,) float32, of the bundle's identity; its length does not matter.
    language: what is asked in. Where passages in it are above the floor, all others are left out.
    near: how many candidates under each floor are wanted too.
    A question without content terms retrieves nothing.
    """
    words = content_terms(bundle, question)
    if not words:
        return Retrieved()
    unit = query(bundle, vector)
    readable = _readable(bundle, language)
    given = recipe.signals(bundle, question, words)
    passages = _candidates(bundle, unit, given, readable, top_k, near)
    hints = _hint_candidates(bundle, unit, top_k + near)
    wanted = passages.kept & readable[passages.rows]
    if not wanted.any():
        wanted = passages.kept
    return Retrieved(
        passages.best(wanted, top_k, bundle.passage),
        hints.best(hints.kept, top_k, bundle.hints.row),
        passages.best(~passages.kept, near, bundle.passage),
        hints.best(~hints.kept, near, bundle.hints.row),
    )


def query(bundle: Bundle, vector: Floats) -> Floats:
    """An embedded question as the bundle's codes are asked: their dimensions, of length 1."""
    if vector.shape != (bundle.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {bundle.manifest.identity.dimensions}-d rows"
        )
    if not np.isfinite(vector).all():
        raise ValueError("a query with a number that is not finite")
    kept = vector[: bundle.manifest.encoding.dimensions]
    unit: Floats = kept / max(float(np.linalg.norm(kept)), _TINY)
    return unit


def rank_passages(
    bundle: Bundle, question: str, vector: Floats, words: Mapping[str, Sequence[str]]
) -> Ranking:
    """The scores of every passage. vector: (d,); words: the question's content terms."""
    rows = np.arange(len(bundle.passage_ids))
    dense = codes.cosines(bundle.passage_codes, query(bundle, vector))
    given = recipe.signals(bundle, question, words)
    return recipe.ranked(bundle.manifest.profile, rows, dense, given)


def rank_hints(bundle: Bundle, vector: Floats) -> Floats:
    """The cosine of every hint, (hints,): the best of its windows. vector: (d,)."""
    cosines = codes.cosines(bundle.hint_codes, query(bundle, vector))
    return _best_of(bundle.hint_owners, cosines, len(bundle.hints))


def _candidates(
    bundle: Bundle,
    unit: Floats,
    given: Signals,
    readable: NDArray[np.bool_],
    top_k: int,
    near: int,
) -> Ranking:
    """The passages that may come first, by the estimate of all, scored against the float query.

    Among them the best that the asker can read, and so many of the best under the floor.
    """
    stream, profile = bundle.passage_codes, bundle.manifest.profile
    everything = np.arange(len(given.weight))
    guessed = recipe.ranked(profile, everything, stream.estimate(unit), given, stream.slack(unit))
    likely = guessed.kept
    pool = max(stream.pool, top_k)
    chosen = [scan.top(guessed.score, pool, among) for among in (likely, likely & readable)]
    if near:
        chosen.append(scan.top(guessed.score, near, ~likely))
    is_picked = np.zeros(len(everything), dtype=np.bool_)
    for rows in chosen:
        is_picked[rows] = True
    picked = np.flatnonzero(is_picked)
    return recipe.ranked(profile, picked, stream.score(unit, picked), given.of(picked))


def _readable(bundle: Bundle, language: str | None) -> NDArray[np.bool_]:
    """Which passages are in a language that the asker can read, (n,); none if none is given."""
    own = np.zeros(len(bundle.passage_ids), dtype=np.bool_)
    tags = languages.matching(language, bundle.site.tags)
    for each in bundle.site.languages:
        if each.tag in tags:
            own[each.first : each.end] = True
    return own


def _hint_candidates(bundle: Bundle, unit: Floats, count: int) -> Ranking:
    """The hints that may come first, scored. A hint's score is the best cosine of its windows."""
    owners, stream = bundle.hint_owners, bundle.hint_codes
    guessed = _best_of(owners, stream.estimate(unit), len(bundle.hints))
    picked = np.sort(scan.top(guessed, max(stream.pool, count)))
    is_picked = np.zeros(len(guessed), dtype=np.bool_)
    is_picked[picked] = True
    windows = np.flatnonzero(is_picked[owners])
    dense = _best_of(owners[windows], stream.score(unit, windows), len(bundle.hints))[picked]
    nothing = np.zeros_like(dense)
    kept = dense >= bundle.manifest.profile.note_floor
    return Ranking(picked, dense, dense, nothing, dense, nothing, kept)


def _best_of(owners: NDArray[np.uint32], cosines: Floats, hints: int) -> Floats:
    """The best cosine of each hint's windows, (hints,)."""
    best = np.full(hints, -1.0, dtype=np.float32)
    np.maximum.at(best, owners, cosines)
    return best
