"""The gold set, run: retrieval alone or the whole engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..serve import questions, selection
from ..serve.bundle import Bundle
from ..serve.embedder import Vectors
from ..serve.engine import Engine
from ..serve.recipe import Scored
from ..serve.retrieval import TOP_K, Retrieved, retrieve
from ..serve.types import Mode, Passage, Reason, RoutingHint
from . import judge, scores
from .gold import GoldQuery

Candidate = Scored[Passage] | Scored[RoutingHint]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one query. ``mode`` is None where no answer was asked for.

    ``refused``: nothing was above the floors. ``top_expected``: the best candidate is one of the
    sources that the query expects. ``ranks``: where each of its sources stands among what was
    retrieved, from 1, None if it was not. The scores are the best of either stream, floor or no
    floor, as the floors are held against them. ``claims`` survived the contract, ``dropped`` did
    not.
    """

    query: GoldQuery
    issues: tuple[str, ...]
    top_id: str | None
    mode: Mode | None
    refused: bool
    top_expected: bool
    passage_score: float = 0.0
    hint_score: float = 0.0
    ranks: tuple[int | None, ...] = ()
    reason: Reason | None = None
    claims: int = 0
    dropped: int = 0

    @property
    def passed(self) -> bool:
        return not self.issues


def run(
    queries: Sequence[GoldQuery], engine: Engine, notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; all of them are embedded in one call.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    for query, vector in zip(queries, embed(queries, engine), strict=True):
        asked = engine.bundle, engine.read(questions.clean(query.query)), vector
        yield replace(
            judged(query, vector, engine, notes, full=full),
            passage_score=_best(scores.passage_scores(*asked)),
            hint_score=_best(scores.hint_scores(*asked)),
        )


def embed(queries: Sequence[GoldQuery], engine: Engine) -> Vectors:
    """Embed the questions as a site reads them, (len(queries), dimensions), by one call."""
    return engine.embedder.embed(
        [engine.read(questions.clean(query.query)).text for query in queries]
    )


def judged(
    query: GoldQuery,
    vector: NDArray[np.float32],
    engine: Engine,
    notes: Mapping[str, str],
    *,
    full: bool,
) -> Verdict:
    """Judge one query by what it retrieves; its scores, which take every row, are left at 0.

    vector: of its question, (dimensions,).
    """
    question = questions.clean(query.query)
    reading = engine.read(question)
    pool = retrieve(engine.store, reading, vector, selection.POOL, query.language, near=TOP_K)
    retrieved = pool.best(TOP_K)
    items = ranked(retrieved)

    def is_source(item: judge.Item, source: str) -> bool:
        return judge.names(item, source, notes)

    issues = judge.retrieval(query, items, is_source)
    reply = engine.answer_from(question, pool) if full else None
    if reply:
        issues += judge.answer(query, judge.outcome(reply, engine.store.site.route))
    ranks = {source: _rank(items, source, notes) for source in query.sources}
    return Verdict(
        query,
        tuple(issues),
        items[0].id if items else None,
        reply.answer.mode if reply else None,
        refused=not items,
        top_expected=any(ranks[source] == 1 for source in query.expect_sources),
        ranks=tuple(ranks.values()),
        reason=reply.reason if reply else None,
        claims=len(reply.answer.claims) if reply else 0,
        dropped=reply.answer.dropped if reply else 0,
    )


def ranked(retrieved: Retrieved) -> list[judge.Item]:
    """Both streams as one list, best score first; on equal scores passages lead."""
    scored: list[Candidate] = [*retrieved.passages, *retrieved.hints]
    return [item.item for item in sorted(scored, key=lambda item: -item.score)]


def _rank(items: Sequence[judge.Item], source: str, notes: Mapping[str, str]) -> int | None:
    found = (n for n, item in enumerate(items, 1) if judge.names(item, source, notes))
    return next(found, None)


def _best(found: Vectors) -> float:
    """The best score of a stream, 0 where there is none."""
    return float(found.max(initial=0.0))


def known_sources(bundle: Bundle, notes: Mapping[str, str]) -> frozenset[str]:
    """Every name that a gold source may have: records, passages, paths of notes."""
    return frozenset(bundle.record_ids) | set(bundle.passage_ids) | set(notes)
