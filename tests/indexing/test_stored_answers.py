"""Stored answers: what a build keeps of their file, and how both engines' replies tell them."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from answerable.cli.render import print_reply
from answerable.indexing.answers import (
    WrittenAnswer,
    WrittenCitation,
    WrittenClaim,
    read_answers,
    write_answers,
)
from answerable.indexing.questions import SectionQuestions, list_sections, write_questions
from answerable.postgres.rows import pack_snapshot, parse_snapshot
from answerable.serve.answers.wire import serialize_answer
from answerable.serve.bundle_format.stored_answers import parse_stored_answers
from answerable.serve.embedders.embedder import Vectors
from answerable.serve.engine import Engine, find_stored_answer
from answerable.serve.errors import SiteError
from answerable.serve.http.mcp.markdown import format_answer
from answerable.serve.http.messages import make_document
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.rank import hash_words
from answerable.serve.stores.bundle import Bundle
from support.openapi_check import check_response
from support.service_requests import USUAL, Paid, asking, code
from support.sites import NOTES, build, failure, local, opened, put, write_site

QUESTION = "what holds an anchored boat to the galvanised ground tackle"
OTHER = "which signal tells sailors about dangerous gusts"
QUOTE = "The chain of a mooring is twelve millimetres thick."
CLAIM = "A mooring has a chain, twelve millimetres thick."


def store_answer(
    folder: Path, claim: str = CLAIM, quote: str = QUOTE, **changes: str
) -> WrittenAnswer:
    """Store one answer of one claim. changes: of its citation, or the question or the section."""
    sections = {section.id: section for section in list_sections(opened(folder).passages())}
    lines = {"mooring#chains": QUESTION, "storms#lanterns": OTHER}
    write_questions(
        folder / "eval" / "questions.jsonl",
        [SectionQuestions(name, sections[name].hash, (text,)) for name, text in lines.items()],
    )
    section = sections["mooring#chains"]
    citation = {"id": section.id, "hash": section.hash}
    citation |= {name: value for name, value in changes.items() if name in citation}
    claims = (WrittenClaim(claim, (WrittenCitation(quote=quote, **citation),)),)
    answer = WrittenAnswer(
        changes.get("question", QUESTION), changes.get("section", section.id), claims
    )
    write_answers(folder / "eval" / "questions.answers.json", [answer], list(sections.values()))
    return answer


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
    folder = write_site(tmp_path_factory.mktemp("stored"), notes=NOTES)
    assert build(folder, "-q").returncode == 0
    store_answer(folder)
    done = build(folder)
    assert (done.returncode, "left out" in done.stderr) == (0, False)
    return folder


@pytest.fixture(scope="module")
def bundle(site: Path) -> Bundle:
    return opened(site)


def serialize(engine: Engine[Bundle], question: str) -> dict[str, Any]:
    pool = engine.retrieve_for_answer(question)
    reply = engine.answer_from(pool)
    return serialize_answer(reply, engine.store, "req_1", pool.reading.remarks)


def test_the_very_words_of_a_question_get_its_answer_and_excerpts_after_it(bundle: Bundle) -> None:
    engine = make_engine(bundle, local())
    for words in (QUESTION, f"{QUESTION.upper()}?"):
        body = serialize(engine, words)
        assert (body["stored"], body["question"]) == (True, QUESTION)
        assert body["mode"] == "partial"
        assert [claim["text"] for claim in body["claims"]] == [CLAIM]
        (citation,) = body["citations"]
        assert (citation["id"], citation["quote"]) == ("mooring#chains", QUOTE)
        assert body["excerpts"]["claims"][0]["text"] == QUOTE
        assert "stored" not in body["excerpts"]


def asked_as(bundle: Bundle, question: str) -> Bundle:
    """Return the bundle with its stored answer under another question."""
    ((row, stored),) = bundle.answers.items()
    keys = bundle.question_keys.copy()
    keys[row] = hash_words(question)
    return replace(bundle, question_keys=keys, answers={row: replace(stored, question=question)})


def test_a_corrected_question_gets_its_answer_with_the_correction(bundle: Bundle) -> None:
    question = "how thick is the chain of a mooring"
    engine = make_engine(asked_as(bundle, question), local())
    pool = engine.retrieve_for_answer(question.replace("mooring", "moring"))
    reply = engine.answer_from(pool)
    body = serialize_answer(reply, engine.store, "req_1", pool.reading.remarks)
    assert (body["stored"], body["question"]) == (True, question)
    assert body["notes"] == [{"kind": "corrected", "from": "moring", "to": "mooring"}]
    # Once, at the head of both.
    assert body["excerpts"]["notes"] == []
    lines = ["Showing results for “mooring” instead of “moring”.", f"Answer to: {question}"]
    assert format_answer(body).startswith(f"{lines[1]}\n\nShowing results for “mooring”.\n\n")
    console = Console(file=(file := io.StringIO()), width=500)
    print_reply(console, reply, "", None, pool.reading.remarks, engine.search(question))
    printed = file.getvalue()
    assert printed.splitlines()[:2] == lines
    assert printed.count("Showing results") == 1
    assert printed.count("More on this site") == 1


def test_a_database_has_it_too(bundle: Bundle) -> None:
    (stored,) = bundle.answers.values()
    # The words of its question stand among the questions alone.
    assert QUESTION not in json.dumps(stored.as_json())
    assert parse_snapshot(pack_snapshot(bundle), bundle.manifest).answers == bundle.answers


def test_another_question_never_gets_it(bundle: Bundle) -> None:
    engine = make_engine(bundle, local())
    likes = (f"{QUESTION} today", QUESTION.replace("holds", "held"), f"not {QUESTION}", OTHER)
    for words in likes:
        assert "stored" not in serialize(engine, words), words
    # Of another question with the same hash its words are compared.
    (row,) = bundle.answers
    shared = replace(
        bundle, answers={row: replace(bundle.answers[row], question="who is the harbour master")}
    )
    assert find_stored_answer(bundle, QUESTION)
    assert find_stored_answer(shared, QUESTION) is None


def test_no_model_is_called_for_it_and_a_draft_of_the_same_is_equal(bundle: Bundle) -> None:
    evidence = {"source": "mooring#chains", "quote": QUOTE}
    draft = {"claims": [{"text": CLAIM, "evidence": [evidence]}]}
    model = DraftingModel({QUESTION: draft})
    engine = Engine(bundle, local(), model)
    drafted = engine.write_from(engine.retrieve_for_answer(QUESTION)).answer
    silent = Engine(bundle, local(), DraftingModel({}))
    stored = silent.answer(QUESTION)
    assert stored.answer == drafted
    assert [claim.citations for claim in stored.answer.claims] == [
        claim.citations for claim in drafted.claims
    ]
    assert stored.excerpts
    assert silent.bound_tokens(QUESTION) == 0
    assert silent.bound_tokens(OTHER) == 40_000


def test_a_question_that_is_read_otherwise_than_it_is_typed_costs_what_its_answer_does(
    bundle: Bundle,
) -> None:
    words = f"and {QUESTION}"
    engine = Engine(asked_as(bundle, words), PaidEmbedder(), Paid())
    # What continues an earlier question is not of its words, so no stored answer is found for it.
    assert engine.bound_tokens(words) == engine.max_question_tokens
    with pytest.raises(AssertionError, match="embedded"):
        engine.answer(words)


@pytest.mark.parametrize("claim", ["It is 99 metres long.", "Ask captain@evil.example."])
def test_an_index_that_holds_an_ungrounded_answer_is_not_believed(
    bundle: Bundle, claim: str
) -> None:
    ((row, stored),) = bundle.answers.items()
    (sound,) = stored.claims
    for claims in ((replace(sound, text=claim),), (sound, replace(sound, text=claim))):
        hostile = replace(bundle, answers={row: replace(stored, claims=claims)})
        body = serialize(make_engine(hostile, local()), QUESTION)
        assert "stored" not in body
        assert [claim["text"] for claim in body["claims"]] == [QUOTE]


def test_a_function_sends_it_as_it_is_documented_though_the_day_has_no_tokens(
    bundle: Bundle,
) -> None:
    base, document = make_engine(bundle, local()), make_document("1")
    ask = asking(base, replace(USUAL, tokens_per_day=0))
    response = ask(QUESTION)
    check_response(document, "post", "/answer", response)
    body = response.json
    assert (body["stored"], body["question"], body["mode"]) == (True, QUESTION, "partial")
    assert body["excerpts"]["request_id"] == body["request_id"]
    assert all("absolute_url" in row for row in body["excerpts"]["citations"])
    assert ask.answerer.questions == []
    assert code(ask(OTHER)) == "capped"
    # An embedder that costs is not called either, so there are no excerpts.
    paid = replace(base, embedder=PaidEmbedder(), answerer=Paid())
    assert serialize(paid, QUESTION)["excerpts"] is None
    with pytest.raises(AssertionError, match="embedded"):
        paid.answer(OTHER)
    # Agents get it in the words of the ask box.
    text = format_answer(body)
    assert text.startswith(f"Answer to: {QUESTION}\n\n{CLAIM[:-1]} [1].")


class PaidEmbedder:
    """An embedder of the bundle's identity that costs, and may not be called."""

    identity = local().identity
    max_question_tokens = 9
    word_rank = local().word_rank

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(f"embedded {texts}")


@pytest.mark.parametrize(
    "rows",
    [
        [], [[["A claim.", [], []]]], [[["A claim.", [[7, 0, 3]], []]]],
        [[["A claim.", [[0, 3, 3]], []]]], [[["A claim.", [[True, 0, 3]], []]]],
        [[["A claim.", [[0, 0]], []]]], [[[7, [[0, 0, 3]], []]]], [7], ["q"],
        [[["A claim.", [[0, -1, 3]], []]]], 7,
    ],
)  # fmt: skip
def test_a_malformed_stored_answer_is_refused(rows: Any) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        parse_stored_answers(np.array([True]), ["q"], rows, 2)


def replace_text(folder: Path) -> None:
    page = folder / "docs" / "mooring.md"
    put(page, page.read_text("utf-8").replace("twelve", "thirteen"))


def add_text(folder: Path) -> None:
    page = folder / "docs" / "mooring.md"
    put(page, page.read_text("utf-8") + "\nThat was before the storm.\n")


def remove_section(folder: Path) -> None:
    page = folder / "docs" / "mooring.md"
    put(page, page.read_text("utf-8").replace("## Chains", "## Anchors"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (replace_text, "is of a section whose text has changed since its questions were written"),
        (add_text, "is of a section whose text has changed since its questions were written"),
        (remove_section, "is of a section that the site does not have"),
    ],
)
def test_a_changed_section_drops_its_answers_and_the_build_says_which(
    tmp_path: Path, change: Callable[[Path], None], reason: str
) -> None:
    folder = write_site(tmp_path)
    assert build(folder, "-q").returncode == 0
    store_answer(folder)
    change(folder)
    done = build(folder)
    assert done.returncode == 0
    assert done.stderr.count("questions.answers.json: 1 stored answer left out") == 1
    assert f"the answer to “{QUESTION}” {reason}" in done.stderr
    assert opened(folder).manifest.counts["answers"] == 0
    # An unchanged site says so again.
    assert reason in build(folder).stderr


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"claim": "A chain of twelve millimetres belongs to a mooring."}, None),
        ({"claim": "The chain is 90 mm thick."}, "claims what its quotes do not say (number)"),
        ({"claim": "Use `chain --weld` for it."}, "claims what its quotes do not say (code)"),
        ({"quote": "The chain is of gold."}, "quotes words that mooring#chains does not say"),
        ({"id": "mooring#anchors"}, "cites mooring#anchors, which the site does not have"),
        ({"hash": "0" * 16}, "cites mooring#chains, whose text has changed since"),
        ({"question": "who is it"}, "is to no question of the file of questions"),
        # An author who writes one by hand needs no hash.
        ({"hash": ""}, None),
    ],
)
def test_what_is_edited_by_hand_is_judged_by_the_contract(
    tmp_path: Path, changes: dict[str, str], reason: str | None
) -> None:
    folder = write_site(tmp_path)
    assert build(folder, "-q").returncode == 0
    store_answer(folder, **changes)
    done = build(folder)
    assert done.returncode == 0
    assert ("left out" in done.stderr) == (reason is not None)
    assert (reason or "") in done.stderr
    assert opened(folder).manifest.counts["answers"] == (reason is None)


def test_a_malformed_file_stops_the_build_and_is_named(tmp_path: Path) -> None:
    folder = write_site(tmp_path)
    assert build(folder, "-q").returncode == 0
    store_answer(folder)
    path = folder / "eval" / "questions.answers.json"
    rows = json.loads(path.read_text("utf-8"))
    rows[0]["claims"][0]["text"] = 7
    path.write_text(json.dumps(rows), "utf-8")
    assert "$[0].claims[0].text" in failure(folder)
    with pytest.raises(SiteError, match=r"questions\.answers\.json cannot be read"):
        read_answers(path)


def test_the_words_of_a_note_in_a_stored_answer_stop_the_build(tmp_path: Path) -> None:
    folder = write_site(tmp_path, notes=NOTES)
    assert build(folder, "-q").returncode == 0
    private = "the electric winch was taken from a scrapped tractor in the spring"
    store_answer(folder, claim=f"{CLAIM[:-1]}, as {private}.")
    message = failure(folder)
    assert "questions.answers.json" in message
    assert "winch.md" in message
    # Also if the answer holds no more: the file is committed with the site.
    store_answer(folder, claim=f"Of 99 winches, {private}.")
    assert "questions.answers.json" in failure(folder)
