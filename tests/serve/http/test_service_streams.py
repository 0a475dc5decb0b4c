"""Answers as events: stages while they are made, and everything else at once."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.engine import Engine
from answerable.serve.http.messages import EVENT_STREAM_TYPE, Headers, Response
from answerable.serve.request_context import RequestContext, current_context
from support.deadlines import PATIENCE, until
from support.openapi_check import events
from support.service_requests import (
    QUESTION,
    ROPE,
    USUAL,
    Looking,
    Paid,
    asking,
    code,
    header,
    letters,
    question_request,
    stream,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


def test_stream_has_stages_and_ends_with_plain_answer(base: Engine) -> None:
    ask = asking(base)
    response = stream(ask)
    assert (response.status, response.body) == (200, b"")
    assert header(response, "Content-Type") == f"{EVENT_STREAM_TYPE}; charset=utf-8"
    assert header(response, "Cache-Control") == "no-store"
    assert response.events
    stream_events = events(b"".join(response.events).decode())
    stages = ["embedding", "searching", "writing", "checking"]
    assert stream_events[:-1] == [("stage", {"stage": stage}) for stage in stages]
    streamed, plain = stream_events[-1][1], ask().json
    assert stream_events[-1][0] == "answer"
    del streamed["request_id"], plain["request_id"]
    assert streamed == plain


def read_stream(response: Response) -> tuple[int, Headers, list[tuple[str, Any]]]:
    """All that a client can tell of a stream but its time and the id of its request."""
    assert response.events
    sent = events(b"".join(response.events).decode())
    assert re.fullmatch(r"req_[0-9a-f]{32}", sent[-1][1].pop("request_id"))
    return response.status, response.headers, sent


BROKEN = {"claims": [{"text": ROPE, "evidence": [{"source": "s9", "quote": ROPE}]}]}
WHOLE = {"claims": [{"text": ROPE, "evidence": [{"source": "s1", "quote": ROPE}]}]}
DECLINED: dict[str, object] = {"claims": [], "routes": []}
FIRST = ["embedding", "searching", "writing", "checking"]


@pytest.mark.parametrize(
    ("question", "drafts", "stages"),
    [
        (QUESTION, [WHOLE], FIRST),
        (QUESTION, [DECLINED], FIRST),
        (QUESTION, [BROKEN, WHOLE], [*FIRST, "writing", "checking"]),
        ("Is it the what?", [], []),
    ],
)
def test_cached_stream_has_events_of_fresh_one(
    base: Engine, question: str, drafts: list[object], stages: list[str]
) -> None:
    ask = asking(base, answerer=Paid(drafts=drafts))
    fresh, cached = (read_stream(stream(ask, question=question)) for _ in range(2))
    assert [line["cache"] for line in ask.log] == ["miss", "hit"]
    assert fresh == cached
    assert [data["stage"] for name, data in cached[2] if name == "stage"] == stages


def test_cached_stream_after_plain_answer_has_same_events(base: Engine) -> None:
    ask, other = asking(base), asking(base)
    assert ask().status == other(streams=True).status == 200
    assert (
        read_stream(stream(ask)) == read_stream(stream(asking(base))) == read_stream(stream(other))
    )


def test_cached_plain_answer_has_headers_and_fields_of_fresh_one(base: Engine) -> None:
    ask = asking(base)
    fresh, cached = ask(), ask()
    assert [line["cache"] for line in ask.log] == ["miss", "hit"]
    assert cached.headers == fresh.headers
    assert list(cached.json) == list(fresh.json)
    assert len(cached.body) == len(fresh.body)
    assert {**cached.json, "request_id": 0} == {**fresh.json, "request_id": 0}


def test_shared_answer_announces_its_stages(base: Engine) -> None:
    entered, gate, call = threading.Event(), threading.Event(), Looking()

    def wait() -> None:
        entered.set()
        gate.wait(PATIENCE)

    ask = asking(base, answerer=Paid(before=wait))
    follower = question_request(streams=True, headers={"accept": EVENT_STREAM_TYPE})
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: read_stream(stream(ask)))
        assert entered.wait(PATIENCE)
        second = pool.submit(lambda: read_stream(ask.service.handle(follower, call)))
        assert call.looked.wait(PATIENCE)
        gate.set()
        assert first.result(PATIENCE) == second.result(PATIENCE)
    assert sorted(line["cache"] for line in ask.log) == ["miss", "shared"]


def test_answer_is_plain_where_platform_cannot_stream(base: Engine) -> None:
    response = asking(base)(headers={"accept": EVENT_STREAM_TYPE})
    assert response.events is None
    assert response.json["mode"] == "partial"


def test_problem_before_first_event_is_plain_response(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=0))
    response = stream(ask)
    assert response.events is None
    assert code(response) == "capped"
    assert [line["status"] for line in ask.log] == [503]


def test_no_claim_is_sent_before_whole_draft_is_checked(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(base, answerer=Paid(before=lambda: gate.wait(PATIENCE)))
    response = stream(ask)
    assert response.events
    early = [next(response.events) for _ in range(3)]
    assert ROPE.encode() not in b"".join(early)
    gate.set()
    assert ROPE.encode() in b"".join(response.events)


def test_closing_stream_cancels_question(base: Engine) -> None:
    def wait() -> None:
        current_context().pause(PATIENCE)

    ask = asking(base, replace(USUAL, in_flight=1), answerer=Paid(before=wait))
    response = stream(ask)
    assert response.events
    next(response.events)
    until(lambda: bool(ask.answerer.questions))
    response.events.close()
    until(lambda: bool(ask.lines))
    assert [line["status"] for line in ask.log] == [499]
    # Neither its slot nor its key is held any longer.
    until(lambda: ask.service.protections.guarded_engine.slots.acquire(blocking=False))
    assert list(response.events) == []


def test_adapter_can_cancel_plain_question(base: Engine) -> None:
    call = RequestContext()

    def stop() -> None:
        call.cancel()
        current_context().check_deadline()

    ask = asking(base, answerer=Paid(before=stop))
    assert code(ask.service.handle(question_request(), call)) == "unavailable"
