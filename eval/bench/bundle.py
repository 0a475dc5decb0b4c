"""The bundle of a large site: its size, what fewer dimensions keep, its scan and its cold start.

``bytes``: of the whole bundle. ``rho_min``: the least rank correlation of 50 questions' cosines
with those of full precision. ``top8_kept``: the share of the exact first eight that is found.
``scan_x_floor``: estimates of all rows, 64 candidates scored, the first eight, as multiples of one
streaming read of the same rows as int8. Both take turns on copies that no cache holds together, so
that rows come from memory, as a question finds them. ``hot_x_floor``: the same on one copy.
``cold_x_node``: from the start of the process to the first ranked result, how many times faster
than Node reading the same vectors as base64 int8 JSON into plain arrays, as the reference does.
"""

import base64
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import start
import synthetic
from numpy.typing import NDArray
from tables import Row, print_rows

from answerable.evaluate.gate import spearman_correlation
from answerable.indexing.index import SiteIndex, encode_vectors
from answerable.indexing.leak_audit.audit import Artifact
from answerable.indexing.output.bundle_writer import (
    make_manifest,
    parse_build_time,
    serialize_index,
)
from answerable.indexing.pipeline import StagedIndex, publish_function, stage_function
from answerable.serve import vectors as kernel
from answerable.serve.bundle_format.manifest import OPENAI_PROFILE
from answerable.serve.retrieval.bm25 import select_top_rows
from answerable.serve.retrieval.scoring import score_all_codes, score_codes
from answerable.serve.settings import FunctionSettings
from answerable.serve.vectors import Int8Codes, multiply_by_numpy

LEVERS = (3072, 1024)
QUESTIONS = 50
TOP = 8
STARTS = 7
TURNS = 31
# More bytes than the caches of a core and its neighbors hold.
CACHES = 96_000_000

Floats = NDArray[np.float32]
Work = Callable[[], object]


def rows() -> list[Row]:
    """Measure a row for each number of dimensions and for each way to scan, and the cold starts."""
    index = synthetic.make_index()
    vectors = np.concatenate([index.passage_vectors, index.hint_vectors])
    questions = synthetic.queries(vectors, QUESTIONS)
    table = [
        {
            **_measure_dimensions(dimensions, vectors, questions),
            "bytes": _bytes(index, dimensions),
        }
        for dimensions in LEVERS
    ]
    table += _by_numpy(vectors, questions)
    return table + _cold(index, questions[0])


def _bytes(index: SiteIndex, dimensions: int) -> int:
    """Count the bytes of the whole bundle, its manifest too."""
    now = parse_build_time("0")
    contents = serialize_index(index, dimensions)
    manifest = make_manifest(contents, synthetic.IDENTITY, OPENAI_PROFILE, now)
    return manifest.bytes + len(json.dumps(manifest.as_json(), indent=1))


def _measure_dimensions(dimensions: int, vectors: Floats, questions: Floats) -> Row:
    stream = encode_vectors(vectors, dimensions)
    cut_questions = _cut_vectors(questions, dimensions)
    rhos, kept_shares = [], []
    for question, cut in zip(questions, cut_questions, strict=True):
        exact = vectors @ question
        rhos.append(spearman_correlation(exact, score_all_codes(stream, cut)))
        best = set(np.argsort(-exact)[:TOP].tolist())
        kept_shares.append(len(best & set(_search(stream, cut).tolist())) / TOP)
    return {
        "name": f"int8@{dimensions}",
        "rho_min": min(rhos),
        "top8_kept": float(np.mean(kept_shares)),
        **_times(_searches(dimensions, vectors, cut_questions[0]), _readers(vectors, dimensions)),
    }


def _cut_vectors(rows: Floats, dimensions: int) -> Floats:
    leading: Floats = rows[:, :dimensions].copy()
    leading /= np.linalg.norm(leading, axis=1, keepdims=True)
    return leading


def _search(stream: Int8Codes, question: Floats) -> NDArray[np.intp]:
    """Find the first eight rows, as retrieval does: candidates, their scores, the best."""
    guessed = stream.estimate(question)
    picked = np.sort(select_top_rows(guessed, kernel.SCALAR_POOL))
    return picked[select_top_rows(score_codes(stream, question, picked), TOP)]


def _by_numpy(vectors: Floats, questions: Floats) -> list[Row]:
    """Time the fallback without the compiled kernel, and the product of float32 that needs none."""
    table: list[Row] = []
    compiled, kernel.multiply_rows = kernel.multiply_rows, multiply_by_numpy
    try:
        for dimensions in (vectors.shape[1], 1024):
            question = _cut_vectors(questions[:1], dimensions)[0]
            times = _times(_searches(dimensions, vectors, question), _readers(vectors, dimensions))
            table.append({"name": f"numpy-int8@{dimensions}", **times})
    finally:
        kernel.multiply_rows = compiled
    product = [partial(_product, rows, questions[0]) for rows in (vectors, vectors.copy())]
    times = _times(product, _readers(vectors, vectors.shape[1]))
    return [*table, {"name": "numpy-float32", **times}]


def _product(rows: Floats, question: Floats) -> NDArray[np.intp]:
    return select_top_rows(rows @ question, TOP)


def _searches(dimensions: int, vectors: Floats, question: Floats) -> list[Work]:
    """Make searches of copies of the same rows, too many for any cache."""
    stream = encode_vectors(vectors, dimensions)
    return [
        partial(_search, Int8Codes(stream.codes.copy(), stream.inverse_norms.copy()), question)
        for _ in range(_copies(stream.codes.nbytes))
    ]


def _readers(vectors: Floats, dimensions: int) -> list[Work]:
    """Make reads of copies of the rows as int8: each is a search for a byte that no code is."""
    rows = encode_vectors(vectors, dimensions).codes
    return [partial(rows.tobytes().find, b"\x80") for _ in range(_copies(rows.nbytes))]


def _copies(size: int) -> int:
    return 2 + CACHES // size


def _times(searches: Sequence[Work], reads: Sequence[Work]) -> Row:
    seconds: dict[str, list[float]] = {name: [] for name in ("read", "search", "hot read", "hot")}
    for turn in range(TURNS):
        for name, works in (("read", reads), ("search", searches)):
            seconds[name].append(_seconds(works[turn % len(works)]))
        for name, works in (("hot read", reads), ("hot", searches)):
            seconds[name].append(_seconds(works[0]))
    medians = {name: median(values) for name, values in seconds.items()}
    return {
        "scan_ms": 1000 * medians["search"],
        "scan_x_floor": medians["search"] / medians["read"],
        "hot_x_floor": medians["hot"] / medians["hot read"],
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _cold(index: SiteIndex, question: Floats) -> list[Row]:
    """Time starts of our function and of Node's in turn, and divide their medians."""
    if not shutil.which("node"):
        print("cold starts: skipped, there is no node", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as work:
        function = Path(work, "function")
        whole = synthetic.IDENTITY.dimensions
        staged_index = StagedIndex(lambda: index, serialize_index(index, whole))
        staged = stage_function(staged_index, function, FunctionSettings(), _unaudited)
        now = parse_build_time("0")
        publish_function(staged, synthetic.IDENTITY, OPENAI_PROFILE, now)
        node = _node_command(Path(work), index, question)
        times: dict[str, list[float]] = {"node": [], "cold": [], "cold-skip-hashes": []}
        for _ in range(STARTS + 1):
            times["node"].append(_seconds(partial(_run, node)))
            times["cold"].append(start.time_cold_start(function).ranking / 1000)
            times["cold-skip-hashes"].append(
                start.time_cold_start(function, verify=False).ranking / 1000
            )
    # The first of each has read the files into memory.
    medians = {name: median(seconds[1:]) for name, seconds in times.items()}
    return [
        {"name": name, "cold_ms": 1000 * value, "cold_x_node": medians["node"] / value}
        for name, value in medians.items()
    ]


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, check=True)


def _unaudited(artifacts: Iterable[Artifact]) -> None:
    """Audit nothing: there is no note here whose text could leak."""
    del artifacts


def _node_command(work: Path, index: SiteIndex, question: Floats) -> list[str]:
    """Write the same vectors as base64 in JSON, and return the script that ranks them."""
    vectors = np.concatenate([index.passage_vectors, index.hint_vectors])
    whole = encode_vectors(vectors, vectors.shape[1]).codes
    ids = [*(indexed.passage.id for indexed in index.passages), *(hint.id for hint in index.hints)]
    scales = np.abs(vectors).max(axis=1) / 127
    listed = [
        {"id": name, "scale": float(scale), "codes": base64.b64encode(row.tobytes()).decode()}
        for name, scale, row in zip(ids, scales, whole, strict=True)
    ]
    file, query = work / "index.json", work / "query.json"
    file.write_text(json.dumps({"rows": listed}), encoding="utf-8")
    query.write_text(json.dumps(question.tolist()), encoding="utf-8")
    return ["node", str(Path(__file__).with_name("base64_index.mjs")), str(file), str(query)]


if __name__ == "__main__":
    print_rows(
        f"The bundle of {synthetic.RECORDS} records and {synthetic.HINTS} hints, 3,072 dimensions",
        rows(),
        as_json="--json" in sys.argv[1:],
    )
