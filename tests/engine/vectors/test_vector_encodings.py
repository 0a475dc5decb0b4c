"""Codes and their scores: what exact sums say, and what full precision says."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from answerable.engine.retrieval.rank import select_top_rows
from answerable.indexing.build import encode_vectors

Floats = NDArray[np.float32]


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
    scores = stream.score(query)
    assert scores.dtype == np.float32
    assert scores[200] == 0.0
    if dimensions >= 64:
        assert np.abs(scores - exact).max() < NEAR * math.sqrt(256 / dimensions)


def test_equal_rows_have_equal_scores_and_are_those_of_exact_sums() -> None:
    # The rows of several blocks, the last of them short.
    rows = vectors(131, 768)
    rows[[3, 70, 130]] = rows[5]
    stream = encode_vectors(rows, 768)
    query = rows[9]
    scores = stream.score(query)
    assert len(set(scores[[3, 5, 70, 130]].tolist())) == 1
    exact = [
        math.fsum(code * number for code, number in zip(codes, query.tolist(), strict=True)) * norm
        for codes, norm in zip(stream.codes.tolist(), stream.inverse_norms.tolist(), strict=True)
    ]
    assert scores.tolist() == np.array(exact).astype(np.float32).tolist()
    some = np.array([130, 2, 64])
    assert stream.select_rows(some).score(query).tolist() == scores[some].tolist()


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
