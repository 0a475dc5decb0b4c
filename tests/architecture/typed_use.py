"""What mypy must allow and refuse; `make check` reads this module, and nothing runs it.

An error that is ignored here and is none fails that check.
"""

from typing import Literal, assert_type

import answerable
from answerable import (
    Answer,
    Answerer,
    Embedder,
    EmbedderIdentity,
    Engine,
    Evidence,
    FunctionSettings,
    Passage,
    Profile,
    Provider,
    Reply,
    Store,
)
from answerable.engine.answers.prompt import frame_evidence
from answerable.engine.types import Claim, RoutingHint
from answerable.indexing.notes.notebook import Note


class FirstPassage:
    """An answerer as the author of a provider writes it."""

    label = "first"
    max_question_tokens = 0
    max_evidence_characters = None

    def __init__(self, settings: FunctionSettings) -> None:
        self.settings = settings

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        del question, violation
        passage: Passage = evidence.passages[0]
        return {"claims": [{"text": passage.text, "evidence": []}]}


def use(embedder: Embedder, store: Store) -> tuple[Provider, EmbedderIdentity]:
    answerer: Answerer = FirstPassage(FunctionSettings())
    try:
        reply = Engine(store, embedder, answerer).answer("?")
    except answerable.AnswerableError:
        reply = answerable.open_bundle("function").answer("?")
    assert_type(reply, Reply)
    assert_type(reply.answer, Answer)
    assert_type(reply.text, str)
    assert_type(reply.mode, Literal["supported", "partial", "related-material", "not-found"])
    assert_type(answerable.__version__, str)
    return Provider(profile=Profile(floor=0.5)), EmbedderIdentity("letters", "pairs", 512)


def leak(note: Note, hint: RoutingHint, answer: Answer) -> str:
    Evidence(passages=(note,))  # type: ignore[arg-type]
    Evidence(hints=(note,))  # type: ignore[arg-type]
    frame_evidence("question", note)  # type: ignore[arg-type]
    answer.mode = "supported"  # type: ignore[misc]
    Claim("A sentence without a source.")  # type: ignore[call-arg]
    return str(hint.text)  # type: ignore[attr-defined]
