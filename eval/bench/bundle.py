"""The bundle of a large site: its size, what each encoding keeps, its scan and its cold start.

``bytes``: of the whole bundle. ``rho_min``: the least rank correlation of 50 questions' cosines
with those of full precision. ``top8_kept``: the share of the exact first eight that is found.
``scan_x_floor``: estimates of all rows, 64 candidates scored, the first eight, as multiples of one
streaming read of the same rows as int8; both from memory, as a question finds it, with the caches
cleared before. ``hot_x_floor``: the same with what fits of them in the caches.
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
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import synthetic
from numpy.typing import NDArray
from tables import Row, print_rows

from answerable.build import bundle_writer, quantize, site
from answerable.build.artifacts import Artifact
from answerable.build.index import Index
from answerable.cli import cold
from answerable.evaluate import gate
from answerable.serve import codes, encoding, kernel, scan
from answerable.serve.codes import Codes
from answerable.serve.encoding import Encoding
from answerable.serve.profile import OPENAI
from answerable.serve.settings import Settings

LEVERS = (("float32", 3072), ("int8", 3072), ("int8", 1024), ("int4", 3072), ("binary+int8", 3072),
          ("binary", 3072))  # fmt: skip
QUESTIONS = 50
TOP = 8
STARTS = 7

Floats = NDArray[np.float32]


def rows() -> list[Row]:
    """One row for each encoding, one for each other way to scan, and the cold starts."""
    index = synthetic.made()
    vectors = np.concatenate([index.passage_vectors, index.hint_vectors])
    questions = synthetic.queries(vectors, QUESTIONS)
    whole = encoding.whole(vectors.shape[1])
    made = bundle_writer.contents(index, whole)
    found = [
        {
            **_of(Encoding(*lever), vectors, questions),
            "bytes": _bytes(index, made, Encoding(*lever)),
        }
        for lever in LEVERS
    ]
    found += _by_numpy(vectors, questions)
    return found + _cold(index, questions[0])


def _bytes(index: Index, made: bundle_writer.Contents, lever: Encoding) -> int:
    """The bytes of the whole bundle, its manifest too."""
    recoded = bundle_writer.recoded(made, index, lever)
    now = bundle_writer.build_time("0")
    manifest = bundle_writer.describe(index, recoded, synthetic.IDENTITY, OPENAI, now)
    return gate.size(manifest) + len(json.dumps(manifest.as_json(), indent=1))


def _of(lever: Encoding, vectors: Floats, questions: Floats) -> Row:
    stream = codes.of(lever, quantize.encode(vectors, lever))
    asked = _leading(questions, lever.dimensions)
    rhos, kept = [], []
    for question, cut in zip(questions, asked, strict=True):
        exact = vectors @ question
        rhos.append(gate.spearman(exact, codes.cosines(stream, cut)))
        best = set(np.argsort(-exact)[:TOP].tolist())
        kept.append(len(best & set(_search(stream, cut).tolist())) / TOP)
    return {
        "name": lever.label(vectors.shape[1]),
        "rho_min": min(rhos),
        "top8_kept": float(np.mean(kept)),
        **_times(partial(_search, stream, asked[0]), _reader(vectors, lever.dimensions)),
    }


def _leading(rows: Floats, dimensions: int) -> Floats:
    kept: Floats = rows[:, :dimensions].copy()
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    return kept


def _search(stream: Codes, question: Floats) -> NDArray[np.intp]:
    """The first eight rows, as retrieval finds them: candidates, their scores, the best."""
    guessed = stream.estimate(question)
    picked = np.sort(scan.top(guessed, stream.pool))
    return picked[scan.top(stream.score(question, picked), TOP)]


def _by_numpy(vectors: Floats, questions: Floats) -> list[Row]:
    """The fallback without the compiled kernel, and the product of float32 that needs none."""
    found: list[Row] = []
    compiled, kernel.dots = kernel.dots, kernel.numpy_dots
    try:
        for dimensions in (vectors.shape[1], 1024):
            lever = encoding.whole(dimensions)
            stream = codes.of(lever, quantize.encode(vectors, lever))
            asked = _leading(questions[:1], dimensions)[0]
            times = _times(partial(_search, stream, asked), _reader(vectors, dimensions))
            found.append({"name": f"numpy-{lever.label(vectors.shape[1])}", **times})
    finally:
        kernel.dots = compiled
    times = _times(
        lambda: scan.top(vectors @ questions[0], TOP),
        _reader(vectors, vectors.shape[1]),
    )
    return [*found, {"name": "numpy-float32", **times}]


def _reader(vectors: Floats, dimensions: int) -> Callable[[], object]:
    """Reads the int8 bytes of all rows once: a search for a byte that no code is."""
    data = quantize.encode(vectors, encoding.whole(dimensions))["codes"].tobytes()
    return lambda: data.find(b"\x80")


def _times(search: Callable[[], object], read: Callable[[], object]) -> Row:
    cleared = np.zeros(16_000_000)
    cold_times: dict[str, list[float]] = {"search": [], "read": []}
    hot_times: dict[str, list[float]] = {"search": [], "read": []}
    for _ in range(25):
        for name, work in (("read", read), ("search", search)):
            np.add(cleared, 1, out=cleared)
            cold_times[name].append(_seconds(work))
            hot_times[name].append(_seconds(work))
    return {
        "scan_ms": 1000 * median(cold_times["search"]),
        "scan_x_floor": median(cold_times["search"]) / median(cold_times["read"]),
        "hot_x_floor": median(hot_times["search"]) / median(hot_times["read"]),
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _cold(index: Index, question: Floats) -> list[Row]:
    """Starts of our function and of Node's, one after the other, and the ratio of their medians."""
    if not shutil.which("node"):
        print("cold starts: skipped, there is no node", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as work:
        function = Path(work, "function")
        whole = encoding.whole(synthetic.IDENTITY.dimensions)
        staged = site.stage(index, function, Settings(), whole, _unaudited)
        now = bundle_writer.build_time("0")
        site.publish(staged, synthetic.IDENTITY, OPENAI, now)
        node = _node_command(Path(work), index, question)
        times: dict[str, list[float]] = {"node": [], "cold": [], "cold-skip-hashes": []}
        for _ in range(STARTS + 1):
            times["node"].append(_seconds(partial(_run, node)))
            times["cold"].append(cold.start(function).ranking / 1000)
            times["cold-skip-hashes"].append(cold.start(function, verify=False).ranking / 1000)
    # The first of each has read the files into memory.
    medians = {name: median(found[1:]) for name, found in times.items()}
    return [
        {"name": name, "cold_ms": 1000 * value, "cold_x_node": medians["node"] / value}
        for name, value in medians.items()
    ]


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, check=True)


def _unaudited(artifacts: Iterable[Artifact]) -> None:
    """There is no note here whose text could leak."""
    del artifacts


def _node_command(work: Path, index: Index, question: Floats) -> list[str]:
    """The same vectors as base64 in JSON, and the script that ranks them."""
    vectors = np.concatenate([index.passage_vectors, index.hint_vectors])
    whole = quantize.encode(vectors, encoding.whole(vectors.shape[1]))["codes"]
    ids = [*(cut.passage.id for cut in index.cuts), *(hint.id for hint in index.hints)]
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
