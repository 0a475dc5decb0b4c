"""Answers as events: stages while they are made, and everything else at once."""

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from answerable.engine.engine import Engine
from answerable.engine.request_context import current_context
from answerable.function.exchange import EVENT_STREAM_TYPE
from support.app_requests import Client, Headers, Response, in_loop, make_scope
from support.deadlines import PATIENCE, until
from support.openapi_check import events
from support.service_requests import (
    QUESTION,
    ROPE,
    Asking,
    Paid,
    asking,
    code,
    question_request,
    usual,
)


def read_stream(response: Response) -> tuple[int, Headers, list[tuple[str, Any]]]:
    """All that a client can tell of a stream but its time and the id of its request."""
    sent = events(response.body.decode())
    assert sent[-1][1].pop("request_id").startswith("req_")
    return response.status, response.headers, sent


FIRST = ["embedding", "searching", "writing", "checking"]
BROKEN = {"claims": [{"text": ROPE, "evidence": [{"source": "s9", "quote": ROPE}]}]}
WHOLE = {"claims": [{"text": ROPE, "evidence": [{"source": "s1", "quote": ROPE}]}]}


@pytest.mark.parametrize(
    ("question", "drafts", "stages"),
    [
        (QUESTION, [WHOLE], FIRST),
        (QUESTION, [{}], FIRST),
        (QUESTION, [BROKEN, WHOLE], [*FIRST, "writing", "checking"]),
        ("Is it the what?", [], []),
    ],
)
def test_stream_ends_with_the_plain_answer_fresh_or_cached(
    base: Engine, question: str, drafts: list[object], stages: list[str]
) -> None:
    ask = asking(base, answerer=Paid(drafts=drafts))
    fresh, cached = (read_stream(ask(question, streams=True)) for _ in range(2))
    plain = ask(question).json
    assert [line["cache"] for line in ask.log] == ["miss", "hit", "hit"]
    answer = ("answer", {key: plain[key] for key in plain if key != "request_id"})
    assert fresh == (200, cached[1], [*(("stage", {"stage": stage}) for stage in stages), answer])
    assert cached == (200, fresh[1], [answer])
    sent = dict(fresh[1])
    assert sent["content-type"] == f"{EVENT_STREAM_TYPE}; charset=utf-8"
    assert (sent["cache-control"], sent["x-accel-buffering"]) == ("no-store", "no")


def test_problem_before_first_event_is_plain_response(base: Engine) -> None:
    ask = asking(base, usual(tokens_per_day=0))
    assert code(ask(streams=True)) == "capped"
    assert [line["status"] for line in ask.log] == [503]


def client_of(ask: Asking) -> tuple[Client, Callable[[], Awaitable[None]]]:
    """A client that asks for a stream, and what serves it."""
    sent = question_request(streams=True)
    client = Client(sent.body)
    return client, lambda: ask.app(make_scope(sent), client.receive, client.send)


def test_no_claim_is_sent_before_whole_draft_is_checked(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(base, answerer=Paid(before=lambda: gate.wait(PATIENCE)))
    client, serve = client_of(ask)
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(in_loop, serve)
        until(lambda: len(client.sent) > 3)
        assert ROPE.encode() not in client.response.body
        gate.set()
        served.result(PATIENCE)
    assert ROPE.encode() in client.response.body


def test_client_that_leaves_cancels_its_question(base: Engine) -> None:
    ask = asking(
        base,
        usual(in_flight=1),
        answerer=Paid(before=lambda: current_context().pause(PATIENCE)),
    )
    client, serve = client_of(ask)
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(in_loop, serve)
        until(lambda: bool(ask.answerer.questions))
        client.left.set()
        served.result(PATIENCE)
    assert [line["status"] for line in ask.log] == [499]
    # Its slot is free again.
    ask.answerer.before = None
    assert ask("Another?").status == 200
