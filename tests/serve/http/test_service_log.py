"""Log of the service: one line a request from closed lists of values, and refused questions."""

import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.engine import Engine
from answerable.serve.errors import ProviderError
from answerable.serve.http.logs import RefusedQuestion, format_hour
from answerable.serve.http.messages import EVENT_STREAM_TYPE, Request
from support.openapi_check import events
from support.service_requests import (
    BEARER,
    DIGEST,
    QUESTION,
    ROPE,
    SENT,
    USUAL,
    Asking,
    Paid,
    asking,
    letters,
    request,
    stream,
)

# A claim with a quote of the page, and a route to the note.
ROUTED = {
    "claims": [{"text": ROPE, "evidence": [{"source": "s1", "quote": ROPE}]}],
    "routes": ["h1"],
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


def test_log_line_has_outcome_and_not_question(base: Engine) -> None:
    ask = asking(base)
    body = ask().json
    (line,) = ask.log
    assert line["event"] == "request"
    assert line["request_id"] == body["request_id"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "answer", 200)
    assert (line["mode"], line["reason"], line["cache"]) == ("partial", None, "miss")
    assert (line["tokens_in"], line["tokens_out"]) == (20, 10)
    assert line["bundle"] == base.store.manifest.id
    assert list(line["timings_ms"]) == ["embedding", "searching", "writing", "checking"]
    assert line["duration_ms"] >= sum(line["timings_ms"].values()) - 1
    assert "question" not in line
    assert QUESTION.encode() not in ask.lines[0]
    # The id of the cited page is public; no other word of the question is anywhere.
    assert line.pop("cited") == ["rope"]
    assert "rope" not in json.dumps(line).lower()
    assert b"192.0.2" not in ask.lines[0]


def test_log_line_has_hour_and_cited_pages_of_each_answer(base: Engine) -> None:
    """A kept answer cites what it did; a refusal and a search cite nothing, nor is a note cited."""
    ask = asking(base, answerer=Paid(drafts=[ROUTED, {}]))
    before = time.time()
    body = ask().json
    ask()
    ask("Who?! Ropes!")
    ask.get("search", "q=rope")
    assert [row["kind"] for row in body["citations"]] == ["record", "hint"]
    assert [(line["cache"], line["cited"]) for line in ask.log] == [
        ("miss", ["rope"]), ("hit", ["rope"]), ("miss", []), (None, []),
    ]  # fmt: skip
    hours = {format_hour(before), format_hour(time.time())}
    assert {line["time"] for line in ask.log} <= hours
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:00Z", hour) for hour in hours)


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: f"{sent.method} {sent.path}")
def test_every_request_is_one_log_line(base: Engine, sent: Request) -> None:
    ask = asking(base, replace(USUAL, bearer=(DIGEST,)))
    for headers in (sent.headers, {**sent.headers, **BEARER}):
        ask.lines.clear()
        response = ask.service.handle(replace(sent, headers=headers))
        if response.events:
            assert ask.lines == []
            b"".join(response.events)
        (line,) = ask.log
        assert line["status"] == response.status


def test_made_up_path_and_method_are_not_logged(base: Engine) -> None:
    ask = asking(base)
    secret = "zanzibar"
    ask.get(secret)
    ask.get("search", f"{secret}={secret}")
    ask(secret * 99)
    ask(headers={"content-type": secret, "origin": secret, "user-agent": secret})
    ask(more=secret, language=secret)
    ask.service.handle(request(secret, secret, headers={secret: secret}))
    assert len(ask.lines) == 6
    assert secret.encode() not in b"".join(ask.lines).lower()


@pytest.mark.parametrize("streams", [False, True])
def test_log_line_has_reason_of_failed_request(base: Engine, streams: bool) -> None:
    def fail() -> None:
        raise ProviderError("the provider cannot be reached", cause="unreachable")

    drafts = [{}, "no draft", "no draft"]
    ask = asking(base, replace(USUAL, rate="3/day"), answerer=Paid(drafts=drafts))
    late = asking(base, answerer=Paid(before=fail))
    options: dict[str, Any] = {"streams": streams, "headers": {"accept": EVENT_STREAM_TYPE}}
    for asks, question in (
        *((ask, q) for q in ("Ropes?", "Another?", "", "?!", "Late?")),
        (late, "Ropes?"),
    ):
        response = asks(question, **options)
        if response.events:
            b"".join(response.events)
    assert [line["reason"] for line in ask.log] == [
        "declined", "contract", "bad-request", "no-evidence", "rate-limited"
    ]  # fmt: skip
    # What a model was to answer is answered without it.
    assert [line["reason"] for line in late.log] == [None]
    assert [line["cause"] for line in late.log] == ["unreachable"]
    assert not any("cause" in line for line in ask.log)


def test_failing_log_costs_no_answer(base: Engine) -> None:
    def fail(line: bytes) -> None:
        del line
        raise OSError("the disk is full")

    assert asking(base, log=fail)().status == 200
    assert stream_of(asking(base, log=fail))[-1] == "answer"


def stream_of(ask: Asking) -> list[str]:
    response = stream(ask)
    assert response.events
    return [name for name, _ in events(b"".join(response.events).decode())]


def test_refused_question_is_passed_on_each_time(base: Engine) -> None:
    refused: list[RefusedQuestion] = []
    ask = asking(base, answerer=Paid(drafts=[{}]), log_refusal=refused.append)
    for _ in range(2):
        assert ask().json["reason"] == "declined"
    (first, second) = refused
    assert first == second
    assert (first.question, first.address, first.reason) == (QUESTION, "192.0.2.1", "declined")
    assert (first.bundle, first.near) == (base.store.manifest.id, "rope#use")


def test_answered_question_is_not_passed_to_refusal_log(base: Engine) -> None:
    refused: list[RefusedQuestion] = []
    asking(base, log_refusal=refused.append)()
    assert refused == []


def test_failing_refusal_log_costs_no_answer(base: Engine) -> None:
    def fail(refused: RefusedQuestion) -> None:
        del refused
        raise OSError("the disk is full")

    assert asking(base, answerer=Paid(drafts=[{}]), log_refusal=fail)().json["reason"] == "declined"
