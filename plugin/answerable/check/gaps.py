"""Count the logged questions that the site does not answer, each with the section nearest to it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from ..engine.answers.keyless import ExtractiveAnswerer
from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.retrieval.rank import SAME_QUESTION
from ..engine.retrieval.retrieve import POOL_SIZE, RetrievalResult, retrieve
from ..engine.types import Mode
from ..function.logs import (
    LoggedReason,
    Name,
    RefusalLine,
    find_nearest_section,
    normalize_question_words,
)
from .why import list_missing_words

# By question: why it is a gap, None where it is answered by now, and the nearest section.
Outcomes = dict[str, tuple[LoggedReason | None, str | None]]

_REFUSAL_EVENT = re.compile(r'"event"\s*:\s*"refusal"')
_SENT_QUESTION = re.compile(r'\{(?=.*"question"\s*:)(?=.*"mode"\s*:)')


class SentQuestion(msgspec.Struct):
    """A question that a reader has sent to ``widget.feedback``, as the ask box sends it."""

    question: str
    mode: Mode
    bundle: Name = ""

    def to_refusal(self) -> RefusalLine:
        """Make the line that a function would have logged, without a time and an asker."""
        reason: LoggedReason = "no-evidence" if self.mode == "not-found" else "nearest"
        return RefusalLine("", reason, self.bundle, "", "", text=self.question)


def parse_refusals(texts: Iterable[str]) -> tuple[list[RefusalLine], int]:
    """Parse the unanswered questions of logs, a JSON object a line, and count the damaged ones.

    They are a function's refusals and what readers have sent. Every line of another kind is
    skipped.
    """
    refusals: list[RefusalLine] = []
    damaged = 0
    for line in (line for text in texts for line in text.split("\n")):
        try:
            if _REFUSAL_EVENT.search(line):
                refusals.append(msgspec.json.decode(line, type=RefusalLine))
            elif _SENT_QUESTION.match(line):
                refusals.append(msgspec.json.decode(line, type=SentQuestion).to_refusal())
        except (ValueError, RecursionError):
            damaged += 1
    return refusals, damaged


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that the site does not answer: its text, or its hash where the log has no text.

    ``askers`` counts each asker once a day. ``near`` is the id of the nearest section.
    """

    question: str
    asked: int
    askers: int
    last: str
    reason: LoggedReason
    near: str | None


def list_gaps(
    refusals: Iterable[RefusalLine], engine: Engine[Bundle] | None
) -> tuple[tuple[Gap, ...], int]:
    """List the questions that are gaps, the most asked first, and count those that no longer are.

    engine: over the site as it is, which is asked each question with a text again.
    """
    groups: dict[str, list[RefusalLine]] = {}
    for refusal in refusals:
        # A hash is of one process or one secret, a text is the same whoever has logged it.
        key = normalize_question_words(refusal.text) if refusal.text else refusal.question
        groups.setdefault(key, []).append(refusal)
    latest = {key: group[-1] for key, group in groups.items()}
    outcomes: Outcomes = {key: (refusal.reason, refusal.near) for key, refusal in latest.items()}
    if engine and (with_text := {key: each.text for key, each in latest.items() if each.text}):
        outcomes |= _ask_again(with_text, latest, engine)
    gaps = []
    for key, group in groups.items():
        reason, near = outcomes[key]
        if reason is not None:
            askers = {refusal.asker for refusal in group if refusal.asker}
            last = max(refusal.time for refusal in group)[:10]
            question = latest[key].text or latest[key].question
            gaps.append(Gap(question, len(group), len(askers), last, reason, near))
    return tuple(sorted(gaps, key=lambda gap: -gap.asked)), len(groups) - len(gaps)


def _ask_again(
    texts: Mapping[str, str], latest: Mapping[str, RefusalLine], engine: Engine[Bundle]
) -> Outcomes:
    """Ask questions without a model; a refusal by a model stands, since it read more."""
    store, embedder = engine.store, engine.embedder
    keyless = Engine(store, embedder, ExtractiveAnswerer())
    has_model = engine.answerer.max_evidence_characters is not None
    readings = [engine.parse_question(text) for text in texts.values()]
    vectors = embedder.embed([reading.question for reading in readings])
    outcomes: Outcomes = {}
    for key, reading, vector in zip(texts, readings, vectors, strict=True):
        retrieved = retrieve(store, reading, vector, POOL_SIZE, near=1)
        reason: LoggedReason | None = latest[key].reason
        if not has_model or reason not in ("declined", "contract"):
            reason = _judge(keyless, retrieved)
        outcomes[key] = reason, find_nearest_section(retrieved)
    return outcomes


def _judge(keyless: Engine[Bundle], retrieved: RetrievalResult) -> LoggedReason | None:
    """Judge whether the site answers a question, or only holds something near; None if it does."""
    reply, reading = keyless.answer_from(retrieved), retrieved.reading
    if reply.reason or reply.stored or not reply.answer.claims:
        return reply.reason
    first = reply.citations[0].id
    pool = (*retrieved.passages, *retrieved.siblings)
    scored = next(each for each in pool if each.item.id == first)
    # "Is HTTP/3 supported?" is not answered by a section on HTTP/2.
    is_near = bool(list_missing_words(keyless.store, reading, scored.row))
    words = [word.strip(".,;:?!()\"'").lower() for word in reading.question.split()]
    text = f"{scored.item.title} {scored.item.text}".lower()
    is_near |= any(word not in text for word in words if re.search(r"\d", word))
    is_near |= any(remark.kind == "unknown" for remark in reading.remarks)
    is_known = scored.question > SAME_QUESTION
    is_low = reply.confidence == "low"
    return "nearest" if (is_near and not is_known) or is_low else None
