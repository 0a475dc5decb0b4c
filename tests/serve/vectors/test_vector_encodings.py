"""Codes and their scan: bit for bit what whole numbers say, and what full precision says."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from answerable.indexing.build import encode_vectors
from answerable.serve import vectors as kernel
from answerable.serve.retrieval.bm25 import select_top_rows
from answerable.serve.retrieval.rank import score_all_codes
from answerable.serve.vectors import SCALAR_POOL, WholeFloats, multiply_by_numpy

Floats = NDArray[np.float32]

SHAPES = [(1, 1), (65, 64), (200, 1024), (7, 16_384)]


def reference(rows: NDArray[np.int8], query: NDArray[np.int8]) -> list[int]:
    products: list[int] = (rows.astype(np.int64) @ query.astype(np.int64)).tolist()
    return products


def whole(seed: int, shape: tuple[int, ...], low: int = -127, high: int = 127) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(np.int8)


@pytest.mark.parametrize("dots", [kernel.multiply_by_numkong, multiply_by_numpy])
@pytest.mark.parametrize("shape", SHAPES)
def test_both_kernels_equal_the_integer_product(
    dots: Callable[..., WholeFloats], shape: tuple[int, int]
) -> None:
    rows, query = whole(1, shape), whole(2, shape[1:])
    products = dots(rows, query)
    assert products.tolist() == reference(rows, query)
    # The largest sums there are, of either sign, and of rows that no build writes.
    for value in (127, -127, -128):
        full = np.full(shape, value, dtype=np.int8)
        most = np.full(shape[1:], 127, dtype=np.int8)
        assert dots(full, most).tolist() == reference(full, most)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("count", [4096, 4097, 6001])
def test_two_threads_compute_as_one_does(
    monkeypatch: pytest.MonkeyPatch, cores: int, count: int
) -> None:
    monkeypatch.setattr(kernel, "CORES", cores)
    rows, query = whole(6, (count, 4096)), whole(7, (4096,))
    assert rows.nbytes >= kernel.TWO_THREADS_FROM_BYTES
    assert (
        kernel.multiply_by_numkong(rows, query).tolist() == multiply_by_numpy(rows, query).tolist()
    )


def test_compiled_kernel_is_chosen_for_large_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert kernel._load_compiled_kernel() is kernel.multiply_by_numkong
    sizes: list[int] = []

    def counted(rows: NDArray[np.int8], query: NDArray[np.int8]) -> WholeFloats:
        sizes.append(len(rows))
        return multiply_by_numpy(rows, query)

    monkeypatch.setattr(kernel, "_load_compiled_kernel", lambda: counted)
    query = whole(0, (1024,))
    for count in (10, 1024):
        rows = whole(3, (count, 1024))
        assert kernel.multiply_rows(rows, query).tolist() == reference(rows, query)
    assert sizes == [1024]


def test_numpy_is_used_when_numkong_is_missing_or_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    uncached = kernel._load_compiled_kernel.__wrapped__
    with monkeypatch.context() as patched:
        patched.setitem(__import__("sys").modules, "numkong", None)
        assert uncached() is multiply_by_numpy
    wrong = lambda rows, query: multiply_by_numpy(rows, query) + 1  # noqa: E731
    monkeypatch.setattr(kernel, "multiply_by_numkong", wrong)
    assert uncached() is multiply_by_numpy


def vectors(count: int, dimensions: int, seed: int = 0) -> Floats:
    """Unit vectors about some subjects, and one row of zeros."""
    random = np.random.default_rng(seed)
    subjects = random.normal(size=(max(count // 20, 2), dimensions))
    rows = subjects[random.integers(0, len(subjects), count)]
    rows = rows + random.normal(size=(count, dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[count // 2] = 0
    return rows.astype(np.float32)


def truncated(rows: Floats, dimensions: int) -> Floats:
    leading = rows[..., :dimensions]
    norms = np.linalg.norm(leading, axis=-1, keepdims=True)
    unit: Floats = np.divide(leading, norms, out=np.zeros_like(leading), where=norms > 0)
    return unit


# How far a score is from the cosine of the vectors at 256 dimensions, at most.
NEAR = 0.005


@pytest.mark.parametrize("dimensions", [256, 64, 7])
def test_scores_approximate_cosines_of_the_leading_dimensions(dimensions: int) -> None:
    rows = vectors(400, 256)
    stream = encode_vectors(rows, dimensions)
    query = truncated(rows[3] + rows[5], dimensions)
    exact = truncated(rows, dimensions) @ query
    scores = score_all_codes(stream, query)
    assert scores.dtype == np.float32
    assert scores[200] == 0.0
    assert stream.estimate(query)[200] == 0.0
    if dimensions >= 64:
        assert np.abs(scores - exact).max() < NEAR * math.sqrt(256 / dimensions)


@pytest.mark.parametrize("dimensions", [16, 256])
def test_estimates_differ_from_scores_by_at_most_the_slack(dimensions: int) -> None:
    rows = vectors(2000, dimensions)
    stream = encode_vectors(rows, dimensions)
    # One coordinate that outweighs all others leaves few steps to round the others to.
    peaked = rows[7].copy()
    peaked[3] = 1.5
    for query in (rows[1], rows[30], rows[400], truncated(peaked, dimensions)):
        missed = score_all_codes(stream, query) - stream.estimate(query)
        assert not (missed > stream.slack(query)).any()


def test_candidate_pool_holds_the_best_scores() -> None:
    """The kernel's candidates hold what scoring every row would put in the first eight."""
    rows = vectors(3000, 768)
    stream = encode_vectors(rows, 768)
    noise = vectors(20, 768, seed=9)
    for query in truncated(2 * rows[:10] + noise[:10], 768):
        best = select_top_rows(score_all_codes(stream, query), 8)
        pool = select_top_rows(stream.estimate(query), SCALAR_POOL)
        shared = len(set(best.tolist()) & set(pool.tolist()))
        assert shared == 8


@given(
    scores=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, -1.0]), max_size=60),
    count=st.integers(0, 70),
    data=st.data(),
)
@settings(max_examples=100)
def test_selected_top_rows_equal_a_stable_sort(
    scores: list[float], count: int, data: st.DataObject
) -> None:
    eligible = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    rows = [row for row, each in enumerate(eligible) if each]
    expected = sorted(rows, key=lambda row: -scores[row])[:count]
    array = np.array(scores, dtype=np.float32)
    assert select_top_rows(array, count, np.array(eligible, dtype=np.bool_)).tolist() == expected
    everything = sorted(range(len(scores)), key=lambda row: -scores[row])[:count]
    assert select_top_rows(array, count).tolist() == everything
