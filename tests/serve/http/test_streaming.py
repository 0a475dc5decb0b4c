"""Answers as events, through real servers: what comes when, and what a client that leaves stops."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from email.message import Message
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.http import sse
from answerable.serve.http.messages import EVENT_STREAM_TYPE, encode_event
from answerable.serve.request_context import RequestContext
from answerable.serve.settings import SETTINGS_FILE, FunctionSettings
from support import runtimes
from support.deadlines import PATIENCE, until
from support.event_streams import events
from support.metered_stub import Metered
from support.runtime_requests import KNOWN, PRIVATE, UNKNOWN
from support.runtimes import Reply, Runtime

ACCEPT = ("Accept", EVENT_STREAM_TYPE)
STAGES = ["embedding", "searching", "writing", "checking"]
DEPLOYED: Mapping[str, Callable[..., AbstractContextManager[Runtime]]] = {
    "uvicorn": runtimes.on_uvicorn,
    "loopback": runtimes.on_loopback,
}
NAMES = [*DEPLOYED, "mkdocs"]


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runtimes.built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def stub() -> Iterator[Metered]:
    """A model's server for all tests here, which is told anew what goes wrong."""
    with Metered() as running:
        yield running
    assert running.failures == []


@pytest.fixture(autouse=True)
def _well(stub: Metered) -> None:
    stub.gate.set()
    stub.fault = None
    stub.forget()


@pytest.fixture(scope="module")
def keyless(function: Path) -> Iterator[Mapping[str, Runtime]]:
    starting = [start(function) for start in DEPLOYED.values()]
    yield from started([*starting, runtimes.on_mkdocs(function.parent)])


@pytest.fixture(scope="module")
def asking(function: Path, stub: Metered) -> Iterator[Mapping[str, Runtime]]:
    """Functions that ask a model, one question at a time."""
    settings = FunctionSettings("openai", model="honest", base_url=stub.base_url).as_json().decode()
    folder = runtimes.packaged(function, "asking", {SETTINGS_FILE: settings})
    one = {"ANSWERABLE_IN_FLIGHT": "1", "OPENAI_API_KEY": "sk-test"}
    yield from started([start(folder, **one) for start in DEPLOYED.values()])


def started(
    starting: list[AbstractContextManager[Runtime]],
) -> Iterator[Mapping[str, Runtime]]:
    with ExitStack() as stack, ThreadPoolExecutor(len(starting)) as pool:
        yield {runtime.name: runtime for runtime in pool.map(stack.enter_context, starting)}


def stream(runtime: Runtime, question: str) -> HTTPResponse:
    """Ask for events; the response is read as it comes, and to close it is to hang up."""
    body = json.dumps({"question": question}).encode()
    length = ("Content-Length", str(len(body)))
    return runtime.send("POST", "answer", body, runtime.headers(ACCEPT, length))


def without_id(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "request_id"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("question", [KNOWN, PRIVATE])
def test_stages_precede_whole_answer_in_order(
    keyless: Mapping[str, Runtime], name: str, question: str
) -> None:
    runtime = keyless[name]
    with stream(runtime, question) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == f"{EVENT_STREAM_TYPE}; charset=utf-8"
        assert response.headers["Content-Length"] is None
        check_shares(runtime, response.headers)
        *stages, (last, body) = events(response)
    assert [data["stage"] for _, data in stages] == STAGES
    assert {name for name, _ in stages} == {"stage"}
    assert last == "answer"
    assert without_id(body) == without_id(runtime.post({"question": question}).json)


def check_shares(runtime: Runtime, headers: Message) -> None:
    assert headers["Vary"] == "Origin"
    shared = runtime.origin if runtime.is_deployed else None
    assert headers.get("Access-Control-Allow-Origin") == shared


@pytest.mark.parametrize("name", NAMES)
def test_refusal_is_streamed(keyless: Mapping[str, Runtime], name: str) -> None:
    with stream(keyless[name], UNKNOWN) as response:
        *_, (last, body) = events(response)
    assert (last, body["mode"], body["citations"]) == ("answer", "not-found", [])


@pytest.mark.parametrize("name", DEPLOYED)
@pytest.mark.parametrize("question", ["a red lantern", UNKNOWN, PRIVATE])
def test_cached_answer_has_stages_of_fresh_one(
    keyless: Mapping[str, Runtime], name: str, question: str
) -> None:
    runtime = keyless[name]
    # Two questions to the cache, and one to what is searched.
    cached, fresh = f"{question}? ({name})", f"{question}! ({name})"
    assert runtime.post({"question": cached}).status == 200
    streams = []
    for each in (cached, fresh):
        with stream(runtime, each) as response:
            fields = [name for name, _ in response.getheaders()]
            sent = list(events(response))
        streams.append((response.status, fields, sent[:-1], sent[-1][0], list(sent[-1][1])))
        until(partial(was_logged, runtime, "hit" if each == cached else "miss"))
    assert streams[0] == streams[1]
    assert [data["stage"] for _, data in streams[0][2]][:2] == STAGES[:2]


def was_logged(runtime: Runtime, outcome: str) -> bool:
    return bool(json.loads(runtime.output.splitlines()[-1])["cache"] == outcome)


@pytest.mark.parametrize("name", NAMES)
def test_problem_before_first_event_is_plain_response(
    keyless: Mapping[str, Runtime], name: str
) -> None:
    runtime = keyless[name]
    reply = runtime.post({"question": ""}, ACCEPT)
    assert (reply.status, reply.json["code"]) == (400, "bad-request")
    assert reply.headers["content-type"] == "application/problem+json"
    foreign = (("Content-Type", "application/json"), ("Origin", "https://a.example"), ACCEPT)
    reply = runtime.request("POST", "answer", b"{}", foreign)
    assert (reply.status, reply.json["code"]) == (403, "forbidden")


def test_other_paths_do_not_stream(keyless: Mapping[str, Runtime]) -> None:
    for runtime in keyless.values():
        reply = runtime.request("GET", "search?q=chain", headers=(ACCEPT,))
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")


def test_lambda_answers_without_streaming(function: Path) -> None:
    with runtimes.on_lambda(function) as runtime:
        streamed = runtime.post({"question": KNOWN}, ACCEPT)
        assert streamed.headers["content-type"] == "application/json"
        assert without_id(streamed.json) == without_id(runtime.post({"question": KNOWN}).json)


@pytest.mark.parametrize("name", DEPLOYED)
def test_client_that_leaves_stream_cancels_its_question(
    asking: Mapping[str, Runtime], stub: Metered, name: str
) -> None:
    runtime = asking[name]
    stub.gate.clear()
    with stream(runtime, f"{KNOWN} ({name})") as response:
        for _, data in events(response):
            if data == {"stage": "writing"}:
                break
        until(lambda: stub.waiting == 1)
    until(lambda: any(is_cancelled(line) for line in runtime.output.splitlines()))
    # There is room for one question only, which its own has left when the model has answered.
    assert runtime.post({"question": KNOWN}).status == 503
    stub.gate.set()
    until(lambda: answered(runtime.post({"question": KNOWN})))


def is_cancelled(line: str) -> bool:
    """Tell whether a log line reports a question that was cancelled after its search."""
    row: dict[str, Any] = json.loads(line) if line.startswith("{") else {"status": None}
    return row["status"] in (499, 503) and "searching" in row["timings_ms"]


def answered(reply: Reply) -> bool:
    assert reply.status in (200, 503)
    return reply.status == 200


@pytest.mark.parametrize("name", DEPLOYED)
def test_model_that_fails_during_stream_ends_it_with_keyless_answer(
    asking: Mapping[str, Runtime], stub: Metered, name: str
) -> None:
    stub.fault = "401"
    question = f"{KNOWN} Wrongly."
    with stream(asking[name], question) as response:
        *stages, (last, answer) = events(response)
    assert [data["stage"] for _, data in stages] == [*STAGES[:3], "writing", "checking"]
    assert (last, answer["fallback"]) == ("answer", True)
    plain = asking[name].post({"question": question})
    assert without_id(plain.json) == without_id(answer)


def test_capped_question_is_plain_problem(function: Path, stub: Metered) -> None:
    settings = FunctionSettings("openai", base_url=stub.base_url).as_json().decode()
    folder = runtimes.packaged(function, "capped", {SETTINGS_FILE: settings})
    capped = {"ANSWERABLE_TOKENS_PER_DAY": "0", "OPENAI_API_KEY": "sk-test"}
    with runtimes.on_uvicorn(folder, **capped) as runtime:
        reply = runtime.post({"question": KNOWN}, ACCEPT)
    assert (reply.status, reply.json["code"]) == (503, "capped")
    assert int(reply.headers["retry-after"]) > 0
    assert stub.answer_calls == 0


def test_keepalive_comment_fills_each_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEPALIVE_SECONDS", 0.01)
    ready = threading.Event()
    ended: list[int] = []

    def make_answer() -> dict[str, Any]:
        assert ready.wait(PATIENCE)
        return {"mode": "partial"}

    response = sse.stream_response(make_answer, RequestContext(), PATIENCE, ended.append)
    parts = response.events
    assert parts
    assert [next(parts) for _ in range(3)] == [sse.KEEPALIVE_COMMENT] * 3
    ready.set()
    sent = [part for part in parts if part != sse.KEEPALIVE_COMMENT]
    assert sent == [encode_event("answer", {"mode": "partial"})]
    assert ended == [200]
