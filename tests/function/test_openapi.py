"""OpenAPI document: valid, in agreement with the types, and true of what the service sends."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest
from jsonschema import ValidationError
from openapi_spec_validator import validate

from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.engine.request_context import RequestStage
from answerable.engine.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.engine.text import tokenization
from answerable.engine.types import Confidence, Mode, Reason
from answerable.function.app import make_document
from answerable.function.exchange import EVENT_STREAM_TYPE
from answerable.function.requests import JSON_TYPE, PROBLEM_STATUSES, PROBLEM_TYPE, ProblemCode
from support import openapi_check
from support.service_requests import asking, question_request
from support.sites import NOTES, build_here, local, opened, write_site

FULL = make_document("1", metrics=True, bearer=True)
ASK = FULL["paths"]["/answer"]["post"]
CONTENT = ASK["responses"]["200"]["content"]
ANSWER = CONTENT[JSON_TYPE]["examples"]["answer"]["value"]
REFUSAL = CONTENT[JSON_TYPE]["examples"]["refusal"]["value"]
QUESTION = ASK["requestBody"]["content"][JSON_TYPE]["example"]["question"]
REFUSED = CONTENT[JSON_TYPE]["examples"]["refusal"]["summary"]
SEARCH = FULL["paths"]["/search"]["get"]
SEARCHED = SEARCH["parameters"][0]["example"]
WORN = {
    "worn.md": (
        "---\nid: worn-chains\nlabel: Worn chains\nlocator: second shelf\n"
        "about: mooring.md#chains\n---\n\n"
        "How thick a chain of a mooring is after ten winters: eleven millimetres at the shackle, "
        "and the chain of the mooring by the pier is worn most.\n"
    )
}
# What differs between two builds or two answers.
PASSING = {"request_id", "built_at", "bundle", "generator"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The keyless engine of the site that the document's examples come from."""
    folder = write_site(tmp_path_factory.mktemp("site"), notes={**NOTES, **WORN})
    build_here(folder)
    return make_engine(opened(folder), local())


@pytest.mark.parametrize("configured", [False, True])
def test_document_is_valid_openapi(configured: bool) -> None:
    validate(make_document("1", "/ask/", metrics=configured, bearer=configured))


def test_enums_match_types() -> None:
    schemas = make_document("1")["components"]["schemas"]
    answer = schemas["Answer"]["properties"]
    assert set(answer["mode"]["enum"]) == set(get_args(Mode))
    assert set(answer["reason"]["enum"]) == {*get_args(Reason), None}
    assert set(answer["confidence"]["enum"]) == set(get_args(Confidence))
    assert set(schemas["Stage"]["properties"]["stage"]["enum"]) == set(get_args(RequestStage))
    assert set(schemas["Problem"]["properties"]["code"]["enum"]) == set(get_args(ProblemCode))
    question = schemas["Question"]["properties"]
    assert question["question"]["maxLength"] == MAX_QUESTION_CHARACTERS
    assert question["language"]["maxLength"] == tokenization.MAX_TAG_LENGTH
    *modes, _ = schemas["Answer"]["allOf"]
    assert {case["if"]["properties"]["mode"]["const"] for case in modes} == set(get_args(Mode))


def test_problem_responses_list_codes_of_their_status() -> None:
    document = make_document("1", metrics=True)
    statuses: dict[str, int] = {}
    for status, sent in document["components"]["responses"].items():
        fields = sent["content"][PROBLEM_TYPE]["schema"]["allOf"][1]["properties"]
        assert fields["status"] == {"const": int(status)}
        statuses |= dict.fromkeys(fields["code"]["enum"], int(status))
    assert statuses == {code: status for code, (status, _) in PROBLEM_STATUSES.items()}


def test_examples_match_their_schemas() -> None:
    document = make_document("1", metrics=True, bearer=True)
    content = list(media_types(document["paths"]))
    checked_count = 0
    for kind, media in content:
        values = [case["value"] for case in media.get("examples", {}).values()]
        values += [media["example"]] if "example" in media else []
        for value in values:
            openapi_check.validate(document, media["schema"], value)
            checked_count += 1
        if kind == EVENT_STREAM_TYPE:
            openapi_check.check_events(document, media, media["example"])
    assert checked_count == 11


def media_types(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every media type of a part of the document."""
    if isinstance(node, dict):
        yield from node.get("content", {}).items()
        for value in node.values():
            yield from media_types(value)


def example_of(path: str, method: str = "get") -> dict[str, Any]:
    content = FULL["paths"][path][method]["responses"]["200"]["content"]
    example: dict[str, Any] = content[JSON_TYPE]["example"]
    return example


@pytest.mark.parametrize(
    ("method", "path", "asked", "example"),
    [
        ("POST", "answer", QUESTION, ANSWER),
        ("POST", "answer", REFUSED, REFUSAL),
        ("POST", "places", SEARCHED, example_of("/places", "post")),
        ("GET", "search", f"q={SEARCHED}", example_of("/search")),
        ("GET", "section", "id=mooring%23chains", example_of("/section")),
        ("GET", "health", "", example_of("/health")),
        ("GET", "ready", "", example_of("/ready")),
    ],
)
def test_examples_are_real_answers_of_tiny_site(
    engine: Engine, method: str, path: str, asked: str, example: Mapping[str, Any]
) -> None:
    ask = asking(engine, answerer=engine.answerer)
    if method == "POST":
        sent = ask.send(replace(question_request(asked), path=path)).json
    else:
        sent = ask.get(path, asked).json
    assert set(sent) == set(example)
    for name in set(example) - PASSING:
        assert sent[name] == example[name]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("Answer", {"mode": "partial"}),
        ("Answer", {"mode": "unheard-of"}),
        ("Answer", {"reason": "declined"}),
        ("Answer", {"confidence": 0.93}),
        ("Answer", {"score": 0.93}),
        ("Answer", {"citations": []}),
        ("Answer", {"dropped": -1}),
        ("RecordCitation", {"url": "javascript:alert(1)"}),
        ("RecordCitation", {"url": "//elsewhere.example/"}),
        ("RecordCitation", {"kind": "hint"}),
        ("RecordCitation", {"score": 1}),
        ("HintCitation", {"text": "private"}),
        ("HintCitation", {"quote": "private"}),
    ],
)
def test_schema_rejects_what_an_answer_never_is(name: str, change: Mapping[str, Any]) -> None:
    record, *_, hint = ANSWER["citations"]
    value = {"Answer": ANSWER, "RecordCitation": record, "HintCitation": hint}[name]
    openapi_check.validate(FULL, FULL["components"]["schemas"][name], value)
    refuse(FULL, name, {**value, **change})


def test_schema_rejects_refusal_with_citations() -> None:
    refuse(FULL, "Answer", {**REFUSAL, "citations": ANSWER["citations"]})
    refuse(FULL, "Answer", {**REFUSAL, "reason": None})


def refuse(document: Mapping[str, Any], name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        openapi_check.validate(document, document["components"]["schemas"][name], value)
