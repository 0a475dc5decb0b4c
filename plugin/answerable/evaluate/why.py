"""Why a question is answered as it is: the whole ledger of one decision."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..serve import recipe, retrieval, selection
from ..serve.engine import Engine
from ..serve.extractive import ExtractiveAnswerer
from ..serve.profile import Profile
from ..serve.retrieval import TOP_K, Retrieved
from ..serve.types import Mode, Reason
from . import why_candidates, why_expected, why_words
from .why_candidates import Asked, Candidate
from .why_expected import Standing
from .why_words import Word


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engine answers: ``cited`` are the ids of passages and hints."""

    mode: Mode
    reason: Reason | None
    confidence: float
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ledger:
    """All that has decided about a question; it holds no text of a passage and none of a note.

    ``unknown`` are the words that no passage holds. Both streams are best first: what is above
    the floor, then what is under it. ``lead`` is the cosine of the best hint above its floor minus
    that of the best passage. ``outcome`` is None where an answer costs money and was not asked
    for, ``expected`` where nothing was named, or the question has no words to look for.
    """

    question: str
    language: str | None
    bundle: str
    embedder: str
    profile: Profile
    words: tuple[Word, ...]
    unknown: tuple[str, ...]
    passages: tuple[Candidate, ...]
    hints: tuple[Candidate, ...]
    lead: float
    outcome: Outcome | None
    expected: Standing | None

    @property
    def evidence(self) -> tuple[Candidate, ...]:
        """The candidates that an answerer sees, passages first."""
        return _evidence(self.passages, self.hints)


def explain(
    engine: Engine,
    question: str,
    *,
    expect: str | None = None,
    language: str | None = None,
    notes: Mapping[str, str] | None = None,
) -> Ledger:
    """The ledger of one cleaned question; GoldError if nothing has the id that is expected.

    expect: a record, passage, hint or note by its id, or a note by its path. language: a tag of
    what is asked in. notes: from a note's path to its id. An answer is asked for only where it
    costs nothing.
    """
    bundle = engine.bundle
    target = None if expect is None else why_expected.find(bundle, expect, notes or {})
    reading = engine.read(question)
    words = why_words.read(bundle, reading)
    given = recipe.signals(bundle, reading.question, reading.terms)
    asked = Asked(bundle, reading, words, given)
    found = Retrieved()
    passages: tuple[Candidate, ...] = ()
    hints: tuple[Candidate, ...] = ()
    expected: Standing | None = None
    if words:
        vector = engine.embedder.embed([reading.text])[0]
        found = retrieval.retrieve(bundle, reading, vector, selection.POOL, language, near=TOP_K)
        passages = why_candidates.passages(asked, found)
        hints = why_candidates.hints(asked, found)
        if target:
            stream = passages if target.stream == "passages" else hints
            expected = why_expected.stand(asked, vector, target, stream, language)
    return Ledger(
        question=question,
        language=language,
        bundle=bundle.manifest.id,
        embedder=bundle.manifest.identity.label,
        profile=bundle.manifest.profile,
        words=words,
        unknown=why_words.unknown(words),
        passages=passages,
        hints=hints,
        lead=found.best(TOP_K).evidence.lead,
        outcome=_outcome(engine, question, found, is_refused=not _evidence(passages, hints)),
        expected=expected,
    )


def _outcome(
    engine: Engine, question: str, found: Retrieved, *, is_refused: bool
) -> Outcome | None:
    # Without evidence no answerer runs, so a refusal is free whoever answers.
    if not is_refused and not isinstance(engine.answerer, ExtractiveAnswerer):
        return None
    reply = engine.answer_from(question, found)
    cited = tuple(dict.fromkeys(citation.id for citation in reply.answer.citations))
    return Outcome(reply.answer.mode, reply.reason, reply.confidence, cited)


def _evidence(*streams: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    return tuple(each for stream in streams for each in stream if each.fate == "evidence")
