"""The function's protections in their order: which of them answers, and whom."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.engine import Engine
from answerable.serve.http.messages import Request
from support.service_requests import (
    BEARER,
    DIGEST,
    ELSEWHERE,
    NOWHERE,
    ORIGIN,
    QUESTION,
    SENT,
    TOKEN,
    USUAL,
    WRONG,
    asking,
    code,
    header,
    letters,
    question_request,
    request,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


# Every protection at once: nothing may be asked, and what is asked is wrong in every way.
CLOSED = replace(
    USUAL,
    paused=True,
    bearer=(DIGEST,),
    rate_all="1/day",
    in_flight=1,
    tokens_per_day=99,
)
PAGE = {"origin": ORIGIN, **BEARER}
JSON = {**PAGE, "content-type": "application/json"}


def test_first_failing_protection_answers(base: Engine) -> None:
    """Each request has one fault fewer than the one before it."""

    def find_asker(sent: Request, **policy: Any) -> str:
        service = asking(base, replace(CLOSED, **policy)).service
        service.protections.limiter.admit("somebody")
        assert service.protections.guarded_engine.slots.acquire(blocking=False)
        return code(service.handle(sent))

    elsewhere = {"origin": ELSEWHERE}
    assert find_asker(request("PUT", "nothing", headers=elsewhere, body=WRONG)) == "not-found"
    assert (
        find_asker(request("PUT", "answer", headers=elsewhere, body=WRONG)) == "method-not-allowed"
    )
    assert find_asker(request("POST", "answer", headers=elsewhere, body=WRONG)) == "forbidden"
    page = {"origin": ORIGIN}
    assert find_asker(request("POST", "answer", headers=page, body=WRONG)) == "unauthorized"
    assert find_asker(request("POST", "answer", headers=PAGE, body=WRONG)) == "paused"
    awake = {"paused": False}
    assert find_asker(request("POST", "answer", headers=PAGE, body=WRONG), **awake) == "unsupported"
    assert find_asker(request("POST", "answer", headers=JSON, body=WRONG), **awake) == "too-large"
    assert (
        find_asker(request("POST", "answer", headers=JSON, body=WRONG[:99]), **awake)
        == "bad-request"
    )
    bodies: list[object] = [[], {}, {"question": 1}, {"question": "x" * 501}]
    for body in (*bodies, {"question": "x", "language": 1}):
        sent = request("POST", "answer", headers=JSON, body=json.dumps(body).encode())
        assert find_asker(sent, **awake) == "bad-request"
    assert find_asker(question_request(headers=PAGE), **awake) == "rate-limited"
    admitted = {**awake, "rate_all": "9/day"}
    assert find_asker(question_request(headers=PAGE), **admitted) == "busy"


def test_cache_then_slots_then_budget_guard_engine(base: Engine) -> None:
    ask = asking(base, replace(USUAL, in_flight=1, tokens_per_day=100))
    assert ask().status == 200
    slots = ask.service.protections.guarded_engine.slots
    assert slots.acquire(blocking=False)
    assert (ask().status, code(ask("Another?"))) == (200, "busy")
    slots.release()
    assert (ask().status, code(ask("Another?"))) == (200, "capped")
    assert ask.answerer.questions == [QUESTION]


def test_request_refused_before_limits_is_not_counted(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="1/day"))
    assert code(ask("")) == "bad-request"
    assert code(ask(headers={"origin": ELSEWHERE})) == "forbidden"
    assert ask().status == 200
    assert code(ask()) == "rate-limited"


POLICIES = {
    "open": USUAL,
    "paused": replace(USUAL, paused=True),
    "bearer": replace(USUAL, bearer=(DIGEST,)),
    "counted": replace(USUAL, metrics=DIGEST),
    "capped": replace(USUAL, tokens_per_day=0),
    "no store": replace(USUAL, redis_url=NOWHERE.format(port=1)),
}


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: f"{sent.method} {sent.path}")
@pytest.mark.parametrize("policy", POLICIES)
def test_cors_headers_name_allowed_origin_only(base: Engine, policy: str, sent: Request) -> None:
    service = asking(base, POLICIES[policy]).service
    for origin in (ORIGIN, ELSEWHERE, "null", "*", f"{ORIGIN}.elsewhere.example", None):
        headers = dict(sent.headers) | ({} if origin is None else {"origin": origin})
        response = service.handle(replace(sent, headers=headers))
        is_listed = origin == ORIGIN
        allowed = header(response, "Access-Control-Allow-Origin")
        assert allowed == (ORIGIN if is_listed else None)
        assert header(response, "Vary") == "Origin"
        assert header(response, "Access-Control-Allow-Credentials") is None
        exposed = header(response, "Access-Control-Expose-Headers")
        assert exposed == ("Retry-After" if is_listed else None)
        if origin is not None and not is_listed:
            assert response.status in (403, 404, 405)
        if response.events:
            response.events.close()


def test_function_without_origins_answers_programs_only(base: Engine) -> None:
    ask = asking(base, replace(USUAL, origins=()))
    assert ask().status == 200
    assert code(ask(headers={"origin": ORIGIN})) == "forbidden"


@pytest.mark.parametrize(
    ("path", "method"),
    [("answer", "POST"), ("search", "GET"), ("health", "GET"), ("metrics", "GET")],
)
def test_preflight_lists_method_and_headers(base: Engine, path: str, method: str) -> None:
    service = asking(base).service
    response = service.handle(request("OPTIONS", path, headers={"origin": ORIGIN}))
    assert (response.status, response.body) == (204, b"")
    assert header(response, "Access-Control-Allow-Methods") == method
    allowed = header(response, "Access-Control-Allow-Headers")
    assert allowed == "Accept, Authorization, Content-Type"
    for headers in ({"origin": ELSEWHERE}, {}):
        assert code(service.handle(request("OPTIONS", path, headers=headers))) == "forbidden"


def test_preflight_needs_no_token_and_meets_no_limit(base: Engine) -> None:
    service = asking(base, replace(CLOSED, rate="1/day")).service
    for _ in range(3):
        sent = request("OPTIONS", "answer", headers={"origin": ORIGIN})
        assert service.handle(sent).status == 204


def test_paused_function_answers_503_without_work(base: Engine) -> None:
    ask = asking(base, replace(USUAL, paused=True))
    for response in (ask(), ask.get("search", "q=rope"), ask.get("ready")):
        assert code(response) == "paused"
        assert header(response, "Retry-After") == "3600"
        assert response.json["detail"] == (
            "Questions are not answered at the moment. Search the site instead."
        )
    assert ask.get("health").status == 200
    assert ask.get("openapi.json").status == 200
    assert ask.answerer.questions == []


@pytest.mark.parametrize("path", ["answer", "search", "openapi.json"])
def test_bearer_policy_requires_token(base: Engine, path: str) -> None:
    policy = replace(USUAL, bearer=(hashlib.sha256(b"other").hexdigest(), DIGEST))
    service = asking(base, policy).service
    method = "POST" if path == "answer" else "GET"
    for sent in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"},
                 {"authorization": f"Bearer {DIGEST}"}):  # fmt: skip
        response = service.handle(request(method, path, query="q=rope", headers=sent))
        assert code(response) == "unauthorized"
        assert header(response, "WWW-Authenticate") == "Bearer"
    response = service.handle(request(method, path, query="q=rope", headers=BEARER))
    assert response.status == (415 if path == "answer" else 200)


@pytest.mark.parametrize("path", ["health", "ready"])
def test_health_and_ready_need_no_token(base: Engine, path: str) -> None:
    assert asking(base, replace(USUAL, bearer=(DIGEST,))).get(path).status == 200


def test_metrics_need_their_own_token(base: Engine) -> None:
    assert code(asking(base).get("metrics", authorization=f"Bearer {TOKEN}")) == "not-found"
    readers = hashlib.sha256(b"readers").hexdigest()
    ask = asking(base, replace(USUAL, metrics=DIGEST, bearer=(readers,)))
    assert code(ask.get("metrics")) == "unauthorized"
    assert code(ask.get("metrics", authorization="Bearer readers")) == "unauthorized"
    assert ask(headers={"authorization": "Bearer readers"}).status == 200
    response = ask.get("metrics", **BEARER)
    assert response.status == 200
    assert header(response, "Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert b'path="answer"' in response.body
    assert QUESTION.encode() not in response.body


def test_rate_limits_apply_per_asker_and_overall(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="2/minute", rate_all="3/minute"))
    assert [ask(asker="192.0.2.1").status for _ in range(3)] == [200, 200, 429]
    assert [ask(asker="192.0.2.2").status for _ in range(2)] == [200, 429]


def test_rate_limited_response_has_retry_after(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="1/minute"))
    assert ask().status == 200
    response = ask()
    assert code(response) == "rate-limited"
    assert 1 <= int(header(response, "Retry-After") or "") <= 61


def test_searches_and_cached_answers_count_against_rates_of_their_own(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="2/minute"))
    assert [ask().status, ask().status] == [200] * 2
    assert code(ask()) == "rate-limited"
    assert [ask.get("search", "q=rope").status for _ in range(2)] == [200] * 2
    assert code(ask.get("search", "q=rope")) == "rate-limited"
    assert ask.get("health").status == 200


def test_places_count_apart_from_questions(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="2/minute", rate_all="2/minute"))
    headers = {"content-type": "application/json", "origin": ORIGIN}
    sent = request("POST", "places", headers=headers, body=b'{"question": "rope"}')
    assert [ask.service.handle(sent).status for _ in range(3)] == [200, 200, 429]
    assert [ask().status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("", "", True),
    ],
)
def test_asker_is_ipv4_address_or_ipv6_network(
    base: Engine, first: str, second: str, is_one: bool
) -> None:
    ask = asking(base, replace(USUAL, rate="1/minute"))
    assert ask(asker=first).status == 200
    assert ask(asker=second).status == (429 if is_one else 200)


def test_asker_header_uses_last_address(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="1/minute", asker_header="x-forwarded-for"))

    def status(forwarded: str) -> int:
        return ask(asker="10.0.0.1", headers={"x-forwarded-for": forwarded}).status

    assert status("192.0.2.1") == 200
    # What stands before it anyone may write.
    assert status("198.51.100.7, 192.0.2.1") == 429
    assert status("192.0.2.1, 192.0.2.2") == 200
    assert ask(asker="10.0.0.1").status == 200
    assert ask(asker="10.0.0.2").status == 429


def test_untrusted_address_header_is_ignored(base: Engine) -> None:
    ask = asking(base, replace(USUAL, rate="1/minute"))
    assert ask(headers={"x-forwarded-for": "192.0.2.8"}).status == 200
    assert ask(headers={"x-forwarded-for": "192.0.2.9"}).status == 429
