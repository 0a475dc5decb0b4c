"""What a function answers to a request: its endpoints, its guards in their order, its problems."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from answerable.engine.answers.keyless import ExtractiveAnswerer
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.question import MAX_QUESTION_CHARACTERS, clean_question
from answerable.function import exchange
from answerable.function.requests import MAX_BODY_BYTES
from support.app_requests import Request, app_of, send
from support.deadlines import PATIENCE, until
from support.doubles import bundle_of, index_of, record
from support.frozen_site import FrozenSite
from support.scripted import LetterEmbedder
from support.server_processes import free_port
from support.service_requests import (
    BEARER,
    DIGEST,
    ELSEWHERE,
    JSON,
    ORIGIN,
    QUESTION,
    ROPE,
    ROUTED,
    SENT,
    TOKEN,
    USUAL,
    WRONG,
    Paid,
    asking,
    code,
    header,
    question_request,
    request,
    usual,
)

# A word that no page has.
SECRET = "zanzibar"


def test_answer_has_claims_and_routes_with_their_citations(base: Engine) -> None:
    response = asking(base, answerer=Paid(drafts=[ROUTED]))()
    body = response.json
    assert response.status == 200
    assert body["mode"] == "supported"
    assert [(claim["markdown"], claim["citations"]) for claim in body["claims"]] == [(ROPE, [1])]
    record_citation, hint_citation = body["citations"]
    assert (record_citation["n"], hint_citation["n"]) == (1, 2)
    assert (record_citation["id"], record_citation["url"]) == ("rope#use", "/rope/#use")
    assert record_citation["quote"] == ROPE
    # What the note is about lies on another host, and so its url is absolute without a site's.
    assert hint_citation["absolute_url"] == hint_citation["url"]
    assert set(hint_citation) == {"n", "kind", "id", "url", "absolute_url", "label", "locator"}
    assert body["bundle"] == base.store.manifest.id


def test_search_and_places_find_the_same_sections(base: Engine) -> None:
    ask = asking(base)
    passages = ask.get("search", "q=rope").json
    place = {"url": "/rope/#use", "title": "Rope › Use", "line": ROPE,
             "href": "/rope/#use:~:text=A%20rope%20holds%20the%20boat."}  # fmt: skip
    assert passages["rope#use"] == {**place, "markdown": ROPE}
    assert set(passages) == {"rope#use", "w"}
    sent = replace(question_request("rope", language="en"), path="places")
    places = ask.send(sent).json
    assert list(places) == list(passages)
    assert places["rope#use"] == place


def body_request(body: bytes, kind: str | None = JSON["content-type"]) -> Request:
    headers = {} if kind is None else {"content-type": kind}
    return request("POST", "answer", headers=headers, body=body)


GOOD = b'{"question": "rope"}'
PROBLEMS = [
    *(
        (body_request(body), "bad-request")
        for body in (
            b"", b"{", b'{"question": "\xff"}', b'{"question": "\xed\xa0\x80"}', GOOD + b"}",
            b"\xef\xbb\xbf" + GOOD, GOOD.decode().encode("utf-16"), b"[" * MAX_BODY_BYTES,
            b'{"a":' * 800, b"1" * MAX_BODY_BYTES, b"[]", b"null", b'"question"', b"{}",
            b'{"question": null}', b'{"question": 1e999}', b'{"question": ["rope"]}',
            b'{"question": ""}', b'{"question": " \\n\\u0000\\u200b "}',
        )
    ),
    *((body_request(GOOD, kind), "unsupported") for kind in (None, "text/plain", "json", SECRET)),
    (body_request(GOOD.ljust(MAX_BODY_BYTES + 1)), "too-large"),
    (question_request("r" * (MAX_QUESTION_CHARACTERS + 1)), "bad-request"),
    (question_request(SECRET * 99), "bad-request"),
    *(
        (question_request(language=tag), "bad-request")
        for tag in ("", "e", 1, ["en"], f"en {SECRET}", "en-" * 12, "a" * 36, "<en>")
    ),
    *(
        (request("GET", "search", query=query), "bad-request")
        for query in ("", f"x={SECRET}", "q=", "q=%00", f"q={SECRET * 99}")
    ),
    *((request("GET", path), "not-found") for path in ("", SECRET, "answer/x", "../answer")),
    (request("GET", "section", query=f"id={SECRET}"), "not-found"),
    (request(SECRET, "answer"), "method-not-allowed"),
    (question_request(headers={"origin": f"https://{SECRET}.example"}), "forbidden"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "expected"), PROBLEMS)
def test_problem_repeats_nothing_of_its_request(base: Engine, sent: Request, expected: str) -> None:
    ask = asking(base)
    response = ask.send(sent)
    assert code(response) == expected
    assert SECRET not in (response.body.decode() + repr(response.headers)).lower()
    assert SECRET.encode() not in b"".join(ask.lines).lower()


@pytest.mark.parametrize(
    "sent",
    [
        body_request(GOOD.ljust(MAX_BODY_BYTES)),
        body_request(GOOD, "Application/JSON; charset=utf-8"),
        body_request(b'{"question": "x", ' + GOOD[1:]),
        body_request(b'{"question": "\\ud83d\\ude80 rope"}'),
        question_request("rope " * 100, language="zh-Hant-TW", more=[1]),
        question_request(language=None),
        request("GET", "search", query="q=rope%ff%fe&q=other"),
    ],
)
def test_odd_but_valid_request_is_answered(base: Engine, sent: Request) -> None:
    assert asking(base).send(sent).status == 200


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("  a\t\nrope ", "a rope"),
        ("\uff32\uff4f\uff50\uff45", "Rope"),
        ("ro\u0000pe", "ro pe"),
        ("rope\u202e", "rope"),
        ("rope \ud800 x", "rope x"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_question_is_cleaned_before_it_is_asked(base: Engine, sent: str, read: str) -> None:
    assert clean_question(sent) == read
    ask = asking(base)
    assert ask(sent).status == 200
    assert ask.answerer.questions == [read]


def test_lone_surrogate_in_page_is_sent_escaped(tmp_path: Path) -> None:
    index = index_of(tmp_path, [record("rope", "<p>A rope \ud800 holds.</p>")])
    bundle = bundle_of(tmp_path, index, Profile(floor=0, note_floor=0))
    response = asking(Engine(bundle, LetterEmbedder(), Paid())).get("search", "q=rope")
    assert response.status == 200
    assert b"rope" in response.body


# Every guard at once: nothing may be asked, and what is asked is wrong in every way.
CLOSED = usual(paused=True, bearer=(DIGEST,), rate="1/day", tokens_per_day=0)


def test_first_failing_guard_answers(base: Engine) -> None:
    """Each request has one fault fewer than the one before it."""
    elsewhere, page, asked = {"origin": ELSEWHERE}, {"origin": ORIGIN}, {"origin": ORIGIN, **BEARER}
    typed = {**asked, **JSON}
    closed = asking(base, CLOSED)
    awake = asking(base, msgspec.structs.replace(CLOSED, paused=False))
    for ask, method, path, headers, body, expected in (
        (closed, "PUT", "nothing", elsewhere, WRONG, "not-found"),
        (closed, "PUT", "answer", elsewhere, WRONG, "method-not-allowed"),
        (closed, "POST", "answer", elsewhere, WRONG, "forbidden"),
        (closed, "POST", "answer", page, WRONG, "unauthorized"),
        (closed, "POST", "answer", asked, WRONG, "too-large"),
        (closed, "POST", "answer", asked, WRONG[:99], "paused"),
        (awake, "POST", "answer", asked, WRONG[:99], "unsupported"),
        (awake, "POST", "answer", typed, WRONG[:99], "bad-request"),
        (awake, "POST", "answer", typed, GOOD, "capped"),
        (awake, "POST", "answer", typed, GOOD, "rate-limited"),
    ):
        assert code(ask.send(request(method, path, headers=headers, body=body))) == expected


def test_cache_stands_before_slots_and_cap(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "BURST_SECONDS", 0.05)
    gate = threading.Event()
    policy = usual(in_flight=2, in_flight_per_asker=1, tokens_per_day=61)
    ask = asking(base, policy, answerer=Paid())
    assert ask().status == 200
    ask.answerer.before = lambda: gate.wait(PATIENCE)
    with ThreadPoolExecutor(2) as pool:
        under_way = [pool.submit(ask, "Another?")]
        until(lambda: len(ask.answerer.questions) == 2)
        # The share of one asker leaves room for another one.
        for response in (ask("A third?"), ask.get("search", "q=rope")):
            assert (code(response), header(response, "Retry-After")) == ("busy", "2")
        under_way.append(pool.submit(ask, "A third?", asker="192.0.2.2"))
        until(lambda: len(ask.answerer.questions) == 3)
        # Nor does the share of one admit more than there are slots.
        assert (ask().status, code(ask("A fourth?", asker="192.0.2.3"))) == (200, "busy")
        gate.set()
        assert [asked.result(PATIENCE).status for asked in under_way] == [200, 200]
    response = ask("A fifth?")
    assert code(response) == "capped"
    assert 1 <= int(header(response, "Retry-After") or "") <= 86_400
    assert ask().status == ask.get("search", "q=rope").status == 200
    assert ask.answerer.questions == [QUESTION, "Another?", "A third?"]


def test_request_refused_before_limits_is_not_counted(base: Engine) -> None:
    ask = asking(base, usual(rate="1/day"))
    assert code(ask("")) == "bad-request"
    assert code(ask(headers={"origin": ELSEWHERE})) == "forbidden"
    assert ask().status == 200
    assert code(ask()) == "rate-limited"


@pytest.mark.parametrize(
    ("site", "dest", "status"),
    [("cross-site", "image", 403), ("same-origin", "empty", 200), ("cross-site", "document", 200)],
)
def test_what_a_page_elsewhere_embeds_is_forbidden(
    base: Engine, site: str, dest: str, status: int
) -> None:
    """A browser names no origin for a picture."""
    headers = {"sec-fetch-site": site, "sec-fetch-dest": dest}
    assert asking(base).get("search", "q=rope", **headers).status == status


POLICIES = {
    "open": USUAL,
    "paused": usual(paused=True),
    "bearer": usual(bearer=(DIGEST,)),
    "capped": usual(tokens_per_day=0),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_cors_headers_name_allowed_origin_only(base: Engine, policy: str) -> None:
    ask = asking(base, POLICIES[policy])
    origins = (ORIGIN, ELSEWHERE, "null", "*", "", f"{ORIGIN}/", f"{ORIGIN}.evil.example", None)
    for sent, origin in ((sent, origin) for sent in SENT for origin in origins):
        headers = dict(sent.headers) | ({} if origin is None else {"origin": origin})
        response = ask.send(replace(sent, headers=headers))
        is_listed = origin == ORIGIN
        allowed = header(response, "Access-Control-Allow-Origin")
        assert allowed == (ORIGIN if is_listed else None)
        assert header(response, "Access-Control-Allow-Credentials") is None
        if origin is not None:
            assert "Origin" in (header(response, "Vary") or "")
        if origin is not None and not is_listed:
            assert response.status in (400, 403, 404, 405)


def test_function_without_origins_answers_programs_only(base: Engine) -> None:
    ask = asking(base, usual(allowed_origins=()))
    assert ask().status == 200
    assert code(ask(headers={"origin": ORIGIN})) == "forbidden"


@pytest.mark.parametrize(("path", "method"), [("answer", "POST"), ("search", "GET")])
def test_preflight_needs_no_token_and_meets_no_limit(base: Engine, path: str, method: str) -> None:
    ask = asking(base, CLOSED)
    asked = {"access-control-request-method": method,
             "access-control-request-headers": "content-type, authorization"}  # fmt: skip
    for _ in range(3):
        headers = {"origin": ORIGIN, **asked}
        response = ask.send(request("OPTIONS", path, headers=headers))
        assert response.status == 200
        assert method in (header(response, "Access-Control-Allow-Methods") or "")
        allowed = header(response, "Access-Control-Allow-Headers") or ""
        assert {"Authorization", "Content-Type"} <= set(allowed.split(", "))
    response = ask.send(request("OPTIONS", path, headers={"origin": ELSEWHERE, **asked}))
    assert response.status == 400
    assert header(response, "Access-Control-Allow-Origin") is None


def test_paused_function_answers_503_without_work(base: Engine) -> None:
    ask = asking(base, usual(paused=True))
    for response in (ask(), ask.get("search", "q=rope"), ask.get("ready")):
        assert code(response) == "paused"
        assert header(response, "Retry-After") == "3600"
    assert ask.get("health").status == 200
    assert ask.answerer.questions == []


@pytest.mark.parametrize("path", ["answer", "search", "openapi.json"])
def test_bearer_policy_requires_a_token_that_only_its_digest_knows(base: Engine, path: str) -> None:
    others = (hashlib.sha256(b"other").hexdigest(), hashlib.sha256(b"").hexdigest())
    ask = asking(base, usual(bearer=(*others, DIGEST)))
    method = "POST" if path == "answer" else "GET"
    for authorization in (
        None, "", "Bearer", "Bearer ", TOKEN, "Bearer wrong", f"Basic {TOKEN}", f"Bearer{TOKEN}",
        f"Bearer {TOKEN} {TOKEN}", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {DIGEST}",
        f"Bearer {TOKEN.upper()}", f"Bearer {TOKEN}\x00", f"Bearer {TOKEN}\ud800",
    ):  # fmt: skip
        headers = {} if authorization is None else {"authorization": authorization}
        response = ask.send(request(method, path, query="q=rope", headers=headers))
        assert code(response) == "unauthorized"
        assert header(response, "WWW-Authenticate") == "Bearer"
    for scheme in ("Bearer", "bearer"):
        headers = {"authorization": f"{scheme} {TOKEN}"}
        response = ask.send(request(method, path, query="q=rope", headers=headers))
        assert response.status == (415 if path == "answer" else 200)
    assert ask.get("health").status == ask.get("ready").status == 200


def test_metrics_need_their_own_token(base: Engine) -> None:
    assert code(asking(base).get("metrics", **BEARER)) == "not-found"
    readers = hashlib.sha256(b"readers").hexdigest()
    ask = asking(base, usual(metrics_token=DIGEST, bearer=(readers,)))
    assert code(ask.get("metrics", authorization="Bearer readers")) == "unauthorized"
    assert ask(headers={"authorization": "Bearer readers"}).status == 200
    response = ask.get("metrics", **BEARER)
    assert header(response, "Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert b'path="answer"' in response.body
    assert QUESTION.encode() not in response.body


def test_questions_searches_and_places_have_rates_of_their_own(base: Engine) -> None:
    ask = asking(base, usual(rate="2/day", rate_all="2/day"))
    places = replace(question_request("rope"), path="places")
    assert [ask().status for _ in range(3)] == [200, 200, 429]
    assert [ask.get("search", "q=rope").status for _ in range(3)] == [200, 200, 429]
    assert [ask.send(places).status for _ in range(3)] == [200, 200, 429]
    assert ask.get("health").status == 200


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
    ask = asking(base, usual(rate="1/day"))
    assert ask(asker=first).status == 200
    assert ask(asker=second).status == (429 if is_one else 200)


@pytest.mark.parametrize("trusted", ["x-forwarded-for", None])
def test_last_address_of_a_trusted_header_is_the_asker(base: Engine, trusted: str | None) -> None:
    ask = asking(base, usual(rate="1/day", asker_header=trusted))

    def status(forwarded: str) -> int:
        return ask(asker="10.0.0.1", headers={"x-forwarded-for": forwarded}).status

    assert status("192.0.2.1") == 200
    # What stands before it anyone may write.
    assert status("198.51.100.7, 192.0.2.1") == 429
    assert status("192.0.2.1, 192.0.2.2") == (200 if trusted else 429)


def test_absolute_urls_are_those_of_the_site(frozen_site: FrozenSite) -> None:
    ask = asking(frozen_site.engine, answerer=frozen_site.engine.answerer)
    for rows in (
        ask.get("search", "q=retry", origin=ORIGIN).json.values(),
        ask("How often is a job retried?", headers={"origin": ORIGIN}).json["citations"],
    ):
        assert rows
        for row in rows:
            path = row["url"].removeprefix("/docs/")
            assert row["absolute_url"] == f"https://millrace.example/docs/{path}"


def test_absolute_urls_of_a_site_without_address_are_those_of_the_asking_page(
    base: Engine,
) -> None:
    mirror = "https://mirror.example"
    ask = asking(base, usual(allowed_origins=(ORIGIN, mirror)))
    # Nobody says where the pages are: the function's own host need not serve them.
    assert "absolute_url" not in ask.get("search", "q=rope", host="harbour.example").json["w"]
    # Each page has its own cached answer.
    for origin in (ORIGIN, mirror, ORIGIN):
        citation = ask(headers={"origin": origin}).json["citations"][0]
        assert citation["absolute_url"] == f"{origin}/rope/#use"
    assert "absolute_url" not in ask().json["citations"][0]


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "[::1]:8000", "localhost"])
def test_host_of_a_development_server_is_the_address_of_its_pages(base: Engine, host: str) -> None:
    ask = asking(base, usual(allowed_origins=()), dev_host="127.0.0.1")
    row = ask.get("search", "q=rope", host=host).json["w"]
    assert row["absolute_url"] == f"http://{host}/w/"


def test_function_without_index_is_unavailable() -> None:
    app = app_of(None, USUAL)
    for sent in (question_request(), request("GET", "ready"), request("GET", "health")):
        response = send(app, sent)
        assert (code(response), header(response, "Retry-After")) == ("unavailable", "5")


def test_unreachable_redis_refuses_what_costs_tokens_and_answers_all_else(base: Engine) -> None:
    policy = usual(redis_url=f"redis://:hunter2@127.0.0.1:{free_port()}/0")
    ask = asking(base, policy)
    for response in (ask(), ask.get("ready")):
        assert code(response) == "unavailable"
        assert header(response, "Retry-After")
        assert b"hunter2" not in response.body
    assert ask.get("health").status == ask.get("search", "q=rope").status == 200
    assert ask.answerer.questions == []
    free = asking(base, policy, answerer=ExtractiveAnswerer())
    assert [free().status, free().status] == [200, 200]
    assert b"hunter2" not in b"".join((*ask.lines, *free.lines))
