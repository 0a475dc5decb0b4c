"""From question to reply: attempts, refusals and identities."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.answers.contract import read_search_words
from answerable.engine.answers.keyless import ExtractiveAnswerer
from answerable.engine.engine import Engine
from answerable.engine.errors import ContractViolation, EmbedderError, ProviderError
from answerable.engine.index.manifest import Profile
from answerable.engine.request_context import RequestContext, use_context
from answerable.engine.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.engine.types import Answer, Evidence
from answerable.engine.vectors import EmbedderIdentity
from support.doubles import TINY, bundle_of, engine_of, index_of, note, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

PAGE = record("rope", "<p>A rope holds the boat.</p>")
GOOD = {"claims": [{"text": "A rope.", "evidence": [{"source": "s1", "quote": "A rope holds"}]}]}
INVENTED = {"claims": [{"text": "A rope.", "evidence": [{"source": "s9", "quote": "A rope"}]}]}


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
    assert (reply.answer, reply.reason, reply.confidence) == (Answer(), "contract", "low")
    assert len(answerer.violations) == 2


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
    assert answerer.evidence == [engine.select_evidence(engine.retrieve_for_answer("rope?"))]


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


def writing(*drafts: object, characters: int = 24_000, tokens: int = 0) -> ScriptedAnswerer:
    """An answerer that words its claims, as a model does."""
    return ScriptedAnswerer(
        list(drafts), max_evidence_characters=characters, max_question_tokens=tokens
    )


def claim(text: str, quote: str) -> dict[str, Any]:
    return {"text": text, "evidence": [{"source": "s1", "quote": quote}]}


HOLDS = claim("A rope holds the boat.", "A rope holds the boat.")
FALLS = claim("A rope holds 12 boats.", "A rope holds the boat.")
MISQUOTES = claim("A rope holds the boat.", "Ropes are what holds boats.")


def test_a_complete_answer_is_sure_and_one_in_part_is_not(tmp_path: Path) -> None:
    answerer = writing({"complete": True, "claims": [HOLDS]}, {"claims": [HOLDS]})
    engine = engine_of(tmp_path, PAGE, answerer=answerer)
    whole, part = engine.answer("rope?"), engine.answer("rope?")
    assert (whole.written, whole.answer.complete, whole.confidence) == (True, True, "high")
    assert (part.written, part.answer.complete) == (True, False)
    assert part.confidence == "medium"


def test_a_fallen_first_claim_is_named_to_the_model_and_written_again(tmp_path: Path) -> None:
    answerer = writing({"claims": [FALLS, HOLDS]}, {"claims": [HOLDS]})
    reply = engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?")
    assert [claim.text for claim in reply.answer.claims] == [HOLDS["text"]]
    violation = answerer.violations[1] or ""
    assert violation.startswith("claim 1: ")
    assert "(number)" in violation


def test_what_is_left_after_two_drafts_is_shown_in_part(tmp_path: Path) -> None:
    draft = {"complete": True, "claims": [FALLS, HOLDS]}
    reply = engine_of(tmp_path, PAGE, answerer=writing(draft, draft)).answer("rope?")
    assert (len(reply.answer.claims), reply.answer.dropped) == (1, 1)
    assert reply.confidence == "medium"


def test_a_fallen_later_claim_costs_no_second_call(tmp_path: Path) -> None:
    answerer = writing({"claims": [HOLDS, FALLS]})
    assert engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?").answer.dropped == 1


def test_passages_that_a_model_names_and_misquotes_are_quoted_for_it(tmp_path: Path) -> None:
    draft = {"claims": [MISQUOTES]}
    reply = engine_of(tmp_path, PAGE, answerer=writing(draft, draft)).answer("rope?")
    assert [citation.url for citation in reply.citations] == ["/rope/"]
    assert (reply.written, reply.reason) == (False, None)
    assert isinstance(reply.failure, ContractViolation)


@pytest.mark.parametrize("drafts", [[{"claims": []}], [{"claims": [FALLS]}, {"claims": []}]])
def test_a_model_that_declines_is_a_refusal(tmp_path: Path, drafts: list[object]) -> None:
    reply = engine_of(tmp_path, PAGE, answerer=writing(*drafts)).answer("rope?")
    assert (reply.reason, reply.failure) == ("declined", None)


def test_claims_of_a_first_draft_are_kept_where_the_second_call_fails(tmp_path: Path) -> None:
    answerer = Unreachable([{"claims": [FALLS, HOLDS]}], max_evidence_characters=24_000)
    reply = engine_of(tmp_path, PAGE, answerer=answerer).answer("rope?")
    assert [claim.text for claim in reply.answer.claims] == [HOLDS["text"]]
    assert reply.failure is None


ROPES = record("rope", f"<p>A rope holds the boat. {'It is tarred each spring. ' * 5}</p>")
BUOYS = record("buoy", f"<p>A buoy marks the way. {'Guests pass it on the left. ' * 5}</p>")
MARKS = claim("A buoy marks the way.", "A buoy marks the way.")
DECLINES = {"claims": [], "search": "buoy guests"}


def test_a_model_that_declines_is_shown_what_its_own_words_find(tmp_path: Path) -> None:
    answerer = writing(DECLINES, {"claims": [MARKS], "search": ""}, characters=200)
    reply = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer).answer("rope?")
    assert [[page.id for page in seen.passages] for seen in answerer.evidence] == [
        ["rope"],
        ["buoy"],
    ]
    assert [citation.url for citation in reply.citations] == ["/buoy/"]


def test_words_of_a_model_reach_no_note(tmp_path: Path) -> None:
    index = index_of(tmp_path, [ROPES, BUOYS], [note("one", "buoy guests")])
    bundle = bundle_of(tmp_path, index, Profile(floor=0.0, note_floor=0.95))
    answerer = writing(DECLINES, {"claims": [MARKS]}, characters=200)
    engine = Engine(bundle, LetterEmbedder(), answerer)
    assert engine.retrieve("buoy guests").hints
    assert engine.answer("rope?").mode == "partial"
    assert [seen.hints for seen in answerer.evidence] == [(), ()]


def test_words_of_a_model_search_in_the_language_of_the_question(tmp_path: Path) -> None:
    pages = [ROPES, BUOYS, replace(BUOYS, id="buoy-en", url="/buoy-en/")]
    index = index_of(tmp_path, pages, languages={"rope": "de", "buoy": "de"})
    bundle = bundle_of(tmp_path, index, Profile(floor=0.0, note_floor=0.0))
    answerer = writing(DECLINES, {"claims": [MARKS]}, characters=200)
    Engine(bundle, LetterEmbedder(), answerer).answer("rope?", "de")
    assert [page.id for page in answerer.evidence[1].passages] == ["buoy"]


@pytest.mark.parametrize("search", ["rope", "", 7, None, "\udcff"])
def test_a_search_that_finds_nothing_new_leaves_the_refusal(tmp_path: Path, search: object) -> None:
    answerer = writing({"claims": [], "search": search}, characters=200)
    reply = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer).answer("rope?")
    assert (reply.reason, len(answerer.evidence)) == ("declined", 1)


@pytest.mark.parametrize("draft", [{"claims": [HOLDS]}, {"routes": ["s1"]}])
def test_a_draft_that_does_not_decline_searches_nothing(
    tmp_path: Path, draft: dict[str, Any]
) -> None:
    answerer = writing(draft | {"search": "buoy guests"}, characters=200)
    engine_of(tmp_path, ROPES, BUOYS, answerer=answerer).answer("rope?")
    assert len(answerer.evidence) == 1


def test_search_words_are_as_short_as_a_question() -> None:
    # This sign is 18 characters once it is cleaned.
    words = read_search_words({"search": 600 * "\ufdfa"})
    assert len(words) == MAX_QUESTION_CHARACTERS


@pytest.mark.parametrize(
    ("second", "reason"),
    [(DECLINES, "declined"), (INVENTED, "contract"), ({"claims": [MISQUOTES]}, None)],
)
def test_a_draft_after_a_search_is_the_last_and_judged_as_any(
    tmp_path: Path, second: object, reason: str | None
) -> None:
    answerer = writing(DECLINES, second, characters=200)
    reply = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer).answer("rope?")
    assert (reply.reason, len(answerer.evidence)) == (reason, 2)
    # What it names is quoted for it, as after any draft that copies badly.
    assert [citation.url for citation in reply.citations] == ([] if reason else ["/buoy/"])
    assert isinstance(reply.failure, ContractViolation) == (reason is None)


def test_a_draft_that_declines_when_it_is_corrected_searches_no_more(tmp_path: Path) -> None:
    answerer = writing(INVENTED, DECLINES, characters=200, tokens=5_000)
    engine = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer)
    paid = replace(engine, embedder=LetterEmbedder(max_question_tokens=10))
    with use_context(RequestContext()) as context:
        assert paid.answer("rope?").reason == "declined"
    assert context.tokens == 5_000 + 10


def test_a_call_that_fails_after_a_search_gives_the_keyless_reply(tmp_path: Path) -> None:
    answerer = Unreachable([DECLINES], max_evidence_characters=200)
    reply = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer).answer("rope?")
    assert isinstance(reply.failure, ProviderError)
    assert reply.citations[0].url == "/rope/"


def test_a_search_leaves_what_a_question_counts_for(tmp_path: Path) -> None:
    answerer = writing(DECLINES, {"claims": [MARKS]}, characters=200, tokens=5_000)
    engine = engine_of(tmp_path, ROPES, BUOYS, answerer=answerer)
    paid = replace(engine, embedder=LetterEmbedder(max_question_tokens=10))
    with use_context(RequestContext()) as context:
        paid.answer("rope?")
    assert context.tokens == 5_000 + 2 * 10


class Unreachable(ScriptedAnswerer):
    """A model whose server is down once the script has ended."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        if self.drafts:
            return self.drafts.pop(0)
        raise ProviderError(f"no answer to {question} {evidence} {violation}", cause="unreachable")


def test_a_failing_model_gives_the_keyless_reply(tmp_path: Path) -> None:
    down = Unreachable([], max_evidence_characters=24_000)
    engine = engine_of(tmp_path, PAGE, answerer=down)
    keyless = replace(engine, answerer=ExtractiveAnswerer())
    for question in ("rope?", "zeppelin?"):
        reply = engine.answer(question)
        assert reply == keyless.answer(question)
        assert reply.failure is not None
        assert reply.failure.cause == "unreachable"
