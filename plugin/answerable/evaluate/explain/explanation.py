"""Explain one question: its words, candidates, expected item, and its answer if that is free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...serve.bundle_format.profile import Profile
from ...serve.engine import Engine
from ...serve.retrieval.retrieve import TOP_K, RetrievalResult, retrieve
from ...serve.retrieval.scoring import compute_signals
from ...serve.retrieval.selection import POOL_SIZE
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle
from ...serve.types import Mode, Reason
from .answer_pages import AnswerPage, list_answer_pages
from .candidates import ExplainedCandidate, QuestionContext, explain_hints, explain_passages
from .expected import ExpectedRank, ExpectedTarget, find_expected, rank_expected
from .forecast import forecast_edit, quote_alone
from .question_words import (
    QuestionWord,
    find_nearest_words,
    list_unknown_words,
    read_question_words,
)
from .refusal import RefusalExplanation, explain_refusal


@dataclass(frozen=True, slots=True)
class ExplainedOutcome:
    """The answer of the engine: ``cited`` are the ids of passages and hints."""

    mode: Mode
    reason: Reason | None
    confidence: float
    cited: tuple[str, ...]
    pages: tuple[AnswerPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that decided about a question; it holds no text of a note, and of a page what is quoted.

    ``corrected``: the words that were read as near ones of the site. ``unknown`` are the words that
    no passage holds, ``nearest`` the words of the site near each of them. Both streams are best
    first: those above the floor, then those under it. ``lead`` is the cosine of the best hint above
    its floor minus that of the best passage. ``outcome`` is None where an answer costs money and
    was not asked for, ``expected`` where nothing was expected, or the question has no words to look
    for, ``refusal`` where that was not asked for or it is refused.
    """

    question: str
    language: str | None
    bundle: str
    embedder: str
    profile: Profile
    words: tuple[QuestionWord, ...]
    corrected: Mapping[str, str]
    unknown: tuple[str, ...]
    nearest: Mapping[str, tuple[str, ...]]
    passages: tuple[ExplainedCandidate, ...]
    hints: tuple[ExplainedCandidate, ...]
    lead: float
    outcome: ExplainedOutcome | None
    expected: ExpectedRank | None
    refusal: RefusalExplanation | None = None

    @property
    def evidence(self) -> tuple[ExplainedCandidate, ...]:
        """List the candidates that an answerer sees, passages first."""
        return tuple(each for each in (*self.passages, *self.hints) if each.fate == "evidence")


def explain_question(
    engine: Engine[Bundle],
    question: str,
    *,
    expect: str | None = None,
    language: str | None = None,
    notes: Mapping[str, str] | None = None,
    refuse: bool = False,
) -> Explanation:
    """Explain one cleaned question; GoldError if nothing has the id that is expected.

    expect: a record, passage, hint or note by its id, or a note by its path. language: a tag of
    the asker's language. notes: from a note's path to its id. refuse: explain what would refuse it.
    An answer is asked for only where it costs nothing.
    """
    bundle = engine.store
    target = None if expect is None else find_expected(bundle, expect, notes or {})
    reading = engine.parse_question(question)
    words = read_question_words(bundle, reading)
    signals = compute_signals(bundle, reading)
    context = QuestionContext(question, bundle, reading, words, signals)
    retrieved = RetrievalResult(reading=reading)
    passages: tuple[ExplainedCandidate, ...] = ()
    hints: tuple[ExplainedCandidate, ...] = ()
    expected: ExpectedRank | None = None
    if words:
        vector = engine.embedder.embed([reading.text])[0]
        retrieved = retrieve(bundle, reading, vector, POOL_SIZE, language, near=TOP_K)
        passages = explain_passages(context, retrieved)
        hints = explain_hints(context, retrieved)
        if target:
            stream = passages if target.stream == "passages" else hints
            expected = rank_expected(context, vector, target, stream, language)
    unknown = list_unknown_words(words)
    has_evidence = any(each.fate == "evidence" for each in (*passages, *hints))
    # Without evidence no answerer runs, so a refusal is free whoever answers.
    is_free = not has_evidence or engine.answerer.max_question_tokens == 0
    outcome = _answer(engine, retrieved, passages) if is_free else None
    if target and expected and target.stream == "passages":
        assert retrieved.vector is not None, "a question with words is embedded"
        expected = _forecast_expected(
            engine, context, target, expected, outcome, retrieved.vector, language
        )
    refusal = None
    if refuse and retrieved.vector is not None and not (outcome and outcome.reason):
        cited = outcome.cited if outcome else ()
        refusal = explain_refusal(
            engine, context, retrieved.vector, passages, hints, cited, language
        )
    return Explanation(
        question=question,
        language=language,
        bundle=bundle.manifest.id,
        embedder=bundle.manifest.identity.label,
        profile=bundle.manifest.profile,
        words=words,
        corrected={each.word: each.replacement for each in reading.remarks if each.replacement},
        unknown=unknown,
        nearest=find_nearest_words(bundle, engine.embedder, unknown),
        passages=passages,
        hints=hints,
        lead=retrieved.truncate(TOP_K).evidence.lead,
        outcome=outcome,
        expected=expected,
        refusal=refusal,
    )


def _answer(
    engine: Engine[Bundle], retrieved: RetrievalResult, passages: Sequence[ExplainedCandidate]
) -> ExplainedOutcome:
    reply = engine.answer_from(retrieved)
    cited = tuple(dict.fromkeys(citation.id for citation in reply.answer.citations))
    pages = list_answer_pages(reply.answer, passages)
    return ExplainedOutcome(reply.answer.mode, reply.reason, reply.confidence, cited, pages)


def _forecast_expected(
    engine: Engine[Bundle],
    context: QuestionContext,
    target: ExpectedTarget,
    expected: ExpectedRank,
    outcome: ExplainedOutcome | None,
    vector: Floats,
    language: str | None,
) -> ExpectedRank:
    """Add what a keyless answer would quote of the expected page, as it is and after an edit."""
    bundle, candidate = context.bundle, expected.candidate
    ids = [bundle.passage_ids[row] for row in target.rows]
    quote = quote_alone(engine, context, vector, target.rows)
    is_evidence = candidate.fate == "evidence"
    is_cited = is_evidence if outcome is None else not set(ids).isdisjoint(outcome.cited)
    forecast = None
    if not is_cited:
        sections = [list(bundle.passage_ids).index(candidate.id)]
        forecast = forecast_edit(engine, context, vector, sections, ids, language)
    return replace(expected, quote=quote, forecast=forecast)
