"""The gold set, run: retrieval alone or the whole engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..serve import questions, selection
from ..serve.bundle import Bundle
from ..serve.embedder import Embedder, Vectors
from ..serve.engine import Engine
from ..serve.recipe import Scored
from ..serve.retrieval import TOP_K, Retrieved, retrieve
from ..serve.types import Mode, Passage, RoutingHint
from . import judge
from .gold import GoldQuery

Candidate = Scored[Passage] | Scored[RoutingHint]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one query. ``mode`` is None where no answer was asked for.

    ``refused``: nothing was above the floors. ``top_expected``: the best candidate is one of the
    sources that the query expects.
    """

    query: GoldQuery
    issues: tuple[str, ...]
    top_id: str | None
    top_score: float
    mode: Mode | None
    refused: bool
    top_expected: bool

    @property
    def passed(self) -> bool:
        return not self.issues


def run(
    queries: Sequence[GoldQuery], engine: Engine, notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; all of them are embedded in one call.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    for query, vector in zip(queries, embed(queries, engine.embedder), strict=True):
        yield judged(query, vector, engine, notes, full=full)


def embed(queries: Sequence[GoldQuery], embedder: Embedder) -> Vectors:
    """The questions' vectors, (len(queries), dimensions), by one call."""
    return embedder.embed([questions.clean(query.query) for query in queries])


def judged(
    query: GoldQuery,
    vector: NDArray[np.float32],
    engine: Engine,
    notes: Mapping[str, str],
    *,
    full: bool,
) -> Verdict:
    """Judge one query by what it retrieves. vector: of its question, (dimensions,)."""
    question = questions.clean(query.query)
    pool = retrieve(engine.bundle, question, vector, selection.POOL, near=TOP_K)
    retrieved = pool.best(TOP_K)
    items = ranked(retrieved)

    def is_source(item: judge.Item, source: str) -> bool:
        return judge.names(item, source, notes)

    issues = judge.retrieval(query, items, is_source)
    mode = None
    if full:
        reply = engine.answer_from(question, pool)
        issues += judge.answer(query, judge.outcome(reply, engine.bundle.site.route))
        mode = reply.answer.mode
    return Verdict(
        query,
        tuple(issues),
        items[0].id if items else None,
        top_score(retrieved),
        mode,
        refused=not items,
        top_expected=any(is_source(items[0], s) for s in query.expect_sources) if items else False,
    )


def ranked(retrieved: Retrieved) -> list[judge.Item]:
    """Both streams as one list, best score first; on equal scores passages lead."""
    scored: list[Candidate] = [*retrieved.passages, *retrieved.hints]
    return [item.item for item in sorted(scored, key=lambda item: -item.score)]


def top_score(retrieved: Retrieved) -> float:
    """The best score before boosts of any candidate, which is what the floors are held against."""
    candidates: list[Candidate] = [
        *retrieved.passages,
        *retrieved.hints,
        *retrieved.near_passages,
        *retrieved.near_hints,
    ]
    return max((candidate.base for candidate in candidates), default=0.0)


def known_sources(bundle: Bundle, notes: Mapping[str, str]) -> frozenset[str]:
    """Every name that a gold source may have: records, passages, paths of notes."""
    return frozenset(bundle.record_ids) | set(bundle.passage_ids) | set(notes)
