"""Verdicts of a gold set that fewer dimensions of vectors change, and the gate of a build."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.errors import GoldError
from ..engine.providers import make_engine
from ..engine.retrieval.retrieve import normalize_query
from ..engine.vectors import Embedder, Floats, Int8Codes, invert_row_norms
from .gold import GoldQuery
from .report import Verdict
from .runner import embed_queries, judge_query, run_gold_queries
from .sources import NoteSources, check_gold_sources, list_public_sources


@dataclass(frozen=True, slots=True)
class VerdictPair:
    """The verdicts of one query over a bundle, and over the same one with fewer dimensions.

    ``rho``: Spearman's correlation of the question's cosines with every row of the two.
    """

    before: Verdict
    after: Verdict
    rho: float

    @property
    def flips(self) -> bool:
        """True if only one of the verdicts holds."""
        return self.before.holds != self.after.holds


def compare_dimensions(
    bundle: Bundle,
    embedder: Embedder,
    queries: Sequence[GoldQuery],
    notes: Mapping[str, str],
    dimensions: int,
) -> Iterator[VerdictPair]:
    """Judge queries over a bundle and over its leading dimensions, embedded in one call.

    Answers are judged too, those without a model. notes: from a note's path to its id. GoldError
    for a number of dimensions that the bundle does not have.
    """
    before, after = (
        make_engine(store, embedder) for store in (bundle, cut_dimensions(bundle, dimensions))
    )
    for query, vector in zip(queries, embed_queries(queries, before), strict=True):
        full = not query.requires_model
        first, second = (
            judge_query(query, vector, engine, notes, full=full) for engine in (before, after)
        )
        cosines = (_compute_all_cosines(engine, vector) for engine in (before, after))
        yield VerdictPair(first, second, spearman_correlation(*cosines))


def cut_dimensions(bundle: Bundle, dimensions: int) -> Bundle:
    """Keep the leading dimensions of a bundle's vectors. GoldError for a number out of range."""
    if not 1 <= dimensions <= bundle.manifest.dimensions:
        raise GoldError(
            f"--dimensions: {dimensions} is not between 1 and {bundle.manifest.dimensions}, which "
            "the bundle has"
        )
    codes = []
    for stream in (bundle.index.codes, bundle.index.hint_codes):
        leading = stream.codes[:, :dimensions]
        codes.append(Int8Codes(leading, invert_row_norms(leading)))
    manifest = replace(bundle.manifest, dimensions=dimensions)
    return Bundle(manifest, replace(bundle.index, codes=codes[0], hint_codes=codes[1]))


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


def _compute_all_cosines(engine: Engine[Bundle], vector: Floats) -> Floats:
    """Compute the cosine of a question with every row of both streams."""
    bundle = engine.store
    unit = normalize_query(bundle, vector)
    streams = (bundle.index.codes, bundle.index.hint_codes)
    return np.concatenate([stream.score(unit) for stream in streams])


def spearman_correlation(first: Floats, second: Floats) -> float:
    """Correlate the ranks of two lists, (n,) each, where ties share the mean of their ranks.

    1 if there is no order to be kept, 0 if none of it is left.
    """
    first_ranks, second_ranks = _center_ranks(first), _center_ranks(second)
    if not first_ranks.any():
        return 1.0
    spread = float(first_ranks.std() * second_ranks.std())
    return float(np.mean(first_ranks * second_ranks) / spread) if spread else 0.0


def _center_ranks(values: Floats) -> NDArray[np.float64]:
    """Rank each value, counted from the mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return np.asarray(ranks - (len(values) + 1) / 2, dtype=np.float64)
