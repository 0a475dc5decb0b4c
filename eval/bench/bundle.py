"""The bundle of a large site: its size, what fewer dimensions keep, and its scan.

``bytes``: of the whole bundle. ``rho_min``: the least rank correlation of 50 questions' cosines
with those of full precision. ``top8_kept``: the share of the exact first eight that is found.
``scan_x_floor``: scores of all rows and the first eight, as a multiple of one streaming read of the
same rows as int8. Both take turns on copies that no cache holds together, so
that rows come from memory, as a question finds them.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np
import synthetic
from numpy.typing import NDArray
from tables import Row, print_rows

from answerable.check.gate import spearman_correlation
from answerable.engine.index.columns import Index
from answerable.engine.index.manifest import OPENAI_PROFILE
from answerable.engine.retrieval.rank import select_top_rows
from answerable.engine.vectors import Int8Codes
from answerable.indexing.build import encode_vectors
from answerable.indexing.write import format_manifest, pack_index, parse_build_time

DIMENSIONS = (3072, 1024)
QUESTIONS = 50
TOP = 8
TURNS = 31
# More bytes than the caches of a core and its neighbors hold.
CACHES = 96_000_000

Floats = NDArray[np.float32]
Work = Callable[[], object]


def measure() -> list[Row]:
    """Measure a row for each number of dimensions."""
    index, vectors = synthetic.make_index()
    near = np.linspace(0, len(vectors) - 1, QUESTIONS).astype(int)
    questions = synthetic.make_questions(vectors[near])
    return [
        {
            **_measure_dimensions(dimensions, vectors, questions),
            "bytes": _count_bytes(index, vectors, dimensions),
        }
        for dimensions in DIMENSIONS
    ]


def _count_bytes(index: Index, vectors: Floats, dimensions: int) -> int:
    """Count the bytes of the whole bundle, its manifest too."""
    count = len(index.codes)
    cut = replace(
        index,
        codes=encode_vectors(vectors[:count], dimensions),
        hint_codes=encode_vectors(vectors[count:], dimensions),
    )
    packed = pack_index(cut, synthetic.IDENTITY, OPENAI_PROFILE, parse_build_time("0"))
    return packed.manifest.bytes + len(format_manifest(packed.manifest))


def _measure_dimensions(dimensions: int, vectors: Floats, questions: Floats) -> Row:
    stream = encode_vectors(vectors, dimensions)
    cut_questions = _cut_vectors(questions, dimensions)
    correlations, kept_shares = [], []
    for question, cut in zip(questions, cut_questions, strict=True):
        exact = vectors @ question
        correlations.append(spearman_correlation(exact, stream.score(cut)))
        best = set(np.argsort(-exact)[:TOP].tolist())
        kept_shares.append(len(best & set(_search(stream, cut).tolist())) / TOP)
    searches = _make_searches(dimensions, vectors, cut_questions[0])
    return {
        "name": f"int8@{dimensions}",
        "rho_min": min(correlations),
        "top8_kept": float(np.mean(kept_shares)),
        **_time_in_turn(searches, _make_reads(vectors, dimensions)),
    }


def _cut_vectors(rows: Floats, dimensions: int) -> Floats:
    leading: Floats = rows[:, :dimensions].copy()
    leading /= np.linalg.norm(leading, axis=1, keepdims=True)
    return leading


def _search(stream: Int8Codes, question: Floats) -> NDArray[np.intp]:
    """Find the first eight rows, as retrieval does."""
    scores = stream.score(question)
    return select_top_rows(scores, TOP, np.ones(len(scores), dtype=np.bool_))


def _make_searches(dimensions: int, vectors: Floats, question: Floats) -> list[Work]:
    """Make searches of copies of the same rows, too many for any cache."""
    stream = encode_vectors(vectors, dimensions)
    return [
        partial(_search, Int8Codes(stream.codes.copy(), stream.inverse_norms.copy()), question)
        for _ in range(_count_copies(stream.codes.nbytes))
    ]


def _make_reads(vectors: Floats, dimensions: int) -> list[Work]:
    """Make reads of copies of the rows as int8: each is a search for a byte that no code is."""
    rows = encode_vectors(vectors, dimensions).codes
    return [partial(rows.tobytes().find, b"\x80") for _ in range(_count_copies(rows.nbytes))]


def _count_copies(size: int) -> int:
    return 2 + CACHES // size


def _time_in_turn(searches: Sequence[Work], reads: Sequence[Work]) -> Row:
    seconds: dict[str, list[float]] = {"read": [], "search": []}
    for turn in range(TURNS):
        for name, works in (("read", reads), ("search", searches)):
            started = time.perf_counter()
            works[turn % len(works)]()
            seconds[name].append(time.perf_counter() - started)
    medians = {name: median(values) for name, values in seconds.items()}
    return {
        "scan_ms": 1000 * medians["search"],
        "scan_x_floor": medians["search"] / medians["read"],
    }


if __name__ == "__main__":
    print_rows(
        f"The bundle of {synthetic.RECORDS} records and {synthetic.HINTS} hints",
        measure(),
        as_json="--json" in sys.argv[1:],
    )
