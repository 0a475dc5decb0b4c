"""Score every passage and hint of a bundle for one question, in arrays by row, without floors."""

import numpy as np

from ..serve.retrieval.boosts import score_hint_labels
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.retrieve import normalize_query
from ..serve.retrieval.scoring import (
    Ranking,
    choose_floored_score,
    compute_signals,
    max_cosine_per_hint,
    score_all_codes,
    score_rows,
)
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle


def score_all_passages(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Ranking:
    """Score every passage. vector: (d,), of the reading's text."""
    rows = np.arange(len(bundle.passage_ids))
    dense = score_all_codes(bundle.passage_codes, normalize_query(bundle, vector))
    return score_rows(bundle.manifest.profile, rows, dense, compute_signals(bundle, reading))


def score_all_hints(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """Score every hint by its cosine and its label, (hints,). vector: as above."""
    return compute_hint_cosines(bundle, vector) + score_hint_labels(bundle, reading.idfs)


def compute_hint_cosines(bundle: Bundle, vector: Floats) -> Floats:
    """Compute the cosine of every hint, (hints,): the best of its windows. vector: (d,)."""
    cosines = score_all_codes(bundle.hint_codes, normalize_query(bundle, vector))
    return max_cosine_per_hint(bundle.hint_owners, cosines, len(bundle.hints))


def compute_passage_floor_scores(
    bundle: Bundle, reading: QuestionReading, vector: Floats
) -> Floats:
    """Score every passage as the floor is compared with it, (n,); (0,) without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    ranking = score_all_passages(bundle, reading, vector)
    return choose_floored_score(bundle.manifest.profile, ranking.base, ranking.boost)


def compute_hint_floor_scores(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """Score every hint as the note floor is compared with it, (n,); (0,) without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    return score_all_hints(bundle, reading, vector)
