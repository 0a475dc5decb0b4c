"""Every candidate of a question: the parts of its score and what became of it."""

from collections.abc import Iterator, Mapping, Sequence
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

# The phrases of a bundle that lift a page, by the field that holds them.
_PHRASE_FIELDS: Mapping[str, PhraseKind] = {"names": "name", "aliases": "name", "themes": "theme"}


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
    """One candidate: ``score = (base + boost + page + recency) * weight``.

    ``rank`` counts from 1 among those of its stream on its side of the floor. ``to_floor`` is what
    the floor is held against, minus the floor. ``lifts`` add up to ``boost``. ``missing`` are the
    question's words that a passage does not hold. ``by`` is the id of what its fate is owed to.
    A hint has a label and a locator, whose words are its
    ``lexical``, and no boost.
    """

    rank: int
    id: str
    record: str
    label: str
    locator: str
    lexical: float
    dense: float
    base: float
    boost: float
    page: float
    recency: float
    weight: float
    score: float
    to_floor: float
    lifts: tuple[PhraseBoost, ...]
    missing: tuple[str, ...]
    fate: Fate
    by: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class QuestionContext:
    """A question with what the bundle makes of it before any vector is looked at."""

    bundle: Bundle
    reading: QuestionReading
    words: tuple[QuestionWord, ...]
    signals: Signals

    @property
    def question(self) -> str:
        """In the site's spelling."""
        return self.reading.question

    @property
    def profile(self) -> Profile:
        """The weights and floors of the bundle's embedder."""
        return self.bundle.manifest.profile


def explain_passages(
    asked: QuestionContext, found: RetrievalResult
) -> tuple[ExplainedCandidate, ...]:
    """The passages of a pool, the best sections first, then those under the floor."""
    rows = {name: row for row, name in enumerate(asked.bundle.passage_ids)}
    arranged = arrange_pool(asked.bundle, found)
    weighed = decide_passages(arranged.passages)
    limits = iter(find_budget_limits([each.scored.item for each in weighed if each.rule is None]))
    made = []
    for rank, each in enumerate(weighed, 1):
        fate: Fate = each.rule or next(limits) or "evidence"
        made.append(
            explain_passage(asked, rows[each.scored.item.id], each.scored, rank, fate, each.against)
        )
    shown = {each.scored.item.id for each in weighed}
    near = [scored for scored in found.near_passages if scored.item.id not in shown]
    for rank, scored in enumerate(near, 1):
        made.append(explain_passage(asked, rows[scored.item.id], scored, rank, "under-floor"))
    return tuple(made)


def explain_hints(asked: QuestionContext, found: RetrievalResult) -> tuple[ExplainedCandidate, ...]:
    """The hints of a pool, best first, then those under the note floor."""
    above = [
        explain_hint(asked, each.scored, rank, each.rule or "evidence")
        for rank, each in enumerate(decide_hints(found.hints), 1)
    ]
    under = [
        explain_hint(asked, scored, rank, "under-floor")
        for rank, scored in enumerate(found.near_hints, 1)
    ]
    return (*above, *under)


def explain_passage(
    asked: QuestionContext,
    row: int,
    scored: Scored[Passage],
    rank: int,
    fate: Fate,
    by: str | None = None,
) -> ExplainedCandidate:
    """A scored passage as the ledger holds it. row: its own."""
    profile = asked.profile
    floored = choose_floored_score(profile, scored.base, scored.boost)
    lacked = list_missing_words(asked.bundle, asked.words, row)
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        record=scored.item.record,
        label="",
        locator="",
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        boost=scored.boost,
        page=scored.page,
        recency=float(asked.signals.fresh[row]),
        weight=float(asked.signals.weight[row]),
        score=scored.score,
        to_floor=floored - profile.floor,
        lifts=_select_strongest_boosts(
            _list_phrase_boosts(asked, int(asked.bundle.passage_records[row]))
        ),
        missing=tuple(dict.fromkeys(word.text for word in lacked)),
        fate=fate,
        by=by,
    )


def explain_hint(
    asked: QuestionContext, scored: Scored[RoutingHint], rank: int, fate: Fate
) -> ExplainedCandidate:
    """A scored hint as the ledger holds it."""
    return ExplainedCandidate(
        rank=rank,
        id=scored.item.id,
        record="",
        label=scored.item.label,
        locator=scored.item.locator,
        lexical=scored.lexical,
        dense=scored.dense,
        base=scored.base,
        boost=0.0,
        page=0.0,
        recency=0.0,
        weight=1.0,
        score=scored.score,
        to_floor=scored.base - asked.profile.note_floor,
        lifts=(),
        missing=(),
        fate=fate,
    )


def _select_strongest_boosts(lifts: Sequence[PhraseBoost]) -> tuple[PhraseBoost, ...]:
    """A record gets the best name's boost and the best theme's."""
    by_kind: dict[PhraseKind, PhraseBoost] = {}
    for lift in sorted(lifts, key=lambda lift: -lift.boost):
        by_kind.setdefault(lift.kind, lift)
    return tuple(lift for lift in by_kind.values() if lift.boost)


def _list_phrase_boosts(asked: QuestionContext, record: int) -> list[PhraseBoost]:
    """What each authored phrase of a record would add to it alone, by the rule that adds it."""
    bundle = asked.bundle
    lifts = []
    for field, kind in _PHRASE_FIELDS.items():
        names: PhraseIndex = getattr(bundle, field)
        for phrase in _find_phrases(names, asked.question):
            name = names.entry(phrase)
            if record in name.records:
                alone = score_name_boosts(_keep_only_phrase(bundle, field, phrase), asked.question)
                lifts.append(PhraseBoost(kind, phrase, name.frequency, float(alone[record])))
    return lifts


def _find_phrases(names: PhraseIndex, question: str) -> Iterator[str]:
    lengths = range(1, len(normalize_phrase(question).split()) + 1)
    known = names.rows
    yield from dict.fromkeys(run for run in split_ngrams(question, lengths) if run in known)


def _keep_only_phrase(bundle: Bundle, field: str, phrase: str) -> Bundle:
    """A bundle that knows one phrase of one kind. field: of ``_KINDS``."""
    source: PhraseIndex = getattr(bundle, field)
    only = replace(source, rows={phrase: source.rows[phrase]})
    none = replace(source, rows={})
    names, aliases, themes = (only if each == field else none for each in _PHRASE_FIELDS)
    return replace(bundle, names=names, aliases=aliases, themes=themes)
