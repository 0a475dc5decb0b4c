"""Answers as events: stages while they are made, and everything else at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.engine import Engine
from answerable.serve.http import sse
from answerable.serve.http.messages import EVENT_STREAM_TYPE, Headers, Response, encode_event
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


def read_stream(response: Response) -> tuple[int, Headers, list[tuple[str, Any]]]:
    """All that a client can tell of a stream but its time and the id of its request."""
    assert response.events
    sent = events(b"".join(response.events).decode())
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
    fresh, cached = (read_stream(stream(ask, question=question)) for _ in range(2))
    plain = ask(question).json
    assert [line["cache"] for line in ask.log] == ["miss", "hit", "hit"]
    assert fresh == cached
    status, _, sent = fresh
    assert status == 200
    assert sent[:-1] == [("stage", {"stage": stage}) for stage in stages]
    assert sent[-1] == ("answer", {key: plain[key] for key in plain if key != "request_id"})


def test_stream_is_neither_kept_nor_buffered(base: Engine) -> None:
    response = stream(asking(base))
    assert response.body == b""
    assert header(response, "Content-Type") == f"{EVENT_STREAM_TYPE}; charset=utf-8"
    assert header(response, "Cache-Control") == "no-store"


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
    response = stream(asking(base, answerer=Paid(before=lambda: gate.wait(PATIENCE))))
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


def test_keepalive_comment_fills_each_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEPALIVE_SECONDS", 0.01)
    ready = threading.Event()

    def make_answer() -> dict[str, Any]:
        assert ready.wait(PATIENCE)
        return {"mode": "partial"}

    parts = sse.stream_response(make_answer, RequestContext(), PATIENCE, lambda _: None).events
    assert parts
    assert [next(parts) for _ in range(3)] == [sse.KEEPALIVE_COMMENT] * 3
    ready.set()
    sent = [part for part in parts if part != sse.KEEPALIVE_COMMENT]
    assert sent == [encode_event("answer", {"mode": "partial"})]
