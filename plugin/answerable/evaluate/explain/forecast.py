"""Forecast what a keyless answer would quote: of a page as it is, and with a new sentence."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...serve.answers.extractive import ExtractiveAnswerer
from ...serve.engine import Engine
from ...serve.retrieval.question import read_question
from ...serve.retrieval.retrieve import RetrievalResult, normalize_query, retrieve
from ...serve.retrieval.scoring import score_codes, score_rows
from ...serve.retrieval.selection import POOL_SIZE
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.types import Answer, Mode, RecordCitation
from ..bundle_scores import score_all_passages
from .candidates import QuestionContext
from .page_edit import FACT, PageEdit, apply_page_edit, is_embedder_free, list_edits

# So close to the floor a build may turn out otherwise: the fact that the author adds has words too.
SAFE_DISTANCE = 0.02
# A sentence of one content word would be found by any question with that word.
MIN_LEAD_TERMS = 2


@dataclass(frozen=True, slots=True)
class EditForecast:
    """Hold what a question would find, and a keyless answer would quote, after an edit.

    ``base``, ``rank`` and ``total`` are of the edited passage, among all. ``mode`` is the answer's.
    ``cited``: whether it cites what was expected, ``cited_first`` whether its first excerpt does,
    and ``quoted`` whether it quotes the new sentence.
    """

    edit: PageEdit
    base: float
    to_floor: float
    rank: int
    total: int
    mode: Mode
    cited: bool
    cited_first: bool
    quoted: bool


def forecast_edit(
    engine: Engine[Bundle],
    context: QuestionContext,
    vector: Floats,
    sections: Sequence[int],
    expected: Collection[str],
    language: str | None,
) -> EditForecast | None:
    """Find the simplest edit of a page after which a keyless answer would quote it first.

    sections: a passage of each section to write in, the nearest to the question first. expected:
    ids of passages. Where no edit suffices, the best one is returned; None without any section.
    """
    forecasts: list[EditForecast] = []
    for edit in (edit for row in sections for edit in list_edits(context, row, MIN_LEAD_TERMS)):
        forecast = _forecast(engine, context, vector, edit, expected, language)
        if forecast.cited_first and forecast.quoted and forecast.to_floor >= SAFE_DISTANCE:
            return forecast
        forecasts.append(forecast)
    return max(forecasts, key=lambda each: (each.cited_first, each.cited, each.base), default=None)


def quote_alone(
    engine: Engine[Bundle], context: QuestionContext, vector: Floats, rows: Sequence[int]
) -> str:
    """Quote what the keyless answerer would of some passages if they were all of the evidence."""
    bundle, profile = context.bundle, context.profile
    places = np.array(sorted(rows), dtype=np.intp)
    dense = score_codes(bundle.passage_codes, normalize_query(bundle, vector), places)
    ranking = score_rows(profile, places, dense, context.signals.select(places))
    items = ranking.top_items(np.ones(len(places), np.bool_), POOL_SIZE, bundle.passage)
    retrieved = RetrievalResult(passages=items, reading=context.reading, vector=vector)
    answer = _make_keyless(engine, bundle).answer_from(retrieved).answer
    return answer.claims[0].text if answer.claims else ""


def _forecast(
    engine: Engine[Bundle],
    context: QuestionContext,
    vector: Floats,
    edit: PageEdit,
    expected: Collection[str],
    language: str | None,
) -> EditForecast:
    bundle, row = apply_page_edit(context.bundle, engine.embedder, edit)
    # A word that the site lacked is no misspelling of another one any more.
    reading = read_question(bundle, context.cleaned, engine.embedder.word_rank)
    if reading.text != context.reading.text and is_embedder_free(engine.embedder):
        vector = engine.embedder.embed([reading.text])[0]
    ranking = score_all_passages(bundle, reading, vector)
    retrieved = retrieve(bundle, reading, vector, POOL_SIZE, language)
    answer = _make_keyless(engine, bundle).answer_from(retrieved).answer
    own = {*expected, bundle.passage_ids[row]}
    first = answer.claims[0].citations if answer.claims else ()
    lead = edit.sentence.partition(FACT)[0]
    base = float(ranking.base[row])
    return EditForecast(
        edit=edit,
        base=base,
        to_floor=base - context.profile.floor,
        rank=1 + int((ranking.score > ranking.score[row]).sum()),
        total=len(ranking.score),
        mode=answer.mode,
        cited=any(citation.id in own for citation in answer.citations),
        cited_first=any(citation.id in own for citation in first),
        quoted=any(lead in citation.quote for citation in _list_quotes(answer)),
    )


def _make_keyless(engine: Engine[Bundle], bundle: Bundle) -> Engine[Bundle]:
    return replace(engine, store=bundle, answerer=ExtractiveAnswerer(bundle, engine.embedder))


def _list_quotes(answer: Answer) -> Iterator[RecordCitation]:
    return (citation for claim in answer.claims for citation in claim.citations)
