"""Explain each retrieved passage and hint: parts of its score, and why it is evidence or not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ...serve.bundle_format.postings import PhraseIndex
from ...serve.bundle_format.profile import Profile
from ...serve.retrieval.boosts import score_name_boosts
from ...serve.retrieval.question import QuestionReading
from ...serve.retrieval.retrieve import RetrievalResult
from ...serve.retrieval.scoring import Scored, choose_floored_score
from ...serve.retrieval.selection import (
    BudgetLimit,
    SelectionRule,
    arrange_pool,
    decide_hints,
    decide_passages,
    find_budget_limits,
)
from ...serve.retrieval.store import Signals
from ...serve.stores.bundle import Bundle
from ...serve.text.normalization import normalize_phrase, split_ngrams
from ...serve.types import Passage, RoutingHint
from .question_words import QuestionWord, list_missing_words

# Evidence, or what keeps a candidate from being it: its floor, a rule of selection, the budget,
# passages in the asker's language, or more candidates above it than a pool holds.
Fate = (
    Literal["evidence", "under-floor", "other-language", "out-of-pool"]
    | SelectionRule
    | BudgetLimit
)
PhraseKind = Literal["name", "theme"]


@dataclass(frozen=True, slots=True)
class PhraseBoost:
    """An authored phrase that the question holds, and what it alone adds to a record.

    ``records``: how many of them hold the phrase, by which its boost fades.
    """

    kind: PhraseKind
    phrase: str
    records: int
    boost: float


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """One candidate: ``score = (base + boost + page_boost + recency) * weight``.

    ``rank`` counts from 1 among those of its stream on its side of the floor. ``to_floor`` is what
    the floor is compared with, minus the floor. ``lifts`` add up to ``boost``. ``missing`` are the
    question's words that a passage does not hold. ``by`` is the id of the candidate that decided
    its fate. A hint has a label and a locator, whose words are its ``lexical``, and no boost.
    """

    rank: int
    id: str
    lexical: float
    dense: float
    base: float
    score: float
    to_floor: float
    fate: Fate
    by: str | None = None
    record: str = ""
    label: str = ""
    locator: str = ""
    boost: float = 0.0
    page_boost: float = 0.0
    recency: float = 0.0
    weight: float = 1.0
    lifts: tuple[PhraseBoost, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class QuestionContext:
    """A question with all that a bundle knows of it before any vector is looked at.

    ``cleaned``: the question as it was spelled.
    """

    cleaned: str
    bundle: Bundle
    reading: QuestionReading
    words: tuple[QuestionWord, ...]
    signals: Signals

    @property
    def question(self) -> str:
        """Return the question in the site's spelling."""
        return self.reading.question

    @property
    def profile(self) -> Profile:
        """Return the weights and floors of the bundle's embedder."""
        return self.bundle.manifest.profile


def explain_passages(
    context: QuestionContext, retrieved: RetrievalResult
) -> tuple[ExplainedCandidate, ...]:
    """Explain the passages of a pool, the best sections first, then those under the floor."""
    rows = {name: row for row, name in enumerate(context.bundle.passage_ids)}
    arranged = arrange_pool(context.bundle, retrieved)
    decisions = decide_passages(arranged.passages, context.profile.passages_per_page)
    selected = [each.scored.item for each in decisions if each.rule is None]
    limits = iter(find_budget_limits(selected))
    candidates = []
    for rank, each in enumerate(decisions, 1):
        fate: Fate = each.rule or next(limits) or "evidence"
        row = rows[each.scored.item.id]
        candidates.append(explain_passage(context, row, each.scored, rank, fate, each.against))
    listed = {candidate.id for candidate in candidates}
    under = [scored for scored in retrieved.near_passages if scored.item.id not in listed]
    for rank, scored in enumerate(under, 1):
        row = rows[scored.item.id]
        candidates.append(explain_passage(context, row, scored, rank, "under-floor"))
    return tuple(candidates)


def explain_hints(
    context: QuestionContext, retrieved: RetrievalResult
) -> tuple[ExplainedCandidate, ...]:
    """Explain the hints of a pool, best first, then those under the note floor."""
    above = [
        explain_hint(context, each.scored, rank, each.rule or "evidence")
        for rank, each in enumerate(decide_hints(retrieved.hints), 1)
    ]
    under = [
        explain_hint(context, scored, rank, "under-floor")
        for rank, scored in enumerate(retrieved.near_hints, 1)
    ]
    return (*above, *under)


def explain_passage(
    context: QuestionContext,
    row: int,
    scored: Scored[Passage],
    rank: int,
    fate: Fate,
    by: str | None = None,
) -> ExplainedCandidate:
    """Explain a scored passage. row: its own."""
    profile = context.profile
    missing = list_missing_words(context.bundle, context.words, row)
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        record=scored.item.record,
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        boost=scored.boost,
        page_boost=scored.page,
        recency=float(context.signals.fresh[row]),
        weight=float(context.signals.weight[row]),
        score=scored.score,
        to_floor=choose_floored_score(profile, scored.base, scored.boost) - profile.floor,
        lifts=_list_effective_boosts(context, int(context.bundle.passage_records[row])),
        missing=tuple(dict.fromkeys(word.text for word in missing)),
        fate=fate,
        by=by,
    )


def explain_hint(
    context: QuestionContext, scored: Scored[RoutingHint], rank: int, fate: Fate
) -> ExplainedCandidate:
    """Explain a scored hint."""
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        label=scored.item.label,
        locator=scored.item.locator,
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        score=scored.score,
        to_floor=scored.base - context.profile.note_floor,
        fate=fate,
    )


def _list_effective_boosts(context: QuestionContext, record: int) -> tuple[PhraseBoost, ...]:
    """List the boosts that a record gets: the best name's and the best theme's."""
    strongest: dict[PhraseKind, PhraseBoost] = {}
    for boost in sorted(_iterate_boosts(context, record), key=lambda each: -each.boost):
        strongest.setdefault(boost.kind, boost)
    return tuple(boost for boost in strongest.values() if boost.boost)


def _iterate_boosts(context: QuestionContext, record: int) -> Iterator[PhraseBoost]:
    """Yield what each authored phrase of a record adds to it alone, by the rule that adds it."""
    bundle, question = context.bundle, context.question
    indexes = {"names": bundle.names, "aliases": bundle.aliases, "themes": bundle.themes}
    for field, index in indexes.items():
        kind: PhraseKind = "theme" if field == "themes" else "name"
        for phrase in _find_phrases(index, question):
            entry = index.entry(phrase)
            if record in entry.records:
                reduced = _keep_one_phrase(bundle, indexes, field, phrase)
                boosts = score_name_boosts(reduced, context.reading)
                yield PhraseBoost(kind, phrase, entry.frequency, float(boosts[record]))


def _find_phrases(index: PhraseIndex, question: str) -> Iterator[str]:
    lengths = range(1, len(normalize_phrase(question).split()) + 1)
    yield from dict.fromkeys(
        phrase for phrase in split_ngrams(question, lengths) if phrase in index.rows
    )


def _keep_one_phrase(
    bundle: Bundle, indexes: Mapping[str, PhraseIndex], field: str, phrase: str
) -> Bundle:
    """Copy a bundle that knows one phrase alone. indexes: of the bundle, by field."""
    reduced = {
        name: replace(index, rows={phrase: index.rows[phrase]} if name == field else {})
        for name, index in indexes.items()
    }
    return replace(
        bundle, names=reduced["names"], aliases=reduced["aliases"], themes=reduced["themes"]
    )
