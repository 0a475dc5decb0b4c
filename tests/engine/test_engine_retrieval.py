"""Retrieval in the browser's engine: each function equals its twin in Python."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.retrieval import bm25
from answerable.serve.stores.bundle import Bundle
from support.engine_process import engine
from support.engine_sites import open_small_site
from support.engine_store import load_postings, open_engine_store


@dataclass(frozen=True)
class Twins:
    """A bundle, and the reference to the store of it in the engine's process."""

    bundle: Bundle
    store: dict[str, str]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    bundle = open_small_site(tmp_path_factory.mktemp("small"))
    return Twins(bundle, open_engine_store(bundle, "small"))


def floats(values: Any) -> list[float]:
    return [float(value) for value in values]


@given(
    scores=st.lists(st.sampled_from([0.0, 0.25, 0.5, -1.0, 0.75]), max_size=40),
    count=st.integers(0, 12),
    seed=st.integers(0, 2**40),
)
def test_top_rows_are_the_same(scores: list[float], count: int, seed: int) -> None:
    mask = [bool(seed >> place & 1) for place in range(len(scores))]
    for among in (None, mask):
        expected = bm25.select_top_rows(
            np.array(scores, dtype=np.float32),
            count,
            None if among is None else np.array(among, bool),
        )
        marks = [] if among is None else [list(map(int, among))]
        assert engine().call("bm25", "selectTopRows", scores, count, *marks) == expected.tolist()


TERMS = ["moor", "chain", "rope", "lantern", "zeppelin", "kett", "hafen", "harbour", "doc", "ブイ"]


def test_lexical_scores_are_the_same_to_the_bit(small: Twins) -> None:
    postings, js = small.bundle.postings, engine()
    load_postings(small.store, TERMS)
    for terms in (TERMS, TERMS[:1], TERMS[4:5], []):
        for each in small.bundle.site.languages:
            rows = (each.first, each.end)
            names = frozenset({"harbour", "doc"})
            idfs = bm25.compute_idfs(postings, terms, rows, names)
            own = js.call("bm25", "computeIdfs", small.store, terms, rows, {"$set": sorted(names)})
            assert list(own) == list(idfs)
            assert list(own.values()) == pytest.approx(list(idfs.values()), abs=1e-15)
            scores = bm25.score_bm25(postings, idfs, rows)
            pairs = {"$map": list(map(list, idfs.items()))}
            assert js.call("bm25", "scoreBm25", small.store, pairs, rows) == floats(scores)
            full = bm25.find_full_matches(postings, terms[:2], rows)
            matches = js.call("bm25", "findFullMatches", small.store, {"$set": terms[:2]}, rows)
            assert matches == full.astype(int).tolist()


def test_passages_hold_the_same_terms(small: Twins) -> None:
    load_postings(small.store, TERMS)
    rows = np.array([3, 0, 7, len(small.bundle.passage_ids) - 1])
    own = bm25.match_terms(small.bundle.postings, TERMS, rows)
    matches = engine().call("bm25", "matchTerms", small.store, {"$set": TERMS}, rows.tolist())
    assert list(map(set, matches)) == list(map(set, own))
    indexed = engine().call("bm25", "findIndexedTerms", small.store, TERMS)
    assert set(indexed) == bm25.find_indexed_terms(small.bundle.postings, TERMS)
    assert 0 < len(indexed) < len(TERMS)
