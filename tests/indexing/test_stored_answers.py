"""Stored answers: what a build keeps of their file, and how replies tell them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from answerable.engine.answers.wire import serialize_answer
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine, find_stored_answer
from answerable.engine.errors import SiteError
from answerable.engine.providers import make_engine
from answerable.engine.retrieval.rank import hash_words
from answerable.engine.vectors import Floats
from answerable.function.app import make_document
from answerable.function.mcp.tools import format_answer
from answerable.indexing.answers import (
    WrittenAnswer,
    WrittenCitation,
    WrittenClaim,
    read_answers,
    write_answers,
)
from support.known_questions import store_answer, write_known_questions
from support.openapi_check import check_response
from support.service_requests import Paid, asking, code, usual
from support.sites import build_here, failure, local, opened, put, write_site

QUESTION = "what holds an anchored boat to the galvanised ground tackle"
OTHER = "which signal tells sailors about dangerous gusts"
QUOTE = "The chain of a mooring is twelve millimetres thick."
CLAIM = "A mooring has a chain, twelve millimetres thick."
SECTION = "mooring#chains"


@dataclass(frozen=True)
class DraftingModel:
    """A model whose drafts are known by question; one without a draft raises when it is called."""

    drafts: Mapping[str, object]
    label: str = "model"
    max_question_tokens: int = 40_000
    max_evidence_characters: int | None = 24_000

    def draft(self, question: str, *_: object) -> object:
        return self.drafts[question]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one stored answer."""
    folder = write_site(tmp_path_factory.mktemp("stored"))
    build_here(folder)
    sections = write_known_questions(folder, {SECTION: [QUESTION], "storms#lanterns": [OTHER]})
    store_answer(folder, sections[SECTION], QUESTION, CLAIM, QUOTE)
    build_here(folder)
    return folder


@pytest.fixture(scope="module")
def bundle(site: Path) -> Bundle:
    return opened(site)


def serialize(engine: Engine[Bundle], question: str) -> dict[str, Any]:
    pool = engine.retrieve_for_answer(question)
    return serialize_answer(engine.answer_from(pool), engine.store, pool.reading.remarks)


def test_the_very_words_of_a_question_get_its_answer_and_excerpts_after_it(bundle: Bundle) -> None:
    engine = make_engine(bundle, local())
    for words in (QUESTION, f"{QUESTION.upper()}?"):
        body = serialize(engine, words)
        assert (body["stored"], body["question"], body["mode"]) == (True, QUESTION, "partial")
        assert [claim["markdown"] for claim in body["claims"]] == [CLAIM]
        (citation,) = body["citations"]
        assert (citation["id"], citation["quote"]) == (SECTION, QUOTE)
        assert body["excerpts"]["claims"][0]["markdown"] == QUOTE
        assert "stored" not in body["excerpts"]
    assert format_answer(body).startswith(f"Answer to: {QUESTION}\n\n{CLAIM[:-1]} [1].")


def test_a_corrected_question_gets_its_answer_with_the_correction(bundle: Bundle) -> None:
    question = "how thick is the chain of a mooring"
    index = bundle.index
    (row,) = np.flatnonzero(index.has_answer)
    keys = index.question_keys.copy()
    keys[row] = hash_words(question)
    questions = [question if each == row else text for each, text in enumerate(index.questions)]
    asked = replace(bundle, index=replace(index, question_keys=keys, questions=questions))
    body = serialize(make_engine(asked, local()), question.replace("mooring", "moring"))
    assert (body["stored"], body["question"]) == (True, question)
    assert body["notes"] == [{"kind": "corrected", "from": "moring", "to": "mooring"}]
    # Once, at the head of both.
    assert body["excerpts"]["notes"] == []


def test_another_question_never_gets_it(bundle: Bundle) -> None:
    engine = make_engine(bundle, local())
    for words in (f"{QUESTION} today", QUESTION.replace("holds", "held"), f"not {QUESTION}", OTHER):
        assert "stored" not in serialize(engine, words), words
    # Of another question with the same hash its words are compared.
    others = ["who is the harbour master"] * len(bundle.index.questions)
    shared = replace(bundle, index=replace(bundle.index, questions=others))
    assert find_stored_answer(bundle, QUESTION)
    assert find_stored_answer(shared, QUESTION) is None


def test_no_model_is_called_for_it_and_a_draft_of_the_same_is_equal(bundle: Bundle) -> None:
    draft = {"claims": [{"text": CLAIM, "evidence": [{"source": SECTION, "quote": QUOTE}]}]}
    engine = Engine(bundle, local(), DraftingModel({QUESTION: draft}))
    drafted = engine.write_from(engine.retrieve_for_answer(QUESTION)).answer
    # A model without a draft raises when it is called.
    silent = Engine(bundle, local(), DraftingModel({}))
    assert silent.answer(QUESTION).answer == drafted
    assert not silent.is_paid(QUESTION)
    assert silent.is_paid(OTHER)


@pytest.mark.parametrize("claim", ["It is 99 metres long.", "Ask captain@evil.example."])
def test_an_index_that_holds_an_ungrounded_answer_is_not_believed(
    bundle: Bundle, claim: str
) -> None:
    ((sound,),) = bundle.index.answers
    answers = [(sound, structs.replace(sound, text=claim, markdown=claim))]
    hostile = replace(bundle, index=replace(bundle.index, answers=answers))
    body = serialize(make_engine(hostile, local()), QUESTION)
    assert "stored" not in body
    assert [claim["markdown"] for claim in body["claims"]] == [QUOTE]


class PaidEmbedder:
    """An embedder of the bundle's identity that costs, and may not be called."""

    identity = local().identity
    max_question_tokens = 9
    word_rank = local().word_rank

    def embed(self, texts: Sequence[str]) -> Floats:
        raise AssertionError(f"embedded {texts}")


def test_a_function_sends_it_as_it_is_documented_though_the_day_has_no_tokens(
    bundle: Bundle,
) -> None:
    base = make_engine(bundle, local())
    ask = asking(base, usual(tokens_per_day=0))
    response = ask(QUESTION)
    check_response(make_document("1"), "post", "/answer", response)
    assert response.json["stored"]
    assert ask.answerer.questions == []
    assert code(ask(OTHER)) == "capped"
    # An embedder that costs is not called either, so there are no excerpts.
    paid = replace(base, embedder=PaidEmbedder(), answerer=Paid())
    assert serialize(paid, QUESTION)["excerpts"] is None
    with pytest.raises(AssertionError, match="embedded"):
        paid.answer(OTHER)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("twelve", "thirteen", "whose text has changed since its questions were written"),
        ("## Chains", "## Anchors", "is of a section that the site does not have"),
    ],
)
def test_a_changed_section_drops_its_answers_and_the_build_says_which(
    site: Path, caplog: pytest.LogCaptureFixture, old: str, new: str, reason: str
) -> None:
    page = site / "docs" / "mooring.md"
    text = page.read_text("utf-8")
    put(page, text.replace(old, new))
    build_here(site)
    put(page, text)
    assert "questions.answers.json: 1 stored answer left out" in caplog.text
    assert f"the answer to “{QUESTION}” is of a section" in caplog.text
    assert reason in caplog.text
    assert opened(site).manifest.counts["answers"] == 0


# What is changed by hand, and why the answer is left out; None if it is kept.
EDITS: tuple[tuple[dict[str, str], str | None], ...] = (
    ({"claim": "A chain of twelve millimetres belongs to a mooring."}, None),
    # An author who writes one by hand needs no hash.
    ({"hash": ""}, None),
    ({"claim": "The chain is 90 mm thick."}, "claims what its quotes do not say (number)"),
    ({"quote": "The chain is of gold."}, "quotes words that mooring#chains does not say"),
    ({"id": "mooring#anchors"}, "cites mooring#anchors, which the site does not have"),
)


def test_what_is_edited_by_hand_is_judged_by_the_contract(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build_here(write_site(tmp_path))
    words = "anchor buoy crane deck engine".split()
    questions = [f"what holds the {word} of a boat" for word in words]
    section = write_known_questions(tmp_path, {SECTION: questions})[SECTION]
    answers = []
    for question, (edit, _) in zip(questions, EDITS, strict=True):
        fields = {"id": SECTION, "quote": QUOTE,
                  "hash": section.hash, "claim": CLAIM, **edit}  # fmt: skip
        claim = fields.pop("claim")
        answers.append(
            WrittenAnswer(question, SECTION, (WrittenClaim(claim, (WrittenCitation(**fields),)),))
        )
    answers.append(replace_question(answers[0], "who is it"))
    write_answers(tmp_path / "eval" / "questions.answers.json", answers, [section])
    build_here(tmp_path)
    assert opened(tmp_path).manifest.counts["answers"] == 2
    for question, (_, reason) in zip(questions, EDITS, strict=True):
        assert (f"the answer to “{question}” {reason}" in caplog.text) is (reason is not None)
    assert "the answer to “who is it” is to no question of the file of questions" in caplog.text


def replace_question(answer: WrittenAnswer, question: str) -> WrittenAnswer:
    return WrittenAnswer(question, answer.section, answer.claims)


def test_a_malformed_file_stops_the_build_and_is_named(tmp_path: Path) -> None:
    path = write_site(tmp_path) / "eval" / "questions.answers.json"
    put(path, json.dumps([{"question": "a", "section": "b", "claims": [{"text": 7}]}]))
    assert "$[0].claims[0].text" in failure(tmp_path)
    with pytest.raises(SiteError, match=r"questions\.answers\.json cannot be read"):
        read_answers(path)
