"""The gate of a build: the gold set judges what is retrieved before anything is published."""

from collections.abc import Sequence
from pathlib import Path

from ..engine.embedders.embedder import Embedder
from ..engine.providers import make_engine
from ..engine.stores.bundle import Bundle
from .gold import GoldQuery
from .report import Verdict
from .runner import run_gold_queries
from .sources import NoteSources, check_gold_sources, list_public_sources


def judge_bundle(
    bundle: Bundle,
    embedder: Embedder,
    queries: Sequence[GoldQuery],
    gold_file: Path,
    notes: NoteSources,
) -> list[Verdict]:
    """Judge what is retrieved from a bundle.

    Queries that need a model are left out. GoldError for a source that the index lacks.
    """
    check_gold_sources(queries, gold_file, list_public_sources(bundle), notes)
    runnable = [query for query in queries if not query.requires_model]
    engine = make_engine(bundle, embedder)
    return list(run_gold_queries(runnable, engine, notes.ids, full=False))
