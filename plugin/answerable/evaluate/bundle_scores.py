"""Score every passage and every hint of a bundle, floor or no floor."""

import numpy as np

from ..serve.retrieval.boosts import score_hint_labels
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.retrieve import normalize_query
from ..serve.retrieval.scoring import Ranking, compute_signals, max_cosine_per_hint, score_rows
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.vectors.encodings import score_all_codes


def rank_all_passages(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Ranking:
    """Score every passage. vector: (d,), of the reading's text."""
    rows = np.arange(len(bundle.passage_ids))
    dense = score_all_codes(bundle.passage_codes, normalize_query(bundle, vector))
    return score_rows(bundle.manifest.profile, rows, dense, compute_signals(bundle, reading))


def rank_all_hints(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """Score every hint by its cosine and its label. Returns (hints,). vector: see above."""
    return compute_hint_cosines(bundle, vector) + score_hint_labels(bundle, reading.idfs)


def compute_hint_cosines(bundle: Bundle, vector: Floats) -> Floats:
    """Compute the cosine of every hint, (hints,): the best of its windows. vector: (d,)."""
    cosines = score_all_codes(bundle.hint_codes, normalize_query(bundle, vector))
    return max_cosine_per_hint(bundle.hint_owners, cosines, len(bundle.hints))
