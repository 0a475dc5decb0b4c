"""Rank every passage of a bundle for a question, with no floor applied, without its text."""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from answerable.serve.engine import Engine
from answerable.serve.retrieval.retrieve import normalize_query
from answerable.serve.retrieval.scoring import (
    Ranking,
    compute_signals,
    score_all_codes,
    score_rows,
)
from answerable.serve.stores.bundle import Bundle


def rank_all(engine: Engine[Bundle], question: str) -> Ranking | None:
    """Score every passage for a question; None without content terms.

    From columns that are in memory: to decompress thousands of texts takes seconds a question.
    """
    reading = engine.parse_question(question)
    if not reading.terms:
        return None
    store, vector = engine.store, engine.embedder.embed([reading.text])[0]
    dense = score_all_codes(store.passage_codes, normalize_query(store, vector))
    rows = np.arange(len(store.passage_ids))
    return score_rows(store.manifest.profile, rows, dense, compute_signals(store, reading))


def top_base(ranking: Ranking | None, masked: NDArray[np.bool_] | None = None) -> float:
    """Return the best score before boosts; -inf without any. masked: (n,) passages to leave out."""
    if ranking is None:
        return -math.inf
    scores = ranking.base if masked is None else ranking.base[~masked]
    return float(scores.max(initial=-math.inf))


def order_records(bundle: Bundle, ranking: Ranking | None) -> list[str]:
    """List the ids of distinct records, best passage first."""
    rows = bundle.passage_records[_order(ranking)].tolist()
    return [bundle.record_ids[row] for row in dict.fromkeys(rows)]


def order_pages(bundle: Bundle, ranking: Ranking | None) -> list[str]:
    """List the distinct urls of pages, without their fragments, best passage first."""
    order = _order(ranking)
    # A url is read for the first passage of each record only.
    _, first = np.unique(bundle.passage_records[order], return_index=True)
    urls = (bundle.passage_urls[int(order[place])] for place in np.sort(first))
    return list(dict.fromkeys(url.partition("#")[0] for url in urls))


def first_rank(items: Sequence[str], gold: Collection[str]) -> float:
    """Return the rank of the first right item, counted from 1; infinite without one."""
    return next((rank for rank, item in enumerate(items, 1) if item in gold), math.inf)


def _order(ranking: Ranking | None) -> NDArray[np.intp]:
    if ranking is None:
        return np.zeros(0, dtype=np.intp)
    return ranking.rows[np.argsort(-ranking.score, kind="stable")]
