"""From question to reply: attempts, refusals and identities."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.engine import Engine
from answerable.serve.errors import EmbedderError
from answerable.serve.types import Answer, Evidence
from answerable.testing import LetterEmbedder, ScriptedAnswerer
from support.doubles import TINY, engine_of, record

PAGE = record("rope", "<p>A rope holds the boat.</p>")
GOOD = {"claims": [{"text": "A rope.", "evidence": [{"source": "s1", "quote": "A rope holds"}]}]}
INVENTED = {"claims": [{"text": "A rope.", "evidence": [{"source": "s9", "quote": "A rope"}]}]}


def test_valid_draft_is_answered_at_once(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer([GOOD])
    reply = engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?")
    assert reply.answer.mode == "partial"
    assert reply.reason is None
    assert answerer.violations == [None]


@pytest.mark.parametrize("bad", [INVENTED, "prose", {"claims": [{}]}])
def test_second_attempt_receives_the_violation(tmp_path: Path, bad: object) -> None:
    answerer = ScriptedAnswerer([bad, GOOD])
    reply = engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?")
    assert reply.answer.mode == "partial"
    assert answerer.violations[0] is None
    assert answerer.violations[1]


def test_two_invalid_drafts_are_refused_for_contract(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer([INVENTED, INVENTED, GOOD])
    reply = engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?")
    assert (reply.answer, reply.reason, reply.confidence) == (Answer(), "contract", 0.0)
    assert len(answerer.violations) == 2


def test_empty_draft_is_refused_as_declined(tmp_path: Path) -> None:
    reply = engine_of(tmp_path, PAGE, answerer=ScriptedAnswerer([{}])).answer("rope?")
    assert (reply.answer.mode, reply.reason) == ("not-found", "declined")


def test_flat_draft_does_not_bypass_the_quote_check(tmp_path: Path) -> None:
    cited = {"kind": "record", "recordId": "rope", "url": "/rope/"}
    flat = {"mode": "partial", "answer": "Ropes are made of gold.", "citations": [cited]}
    reply = engine_of(tmp_path, PAGE, answerer=ScriptedAnswerer([flat])).answer("rope?")
    assert (reply.answer, reply.reason) == (Answer(), "declined")


def test_answerer_is_not_called_without_evidence(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer([])
    reply = engine_of(tmp_path, answerer=answerer).answer("rope 12?")
    assert (reply.answer, reply.reason) == (Answer(), "no-evidence")
    assert answerer.evidence == []


def test_answerer_sees_only_retrieved_evidence(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer([GOOD])
    engine = engine_of(tmp_path, PAGE, answerer=answerer)
    engine.answer("rope?")
    assert answerer.evidence == [engine.retrieve("rope?").evidence]


@dataclass
class Other(LetterEmbedder):
    identity: EmbedderIdentity


@pytest.mark.parametrize(
    "identity",
    [replace(TINY, model="other"), replace(TINY, dimensions=4), replace(TINY, provider="other")],
)
def test_embedder_of_another_identity_is_refused(
    tmp_path: Path, identity: EmbedderIdentity
) -> None:
    engine = engine_of(tmp_path, PAGE)
    with pytest.raises(EmbedderError, match="build again with this embedder"):
        Engine(engine.store, Other(identity), ScriptedAnswerer([]))


def test_confidence_grows_with_distance_from_the_floor(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, PAGE, answerer=ScriptedAnswerer([GOOD, GOOD]))
    sure = engine.answer("A rope holds the boat").confidence
    unsure = engine.answer("rope zeppelin").confidence
    assert 0 < unsure < sure <= 1


class Unbounded:
    """An answerer that forgets what it costs."""

    label = "unbounded"

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        raise AssertionError(f"it is never asked: {question} {evidence} {violation}")


def test_answerer_without_token_bound_does_not_escape_the_cap(tmp_path: Path) -> None:
    engine: Any = engine_of(tmp_path, PAGE)
    with pytest.raises(AttributeError, match="max_question_tokens"):
        replace(engine, answerer=Unbounded()).max_question_tokens  # noqa: B018 - it raises
