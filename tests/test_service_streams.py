"""Answers as events: stages while they are made, and everything else at once."""

import threading
from dataclasses import replace

import pytest

from answerable.serve import call as calls
from answerable.serve.call import Call
from answerable.serve.engine import Engine
from answerable.serve.web.http import EVENTS
from asking import ROPE, USUAL, Paid, asked, asking, code, header, letters, stream
from described import events
from running import until


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


def test_a_stream_tells_its_stages_and_ends_with_the_plain_answer(base: Engine) -> None:
    ask = asking(base)
    response = stream(ask)
    assert (response.status, response.body) == (200, b"")
    assert header(response, "Content-Type") == f"{EVENTS}; charset=utf-8"
    assert header(response, "Cache-Control") == "no-store"
    assert response.events
    found = events(b"".join(response.events).decode())
    stages = ["embedding", "searching", "writing", "checking"]
    assert found[:-1] == [("stage", {"stage": stage}) for stage in stages]
    streamed, plain = found[-1][1], ask().json
    assert found[-1][0] == "answer"
    del streamed["request_id"], plain["request_id"]
    assert streamed == plain


def test_a_cached_answer_is_a_stream_of_one_event(base: Engine) -> None:
    ask = asking(base)
    assert ask().status == 200
    response = stream(ask)
    assert response.events
    assert [name for name, _ in events(b"".join(response.events).decode())] == ["answer"]


def test_where_nothing_can_be_streamed_the_answer_is_whole(base: Engine) -> None:
    response = asking(base)(headers={"accept": EVENTS})
    assert response.events is None
    assert response.json["mode"] == "partial"


def test_what_is_refused_at_the_door_is_no_stream(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=0))
    response = stream(ask)
    assert response.events is None
    assert code(response) == "capped"
    assert [line["status"] for line in ask.seen] == [503]


def test_no_claim_leaves_before_the_whole_draft_has_settled(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(base, answerer=Paid(before=lambda: gate.wait(10)))
    response = stream(ask)
    assert response.events
    early = [next(response.events) for _ in range(3)]
    assert ROPE.encode() not in b"".join(early)
    gate.set()
    assert ROPE.encode() in b"".join(response.events)


def test_who_reads_no_further_stops_the_call(base: Engine) -> None:
    stopped = threading.Event()

    def wait() -> None:
        with calls.current().stopping(stopped.set):
            stopped.wait(10)
        calls.current().check()

    ask = asking(base, replace(USUAL, in_flight=1), answerer=Paid(before=wait))
    response = stream(ask)
    assert response.events
    next(response.events)
    until(lambda: bool(ask.answerer.questions))
    response.events.close()
    assert stopped.wait(5)
    until(lambda: bool(ask.lines))
    assert [line["status"] for line in ask.seen] == [499]
    # Neither its slot nor its key is held any longer.
    until(lambda: ask.service.guards.answering.slots.acquire(blocking=False), 5)
    assert list(response.events) == []


def test_an_adapter_can_stop_a_call_that_is_no_stream(base: Engine) -> None:
    call = Call()

    def stop() -> None:
        call.cancel()
        calls.current().check()

    ask = asking(base, answerer=Paid(before=stop))
    assert code(ask.service.handle(asked(), call)) == "unavailable"
