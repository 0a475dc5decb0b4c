"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import boosts, codes, languages, recency, scan, terms
from .bundle import Bundle
from .derived import once
from .frozen import frozen
from .profile import Profile
from .types import Evidence, Passage, RoutingHint

TOP_K = 8
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12

T = TypeVar("T", Passage, RoutingHint)

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@frozen
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


@frozen
class Ranking:
    """Scores of some rows of a stream, (k,) each, and which of them are above the floor."""

    rows: Rows
    score: Floats
    base: Floats
    lexical: Floats
    dense: Floats
    boost: Floats
    kept: NDArray[np.bool_]

    def best(
        self, wanted: NDArray[np.bool_], count: int, item: Callable[[int], T]
    ) -> tuple[Scored[T], ...]:
        """The best ``count`` of the wanted ones. item: of a row."""
        return tuple(
            Scored(
                item(int(self.rows[place])),
                score=float(self.score[place]),
                base=float(self.base[place]),
                lexical=float(self.lexical[place]),
                dense=float(self.dense[place]),
                boost=float(self.boost[place]),
            )
            for place in scan.top(self.score, count, wanted)
        )


@frozen
class Signals:
    """All but the cosine that counts for a passage, (n,) each."""

    lexical: Floats
    boost: Floats
    fresh: Floats
    weight: Floats

    def of(self, rows: Rows) -> "Signals":
        """Those of some rows."""
        return Signals(self.lexical[rows], self.boost[rows], self.fresh[rows], self.weight[rows])


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
    given = signals(bundle, question, words)
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
    kept = vector[: bundle.manifest.encoding.dimensions]
    unit: Floats = kept / max(float(np.linalg.norm(kept)), _TINY)
    return unit


def rank_passages(
    bundle: Bundle, question: str, vector: Floats, words: Mapping[str, Sequence[str]]
) -> Ranking:
    """The scores of every passage. vector: (d,); words: the question's content terms."""
    rows = np.arange(len(bundle.passage_ids))
    dense = codes.cosines(bundle.passage_codes, query(bundle, vector))
    return _ranked(bundle.manifest.profile, rows, dense, signals(bundle, question, words))


def signals(bundle: Bundle, question: str, words: Mapping[str, Sequence[str]]) -> Signals:
    """What a question's words, names and time count for each passage."""
    records = bundle.passage_records
    fresh = np.zeros(len(records), dtype=np.float32)
    if recency.is_about_now(question, bundle.site.tags):
        newness = np.float32(bundle.manifest.profile.recency)
        fresh = newness * recency.freshness(bundle)[records]
    return Signals(
        _lexical(bundle, words),
        boosts.of(bundle, question)[records],
        fresh,
        bundle.weights[records],
    )


def _ranked(
    profile: Profile, rows: Rows, dense: Floats, given: Signals, slack: float = 0
) -> Ranking:
    """The recipe. slack: by how much a score may miss the floor.

    The floor is held against the score before boosts in the hybrid recipe, and never against what
    being new or a record's weight makes of it.
    """
    base = dense
    if profile.hybrid:
        weighted = profile.hybrid * given.lexical + profile.dense * dense
        base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    boosted = base + given.boost
    score = (boosted + given.fresh) * given.weight
    floored = base if profile.hybrid else boosted
    kept = floored >= profile.floor - slack
    return Ranking(rows, score, base, given.lexical, dense, given.boost, kept)


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
    guessed = _ranked(profile, everything, stream.estimate(unit), given, stream.slack)
    likely = guessed.kept
    pool = max(stream.pool, top_k)
    chosen = [scan.top(guessed.score, pool, among) for among in (likely, likely & readable)]
    if near:
        chosen.append(scan.top(guessed.score, near, ~likely))
    is_picked = np.zeros(len(everything), dtype=np.bool_)
    for rows in chosen:
        is_picked[rows] = True
    picked = np.flatnonzero(is_picked)
    return _ranked(profile, picked, stream.score(unit, picked), given.of(picked))


def _readable(bundle: Bundle, language: str | None) -> NDArray[np.bool_]:
    """Which passages are in a language that the asker can read, (n,); none if none is given."""
    own = np.zeros(len(bundle.passage_ids), dtype=np.bool_)
    tags = languages.matching(language, bundle.site.tags)
    for each in bundle.site.languages:
        if each.tag in tags:
            own[each.first : each.end] = True
    return own


def _lexical(bundle: Bundle, words: Mapping[str, Sequence[str]]) -> Floats:
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
