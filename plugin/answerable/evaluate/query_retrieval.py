"""Retrieve for gold queries: their vectors, their candidates, and the scores of every row."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

import numpy as np

from ..serve.embedders.embedder import Vectors
from ..serve.engine import Engine
from ..serve.provider_registry import embeds_in_process
from ..serve.retrieval.boosts import score_hint_labels
from ..serve.retrieval.question import QuestionReading, clean_question
from ..serve.retrieval.retrieve import RetrievalResult, normalize_query, retrieve
from ..serve.retrieval.scoring import (
    Ranking,
    choose_floored_score,
    compute_signals,
    max_cosine_per_hint,
    score_all_codes,
    score_rows,
)
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from .gold import GoldQuery

SourceFinder = Callable[[GoldQuery, str], str | None]

# How alike two names have to be for a lower rank to be made up for.
_MIN_LIKENESS = 0.6


def embed_queries(queries: Sequence[GoldQuery], engine: Engine) -> Vectors:
    """Embed the questions as a site reads them, (len(queries), dimensions), by one call."""
    return engine.embedder.embed(
        [engine.parse_question(clean_question(query.query)).text for query in queries]
    )


def retrieve_pool(query: GoldQuery, vector: Floats, engine: Engine) -> RetrievalResult:
    """Retrieve what a query is answered from. vector: of its question, (dimensions,)."""
    reading = engine.parse_question(clean_question(query.query))
    return retrieve(engine.store, reading, vector, POOL_SIZE, query.language, near=POOL_SIZE)


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


def make_source_finder(engine: Engine[Bundle]) -> SourceFinder | None:
    """Make a function that finds the public source that a query most likely means.

    None where a question costs a call of a provider: a mistake in a file should be free.
    """
    if not embeds_in_process(engine.embedder.identity.provider):
        return None
    return lambda query, source: find_renamed_source(query, source, engine)


def find_renamed_source(query: GoldQuery, source: str, engine: Engine[Bundle]) -> str | None:
    """Find the page or, for a source with an anchor, the section that a query's question retrieves.

    Of what is retrieved, a name like the missing one leads, and the best rank otherwise. What the
    query names already is left out. None if nothing is retrieved.
    """
    (vector,) = embed_queries([query], engine)
    pool = retrieve_pool(query, vector, engine)
    passages = [passage.item for passage in (*pool.passages, *pool.near_passages)]
    own_sources = {name for names in query.sources_by_field.values() for name in names}
    is_section = "#" in source
    names = [passage.id if is_section else passage.record for passage in passages]
    candidates = [name for name in dict.fromkeys(names) if name not in own_sources]
    if not candidates:
        return None
    # The last parts of two names: folders are what renaming often changes.
    ends = {name: name.rpartition("#")[2].rpartition("/")[2] for name in (*candidates, source)}
    likeness = {
        name: SequenceMatcher(None, ends[name], ends[source]).ratio() for name in candidates
    }
    likest = max(candidates, key=lambda name: likeness[name])
    return likest if likeness[likest] >= _MIN_LIKENESS else candidates[0]
