"""Count the logged questions that the site does not answer, each with the section nearest to it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
    texts = [text for group in groups.values() if (text := group[-1].text)]
    pools = _retrieve_again(texts, engine) if engine and texts else {}
    gaps = []
    for group in groups.values():
        latest = group[-1]
        reason: LoggedReason | None = latest.reason
        near = latest.near
        if engine and (pool := pools.get(latest.text or "")):
            near = find_nearest_section(pool)
            # A refusal by a model stands, since it read more.
            has_model = engine.answerer.max_evidence_characters is not None
            if not has_model or reason not in ("declined", "contract"):
                reason = _judge(engine, pool)
        if reason is not None:
            askers = {refusal.asker for refusal in group if refusal.asker}
            last = max(refusal.time for refusal in group)[:10]
            question = latest.text or latest.question
            gaps.append(Gap(question, len(group), len(askers), last, reason, near))
    return tuple(sorted(gaps, key=lambda gap: -gap.asked)), len(groups) - len(gaps)


def _retrieve_again(texts: Sequence[str], engine: Engine[Bundle]) -> dict[str, RetrievalResult]:
    """Retrieve what the site has for each question now. One call embeds all of them."""
    readings = [engine.parse_question(text) for text in texts]
    vectors = engine.embedder.embed([reading.question for reading in readings])
    return {
        text: retrieve(engine.store, reading, vector, POOL_SIZE, near=1)
        for text, reading, vector in zip(texts, readings, vectors, strict=True)
    }


def _judge(engine: Engine[Bundle], retrieved: RetrievalResult) -> LoggedReason | None:
    """Name why a question is a gap, or None if the site answers it. No model is asked."""
    reply = replace(engine, answerer=ExtractiveAnswerer()).answer_from(retrieved)
    reading = retrieved.reading
    if reply.reason or reply.stored or not reply.answer.claims:
        return reply.reason
    first = reply.citations[0].id
    pool = (*retrieved.passages, *retrieved.siblings)
    scored = next(each for each in pool if each.item.id == first)
    # "Is HTTP/3 supported?" is not answered by a section on HTTP/2.
    is_near = bool(list_missing_words(engine.store, reading, scored.row))
    words = [word.strip(".,;:?!()\"'").lower() for word in reading.question.split()]
    text = f"{scored.item.title} {scored.item.text}".lower()
    is_near |= any(word not in text for word in words if re.search(r"\d", word))
    is_near |= any(remark.kind == "unknown" for remark in reading.remarks)
    is_known = scored.question > SAME_QUESTION
    is_low = reply.confidence == "low"
    return "nearest" if (is_near and not is_known) or is_low else None
