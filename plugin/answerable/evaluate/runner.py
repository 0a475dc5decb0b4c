"""The gold set, run: retrieval alone or the whole engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..serve import questions, selection
from ..serve.bundle import Bundle
from ..serve.engine import Engine
from ..serve.retrieval import TOP_K, Retrieved, Scored, retrieve
from ..serve.types import Mode, Passage, RoutingHint
from . import judge
from .gold import GoldQuery

Candidate = Scored[Passage] | Scored[RoutingHint]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one query. ``mode`` is None where no answer was asked for."""

    query: GoldQuery
    issues: tuple[str, ...]
    top_id: str | None
    top_score: float
    mode: Mode | None

    @property
    def passed(self) -> bool:
        return not self.issues


def run(
    queries: Sequence[GoldQuery], engine: Engine, notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; all of them are embedded in one call.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    asked = [questions.clean(query.query) for query in queries]
    vectors = engine.embedder.embed(asked)
    for query, question, vector in zip(queries, asked, vectors, strict=True):
        pool = retrieve(engine.bundle, question, vector, selection.POOL)
        retrieved = pool.best(TOP_K)
        items = ranked(retrieved)
        issues = judge.retrieval(
            query, items, lambda item, source: judge.names(item, source, notes)
        )
        mode = None
        if full:
            reply = engine.answer_from(question, pool)
            issues += judge.answer(query, judge.outcome(reply, engine.bundle.site.route))
            mode = reply.answer.mode
        top = items[0].id if items else None
        yield Verdict(query, tuple(issues), top, top_score(retrieved), mode)


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
    rows = range(bundle.manifest.counts["passages"])
    return frozenset(bundle.record_ids) | {bundle.passage(row).id for row in rows} | set(notes)
