"""OpenAPI document: valid, in agreement with the types, and true of what the service sends."""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import pytest
from jsonschema import ValidationError
from openapi_spec_validator import validate

from answerable.serve.bundle_format.manifest import WIRE_VERSION
from answerable.serve.engine import Engine
from answerable.serve.http.logs import METRICS_TYPE
from answerable.serve.http.messages import (
    EVENT_STREAM_TYPE,
    JSON_TYPE,
    MAX_BODY_BYTES,
    PROBLEM_STATUSES,
    PROBLEM_TYPE,
    ProblemCode,
    Request,
    Response,
    make_document,
    render_document,
)
from answerable.serve.http.service import Service
from answerable.serve.limits.policy import Policy
from answerable.serve.providers import make_engine
from answerable.serve.request_context import RequestStage
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.serve.retrieval.retrieve import TOP_K
from answerable.serve.structure import LABEL_DETAILS, MAX_LEVEL
from answerable.serve.text import languages
from answerable.serve.types import Confidence, Evidence, Mode, Reason
from support import openapi_check
from support.sites import NOTES, ROOT, build, local, opened, write_site

FULL = make_document("1", metrics=True, bearer=True)
ASK = FULL["paths"]["/answer"]["post"]
CONTENT = ASK["responses"]["200"]["content"]
ANSWER = CONTENT[JSON_TYPE]["examples"]["answer"]["value"]
REFUSAL = CONTENT[JSON_TYPE]["examples"]["refusal"]["value"]
QUESTION = ASK["requestBody"]["content"][JSON_TYPE]["example"]["question"]
REFUSED = CONTENT[JSON_TYPE]["examples"]["refusal"]["summary"]
SEARCH = FULL["paths"]["/search"]["get"]
SEARCHED = SEARCH["parameters"][0]["example"]
ORIGIN = "https://harbour.example"
TOKEN = "harbour-master"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
WORN = {
    "worn.md": (
        "---\nid: worn-chains\nlabel: Worn chains\nlocator: second shelf\n"
        "about: mooring.md#chains\n---\n\n"
        "How thick a chain of a mooring is after ten winters: eleven millimetres at the shackle, "
        "and the chain of the mooring by the pier is worn most.\n"
    )
}
# What differs between two builds or two answers.
PASSING = ("request_id", "built_at", "bundle", "generator")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The keyless engine of the site that the document's examples come from."""
    folder = write_site(tmp_path_factory.mktemp("site"), notes={**NOTES, **WORN})
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return make_engine(opened(folder), local())


@dataclass(frozen=True)
class Case:
    """A request and the status and code that it should have, of a function with a policy."""

    id: str
    status: int
    method: str
    path: str
    code: str | None = None
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    has_index: bool = True
    times: int = 1

    def request(self) -> Request:
        own = {"content-type": "application/json"} if self.method == "POST" else {}
        return Request(
            self.method,
            self.path,
            self.query,
            {**own, **self.headers},
            self.body,
            "192.0.2.1",
            can_stream=True,
        )


def body_of(question: object, **fields: object) -> bytes:
    return json.dumps({"question": question, **fields}).encode()


HOW = body_of(QUESTION)
STREAM = {"accept": EVENT_STREAM_TYPE}
PAGE = {"origin": ORIGIN}
ELSEWHERE = {"origin": "https://elsewhere.example"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
GUARDED = {"bearer": (DIGEST,)}
COUNTED = {"metrics": DIGEST}
ONCE = {"rate": "1/hour"}
PAUSED = {"paused": True}

CASES = (
    Case("answer", 200, "POST", "answer", body=HOW),
    Case("answer-to-page", 200, "POST", "answer", body=HOW, headers=PAGE),
    Case("answer-refused", 200, "POST", "answer", body=body_of(REFUSED)),
    Case("answer-route", 200, "POST", "answer", body=body_of("Where is the electric winch from?")),
    Case("answer-nothing-asked", 200, "POST", "answer", body=body_of("?!")),
    Case("answer-unicode", 200, "POST", "answer", body=body_of("ｍｏｏｒｉｎｇ \ud800 é 🚢")),
    Case("answer-language", 200, "POST", "answer", body=body_of("mooring", language="pt-BR")),
    Case("answer-other-keys", 200, "POST", "answer", body=body_of("mooring", more=[1])),
    Case("answer-stream", 200, "POST", "answer", body=HOW, headers=STREAM),
    Case("answer-stream-refused", 200, "POST", "answer", body=body_of("Hamlet?"), headers=STREAM),
    Case("answer-stream-to-page", 200, "POST", "answer", body=HOW, headers=STREAM | PAGE),
    Case("answer-no-json", 400, "POST", "answer", "bad-request", body=b"{"),
    Case("answer-no-object", 400, "POST", "answer", "bad-request", body=b"[]"),
    Case("answer-no-question", 400, "POST", "answer", "bad-request", body=b"{}"),
    Case("answer-empty", 400, "POST", "answer", "bad-request", body=body_of(" \n ")),
    Case("answer-long", 400, "POST", "answer", "bad-request", body=body_of("x" * 501)),
    Case("answer-no-tag", 400, "POST", "answer", "bad-request", body=body_of("a", language="?")),
    Case("answer-stream-bad", 400, "POST", "answer", "bad-request", body=b"{", headers=STREAM),
    Case("answer-elsewhere", 403, "POST", "answer", "forbidden", body=HOW, headers=ELSEWHERE),
    Case("answer-get", 405, "GET", "answer", "method-not-allowed"),
    Case("answer-delete", 405, "DELETE", "answer", "method-not-allowed", headers=PAGE),
    Case("answer-large", 413, "POST", "answer", "too-large", body=b" " * (MAX_BODY_BYTES + 1)),
    Case(
        "answer-text", 415, "POST", "answer", "unsupported",
        body=HOW, headers={"content-type": "text/plain"},
    ),
    Case("answer-often", 429, "POST", "answer", "rate-limited", body=HOW, policy=ONCE, times=2),
    Case("answer-paused", 503, "POST", "answer", "paused", body=HOW, policy=PAUSED),
    Case("answer-no-index", 503, "POST", "answer", "unavailable", body=HOW, has_index=False),
    Case("answer-late", 504, "POST", "answer", "timeout", body=HOW, policy={"deadline": 0.0}),
    Case("search-late", 504, "GET", "search", "timeout", "q=mooring", policy={"deadline": 0.0}),
    Case("answer-no-token", 401, "POST", "answer", "unauthorized", body=HOW, policy=GUARDED),
    Case("answer-token", 200, "POST", "answer", body=HOW, headers=BEARER, policy=GUARDED),
    Case("preflight", 204, "OPTIONS", "answer", headers=PAGE),
    Case("preflight-elsewhere", 403, "OPTIONS", "answer", "forbidden", headers=ELSEWHERE),
    Case("preflight-of-nobody", 403, "OPTIONS", "search", "forbidden"),
    Case("search", 200, "GET", "search", query="q=mooring"),
    Case("search-v1", 200, "GET", "v1/search", query="q=mooring"),
    Case("search-v1-no-words", 400, "GET", "v1/search", "bad-request"),
    Case("search-v1-post", 405, "POST", "v1/search", "method-not-allowed"),
    Case("search-nothing", 200, "GET", "search", query="q=zeppelin", headers=PAGE),
    Case("search-no-words", 400, "GET", "search", "bad-request"),
    Case("search-elsewhere", 403, "GET", "search", "forbidden", "q=a", headers=ELSEWHERE),
    Case("search-often", 429, "GET", "search", "rate-limited", "q=a", policy=ONCE, times=2),
    Case("search-paused", 503, "GET", "search", "paused", "q=a", policy=PAUSED),
    Case("search-no-token", 401, "GET", "search", "unauthorized", "q=a", policy=GUARDED),
    Case("search-post", 405, "POST", "search", "method-not-allowed"),
    Case("places", 200, "POST", "places", body=HOW, headers=PAGE),
    Case("places-nothing", 200, "POST", "places", body=body_of("zeppelin")),
    Case("places-empty", 400, "POST", "places", "bad-request", body=body_of(" ")),
    Case("places-elsewhere", 403, "POST", "places", "forbidden", body=HOW, headers=ELSEWHERE),
    Case("section", 200, "GET", "section", query="id=mooring%23chains"),
    Case("section-of-nothing", 404, "GET", "section", "not-found", "id=mooring%23zeppelin"),
    Case("section-often", 429, "GET", "section", "rate-limited", "id=winch", policy=ONCE, times=2),
    Case("section-paused", 503, "GET", "section", "paused", "id=a", policy=PAUSED),
    Case("places-get", 405, "GET", "places", "method-not-allowed"),
    Case("places-large", 413, "POST", "places", "too-large", body=b" " * (MAX_BODY_BYTES + 1)),
    Case(
        "places-text", 415, "POST", "places", "unsupported",
        body=HOW, headers={"content-type": "text/plain"},
    ),
    Case("places-often", 429, "POST", "places", "rate-limited", body=HOW, policy=ONCE, times=2),
    Case("places-paused", 503, "POST", "places", "paused", body=HOW, policy=PAUSED),
    Case("places-no-token", 401, "POST", "places", "unauthorized", body=HOW, policy=GUARDED),
    Case("health", 200, "GET", "health"),
    Case("health-slash", 200, "GET", "/health/", headers=PAGE),
    Case("health-guarded", 200, "GET", "health", policy=GUARDED),
    Case("health-no-index", 503, "GET", "health", "unavailable", has_index=False),
    Case("ready", 200, "GET", "ready"),
    Case("ready-paused", 503, "GET", "ready", "paused", policy=PAUSED),
    Case("ready-no-index", 503, "GET", "ready", "unavailable", has_index=False),
    Case("openapi", 200, "GET", "openapi.json", headers=PAGE),
    Case("openapi-post", 405, "POST", "openapi.json", "method-not-allowed"),
    Case("openapi-no-token", 401, "GET", "openapi.json", "unauthorized", policy=GUARDED),
    Case("metrics", 200, "GET", "metrics", headers=BEARER, policy=COUNTED),
    Case("metrics-no-token", 401, "GET", "metrics", "unauthorized", policy=COUNTED),
    Case("metrics-none", 404, "GET", "metrics", "not-found"),
    Case("nothing", 404, "GET", "", "not-found"),
    Case("elsewhere", 404, "POST", "answer/more", "not-found", body=HOW, headers=PAGE),
)  # fmt: skip


def response(engine: Engine, case: Case) -> tuple[dict[str, Any], Response]:
    """The document of a function with a policy, and what the function sends."""
    policy = Policy(origins=(ORIGIN,), secret=b"of this test and no other", **case.policy)
    service = Service(lambda: engine if case.has_index else None, policy)
    for _ in range(case.times - 1):
        service.handle(case.request())
    described = make_document(
        "1",
        metrics=bool(policy.metrics),
        bearer=bool(policy.bearer),
    )
    return described, service.handle(case.request())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_response_matches_openapi_document(engine: Engine, case: Case) -> None:
    document, sent = response(engine, case)
    assert sent.status == case.status
    assert (sent.json["code"] if case.code else None) == case.code
    openapi_check.check_response(document, case.method, case.path, sent)


def test_cases_cover_every_problem_code_but_three() -> None:
    unseen = set(get_args(ProblemCode)) - {case.code for case in CASES}
    # What only a crowd, money or a fault brings about: the tests below.
    assert unseen == {"busy", "capped", "internal"}


class Costly:
    """An answerer that may cost more than a function spends in a day."""

    label = "costly"
    max_question_tokens = 2
    max_evidence_characters = 24_000

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        del question, evidence, violation
        raise AssertionError("it is never asked")


def test_busy_problem_matches_document(engine: Engine) -> None:
    service = Service(lambda: engine, Policy(in_flight=1))
    with service.protections.guarded_engine.slots:
        checked(service, 503, "busy")


def test_capped_problem_matches_document(engine: Engine) -> None:
    costly = replace(engine, answerer=Costly())
    checked(Service(lambda: costly, Policy(tokens_per_day=1)), 503, "capped")


def test_internal_error_matches_document(engine: Engine) -> None:
    def faulty() -> Engine:
        raise RuntimeError(f"not {engine}")

    checked(Service(faulty, Policy()), 500, "internal")


def checked(service: Service, status: int, code: ProblemCode) -> None:
    sent = service.handle(Case("", status, "POST", "answer", body=HOW).request())
    assert (sent.status, sent.json["code"]) == (status, code)
    openapi_check.check_response(make_document("1"), "POST", "answer", sent)


@pytest.mark.parametrize("configured", [False, True])
def test_document_is_valid_openapi(configured: bool) -> None:
    validate(make_document("1", "/ask/", metrics=configured, bearer=configured))


def test_paths_that_are_not_configured_are_absent() -> None:
    bare = make_document("1")
    full = make_document("1", metrics=True, bearer=True)
    assert set(full["paths"]) - set(bare["paths"]) == {"/metrics"}
    assert "401" not in bare["paths"]["/answer"]["post"]["responses"]
    assert "401" in full["paths"]["/answer"]["post"]["responses"]
    assert "securitySchemes" not in bare["components"]


@pytest.mark.parametrize(("base", "url"), [("/", "/"), ("/docs/_answerable/", "/docs/_answerable")])
def test_server_url_is_base_path(base: str, url: str) -> None:
    assert make_document("1", base)["servers"] == [{"url": url}]


def test_rendered_document_is_cached() -> None:
    rendered = render_document("1", bearer=True)
    assert json.loads(rendered) == make_document("1", bearer=True)
    assert render_document("1", bearer=True) is rendered


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
    assert question["language"]["maxLength"] == languages.MAX_TAG_LENGTH
    *modes, _ = schemas["Answer"]["allOf"]
    assert {case["if"]["properties"]["mode"]["const"] for case in modes} == set(get_args(Mode))


def test_bounds_and_constants_match_code() -> None:
    schemas = FULL["components"]["schemas"]
    assert schemas["Question"]["properties"]["language"]["pattern"] == (
        f"^{languages.LANGUAGE_TAG.pattern}$"
    )
    assert schemas["Passages"]["maxProperties"] == TOP_K
    assert schemas["Health"]["properties"]["wire"] == {"const": WIRE_VERSION}
    assert schemas["LabelBlock"]["properties"]["label"] == {"enum": list(LABEL_DETAILS)}
    level = schemas["ListBlock"]["properties"]["items"]["items"]["properties"]["level"]
    assert level["maximum"] == MAX_LEVEL
    problem = schemas["Problem"]["properties"]
    assert problem["title"]["enum"] == list(
        dict.fromkeys(title for _, title in PROBLEM_STATUSES.values())
    )
    assert problem["status"]["enum"] == list(
        dict.fromkeys(status for status, _ in PROBLEM_STATUSES.values())
    )
    assert ASK["requestBody"]["description"] == f"At most {MAX_BODY_BYTES} bytes."
    responses = FULL["components"]["responses"]
    assert responses["413"]["description"] == f"The body has more than {MAX_BODY_BYTES} bytes."
    assert set(FULL["paths"]["/metrics"]["get"]["responses"]["200"]["content"]) == {METRICS_TYPE}


def test_problem_responses_list_codes_of_their_status() -> None:
    document = make_document("1", metrics=True)
    statuses: dict[str, int] = {}
    for status, sent in document["components"]["responses"].items():
        own = sent["content"][PROBLEM_TYPE]["schema"]["allOf"][1]["properties"]
        assert own["status"] == {"const": int(status)}
        statuses |= dict.fromkeys(own["code"]["enum"], int(status))
    assert statuses == {code: status for code, (status, _) in PROBLEM_STATUSES.items()}


def test_manual_lists_every_problem_code() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d{3}) \| `([a-z-]+)` \|", text, re.M)
    assert {code: int(status) for status, code in rows} == {
        code: status for code, (status, _) in PROBLEM_STATUSES.items()
    }


def test_manual_lists_every_path_and_field() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    document = make_document("1", metrics=True)
    for path, item in document["paths"].items():
        method = next(method for method in item if method != "options").upper()
        assert f"`{method} {path.strip('/')}`" in text
    for name in ("Question", "Answer", "RecordCitation", "HintCitation"):
        for each in document["components"]["schemas"][name]["properties"]:
            assert f"`{each}`" in text or f'"{each}"' in text, each


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
    assert checked_count == 12


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


def lasting(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in PASSING}


@pytest.mark.parametrize(
    ("case", "example"),
    [
        (Case("", 200, "POST", "answer", body=HOW), ANSWER),
        (
            Case("", 200, "POST", "answer", body=body_of(REFUSED)),
            REFUSAL,
        ),
        (
            Case("", 200, "GET", "search", query=f"q={SEARCHED}"),
            example_of("/search"),
        ),
        (
            Case("", 200, "POST", "places", body=body_of(SEARCHED)),
            example_of("/places", "post"),
        ),
        (
            Case("", 200, "GET", "section", query="id=mooring%23chains"),
            example_of("/section"),
        ),
        (Case("", 200, "GET", "health"), example_of("/health")),
        (Case("", 200, "GET", "ready"), example_of("/ready")),
    ],
    ids=["answer", "refusal", "search", "places", "section", "health", "ready"],
)
def test_examples_are_real_answers_of_tiny_site(
    engine: Engine, case: Case, example: Mapping[str, Any]
) -> None:
    sent = response(engine, case)[1].json
    assert set(sent) == set(example)
    assert lasting(sent) == lasting(example)


def test_example_stream_is_real_stream_of_tiny_site(engine: Engine) -> None:
    sent = response(engine, Case("", 200, "POST", "answer", body=HOW, headers=STREAM))[1]
    assert sent.events is not None
    sent_events = openapi_check.events(b"".join(sent.events).decode())
    shown = openapi_check.events(CONTENT[EVENT_STREAM_TYPE]["example"])
    assert sent_events[:-1] == shown[:-1]
    assert lasting(sent_events[-1][1]) == lasting(shown[-1][1])


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "partial"},
        {"mode": "not-found"},
        {"mode": "unheard-of"},
        {"reason": "declined"},
        {"confidence": 0.93},
        {"score": 0.93},
        {"routes": []},
        {"citations": []},
        {"answer": ""},
        {"bundle": "latest"},
        {"dropped": -1},
        {"request_id": None},
    ],
    ids=str,
)
def test_schema_rejects_inconsistent_answer(change: Mapping[str, Any]) -> None:
    document = make_document("1")
    refuse(document, "Answer", {**ANSWER, **change})


@pytest.mark.parametrize(
    ("n", "change"),
    [
        (0, {"url": "javascript:alert(1)"}),
        (0, {"url": "//elsewhere.example/"}),
        (0, {"href": "/a b"}),
        (0, {"kind": "hint"}),
        (0, {"score": 1}),
        (1, {"text": "private"}),
        (1, {"quote": "private"}),
    ],
)
def test_schema_rejects_invalid_citation(n: int, change: Mapping[str, Any]) -> None:
    changed = copy.deepcopy(ANSWER)
    changed["citations"][n].update(change)
    refuse(make_document("1"), "Answer", changed)


def test_schema_rejects_refusal_with_citations() -> None:
    backed = {**REFUSAL, "citations": ANSWER["citations"]}
    refuse(make_document("1"), "Answer", backed)
    refuse(make_document("1"), "Answer", {**REFUSAL, "reason": None})


def refuse(document: Mapping[str, Any], name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        openapi_check.validate(document, document["components"]["schemas"][name], value)
