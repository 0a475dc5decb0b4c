"""Explain an answer that should have been a refusal: what lifts it, and which floor refuses it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...serve.engine import Engine
from ...serve.retrieval.bm25 import score_bm25
from ...serve.retrieval.question_text import clean_question
from ...serve.retrieval.scoring import choose_floored_score, compute_signals
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ..bundle_scores import score_all_hints, score_all_passages
from ..gold import GoldQuery
from ..runner import embed_queries
from .candidates import ExplainedCandidate, QuestionContext
from .forecast import EditForecast, forecast_edit
from .question_words import QuestionWord, find_language_rows


@dataclass(frozen=True, slots=True)
class WordLift:
    """Hold what one word of the question adds to the base of a passage."""

    word: str
    base: float


@dataclass(frozen=True, slots=True)
class RefusalExplanation:
    """Explain why a question passes the floors.

    ``passage``: the id of the one with the best base, ``page`` its page; ``base``, of which the
    cosine gives ``dense`` and the words give ``lifts``, the largest first. All four are empty where
    hints alone are found. ``floor`` and ``note_floor``: the lowest hundredths that refuse all that
    is above the floors now, None where nothing is, or where ``no_floor`` is true: a passage holds
    all that the question asks for, which no floor refuses, or it would take a floor above 1.
    ``forecast``: of a sentence on the page that is quoted first, which says what the site does not
    have.
    """

    passage: str
    page: str
    base: float
    dense: float
    lifts: tuple[WordLift, ...]
    floor: float | None
    note_floor: float | None
    no_floor: bool
    forecast: EditForecast | None


@dataclass(frozen=True, slots=True)
class FloorCost:
    """Hold what other floors would do to a gold set: the ids of queries that they would refuse.

    ``answerable`` counts the queries that have to be answered and are found at the floors of now.
    """

    answerable: int
    lost: tuple[str, ...]


def explain_refusal(
    engine: Engine[Bundle],
    context: QuestionContext,
    vector: Floats,
    passages: Sequence[ExplainedCandidate],
    hints: Sequence[ExplainedCandidate],
    cited: Sequence[str],
    language: str | None,
) -> RefusalExplanation | None:
    """Explain what lifts a question over the floors; None where nothing does.

    passages, hints: the explained ones. cited: the ids that the answer cites, if it is known.
    """
    above = [each for each in passages if each.fate != "under-floor"]
    hints_above = [each for each in hints if each.fate != "under-floor"]
    if not above and not hints_above:
        return None
    profile = context.profile
    floors = [
        _raise_above(max(each.to_floor for each in group), floor) if group else None
        for group, floor in ((above, profile.floor), (hints_above, profile.note_floor))
    ]
    # A site's options take no floor above 1.
    no_floor = bool(context.signals.is_whole.any()) or any(floor and floor > 1 for floor in floors)
    if no_floor:
        floors = [None, None]
    if not above:
        return RefusalExplanation("", "", 0.0, 0.0, (), floors[0], floors[1], no_floor, None)
    best = max(above, key=lambda each: each.base)
    ids = list(context.bundle.passage_ids)
    quoted = next((ids.index(name) for name in cited if name in ids), ids.index(best.id))
    return RefusalExplanation(
        passage=best.id,
        page=best.record,
        base=best.base,
        dense=profile.dense * best.dense / (profile.hybrid + profile.dense)
        if profile.hybrid
        else best.dense,
        lifts=_list_lifts(context, ids.index(best.id)),
        floor=floors[0],
        note_floor=floors[1],
        no_floor=no_floor,
        forecast=forecast_edit(engine, context, vector, [quoted], (), language),
    )


def count_floor_cost(
    engine: Engine[Bundle],
    queries: Sequence[GoldQuery],
    floor: float | None,
    note_floor: float | None,
) -> FloorCost:
    """List the gold queries to be answered that other floors would refuse; one call embeds them.

    floor, note_floor: None for that of now.
    """
    bundle, profile = engine.store, engine.store.manifest.profile
    before = (profile.floor, profile.note_floor)
    after = (floor or profile.floor, note_floor or profile.note_floor)
    answerable = [query for query in queries if _requires_answer(query)]
    passing: list[str] = []
    lost: list[str] = []
    for query, vector in zip(answerable, embed_queries(answerable, engine), strict=True):
        reading = engine.parse_question(clean_question(query.query))
        if not reading.terms:
            continue
        ranking = score_all_passages(bundle, reading, vector)
        scores = choose_floored_score(profile, ranking.base, ranking.boost)
        whole = compute_signals(bundle, reading).is_whole
        hint_scores = score_all_hints(bundle, reading, vector)

        def passes(
            floors: tuple[float, float],
            scores: Floats = scores,
            whole: np.ndarray = whole,
            hint_scores: Floats = hint_scores,
        ) -> bool:
            is_above = (scores >= floors[0]) | whole
            return bool(is_above.any() or (hint_scores >= floors[1]).any())

        if passes(before):
            passing.append(query.id)
            if not passes(after):
                lost.append(query.id)
    return FloorCost(len(passing), tuple(lost))


def _requires_answer(query: GoldQuery) -> bool:
    modes = query.expected_modes
    return "not-found" not in modes and bool(modes or query.sources)


def _raise_above(distance: float, floor: float) -> float:
    """Return the lowest hundredth above a score that is so far above its floor."""
    return (math.floor(100 * (floor + distance)) + 1) / 100


def _list_lifts(context: QuestionContext, row: int) -> tuple[WordLift, ...]:
    """List what the question's words add to a passage's base, the largest first."""
    bundle, profile = context.bundle, context.profile
    if not profile.hybrid:
        return ()
    language = bundle.site.language_of(row)
    first, end = find_language_rows(bundle, language)
    share = profile.hybrid / (profile.hybrid + profile.dense)

    def lift(word: QuestionWord) -> float:
        own = score_bm25(bundle.postings, {word.term: word.idf}, (first, end))[row - first]
        return share * word.share * float(own)

    words = [word for word in context.words if word.language == language and word.share]
    lifts = [WordLift(word.text, lift(word)) for word in words]
    return tuple(sorted((each for each in lifts if each.base), key=lambda each: -each.base))
