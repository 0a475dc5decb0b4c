"""Whether the gold set can tell a database from the bundle that was published to it."""

from ..serve import providers
from ..serve.bundle import Bundle
from ..serve.embedder import Embedder
from ..serve.store import Store
from . import gate, runner
from .gate import Case


def flipped(case: Case, embedder: Embedder, bundle: Bundle, store: Store) -> dict[str, str]:
    """The ids of the queries that a store has made worse, and how."""
    before, after = (providers.engine(each, embedder) for each in (bundle, store))
    found: dict[str, str] = {}
    for query, vector in zip(case.queries, runner.embed(case.queries, before), strict=True):
        one, other = (
            runner.judged(query, vector, engine, case.notes, full=case.answers(query))
            for engine in (before, after)
        )
        if flips := gate.flips(one, other):
            found[query.id] = ", ".join(flips)
    return found
