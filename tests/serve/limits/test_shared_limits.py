"""Processes of a function that share a Redis: one limit, one cap, one answer, a clean end."""

import http.client
import json
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.http import sse
from answerable.serve.settings import read_settings
from support import published_functions
from support.deadlines import PATIENCE, until
from support.metered_stub import Metered
from support.openapi_check import events
from support.redis_server import RedisServer
from support.server_processes import Running, free_port, run

pytestmark = pytest.mark.deep

QUESTION = "How thick is the chain of a mooring?"


@pytest.fixture(scope="module")
def stub() -> Iterator[Metered]:
    with Metered() as stub:
        yield stub
        assert stub.failures == []


@pytest.fixture(autouse=True)
def _working_stub(stub: Metered) -> None:
    stub.gate.set()
    stub.fault = None


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory, stub: Metered) -> Path:
    """A function whose answers cost tokens of a stub."""
    return published_functions.build_function(tmp_path_factory.mktemp("site"), stub)


def environment(store: RedisServer, **variables: str) -> dict[str, str]:
    return {
        "ANSWERABLE_REDIS_URL": store.url,
        "ANSWERABLE_SECRET": "what all instances share",
        "ANSWERABLE_IN_FLIGHT": "100",
        # However busy the machine is.
        "ANSWERABLE_DEADLINE": "300",
        **variables,
    }


@contextmanager
def processes(
    function: Path, count: int, store: RedisServer, **variables: str
) -> Iterator[list[Running]]:
    """So many processes of a function, as its platform would start them."""
    # Started side by side: each of them takes its time.
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        starting = [
            published_functions.serving(function, **environment(store, **variables))
            for _ in range(count)
        ]
        yield list(pool.map(stack.enter_context, starting))


def account(store: RedisServer) -> tuple[int, int]:
    """Read the tokens that are settled today and those that are reserved."""
    with redis.Redis.from_url(store.url) as client:
        for key in client.scan_iter("answerable:tokens:*"):
            claimed, settled = (int(value) for value in client.hmget(key, "claimed", "settled"))
            return settled, claimed - settled
    return 0, 0


def ask(running: Running, question: str = QUESTION) -> tuple[int, dict[str, Any]]:
    status, body = running.request("POST", "/answer", {"question": question})
    return status, json.loads(body)


def run_at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run calls at the same moment, each in a thread, and return their results."""
    barrier = threading.Barrier(len(calls))

    def run_with_others(call: Callable[[], Any]) -> Any:
        barrier.wait(PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run_with_others, calls))


def test_four_functions_admit_exactly_to_limit(function: Path, redis_server: RedisServer) -> None:
    # Of an hour, which no machine is so slow that all of them ask for longer.
    limits = {"ANSWERABLE_RATE": "30/hour", "ANSWERABLE_RATE_ALL": "1000/hour"}
    with processes(function, 4, redis_server, **limits) as running:
        results = run_at_once([partial(ask, running[n % 4]) for n in range(120)])
    assert Counter(status for status, _ in results) == {200: 30, 429: 90}


def test_cap_is_never_exceeded_although_processes_are_killed(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    cap, before = 200_000, stub.tokens
    worst = OpenAIAnswerer(read_settings(function).model, "Harbour").max_question_tokens
    codes: Counter[str | None] = Counter()
    capped_too_early: list[int] = []

    def ask_on(running: Running, name: int) -> None:
        with suppress(OSError, http.client.HTTPException):
            for number in range(30):
                code = ask(running, f"{QUESTION} {name} {number}")[1].get("code")
                settled = account(redis_server)[0] if code == "capped" else cap
                codes[code] += 1
                if settled + worst <= cap:
                    capped_too_early.append(settled)

    with (
        processes(function, 4, redis_server, ANSWERABLE_TOKENS_PER_DAY=str(cap)) as running,
        ThreadPoolExecutor(16) as pool,
    ):
        work = [pool.submit(ask_on, running[n % 4], n) for n in range(16)]
        until(lambda: codes.total() > 60)
        # In the middle of calls, whose reservations then count to the end of the day.
        running[3].process.kill()
        for asking in work:
            asking.result(PATIENCE)
        settled, reserved = account(redis_server)
    served = stub.tokens - before
    assert settled <= served <= min(cap, settled + reserved)
    assert {None, "capped"} <= set(codes) <= {None, "capped", "busy"}
    assert capped_too_early == []


def test_functions_with_open_reservations_are_busy_and_never_capped(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.tokens
    cap = {"ANSWERABLE_TOKENS_PER_DAY": "200000"}
    stub.gate.clear()
    with processes(function, 3, redis_server, **cap) as running, ThreadPoolExecutor(60) as pool:
        try:
            pending = [pool.submit(ask, running[n % 3], f"{QUESTION} {n}") for n in range(60)]
            # Whoever is refused is told so before anybody is answered.
            until(lambda: sum(answer.done() for answer in pending) + stub.waiting == 60)
            refused = [answer.result() for answer in pending if answer.done()]
        finally:
            stub.gate.set()
        statuses = Counter(answer.result()[0] for answer in pending)
    assert {(status, body["code"]) for status, body in refused} == {(503, "busy")}
    assert statuses == {200: 60 - len(refused), 503: len(refused)}
    assert account(redis_server) == (stub.tokens - before, 0)


def test_functions_with_same_question_make_one_model_call(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.answer_calls
    with processes(function, 8, redis_server) as running:
        results = run_at_once([partial(ask, process) for process in running])
    assert stub.answer_calls - before == 1
    bodies = [body for _, body in results]
    assert len({body.pop("request_id") for body in bodies}) == 8
    assert all(body == bodies[0] for body in bodies)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_sigterm_finishes_questions_in_flight_and_takes_no_new_ones(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.tokens
    stub.gate.clear()
    variables = environment(redis_server, ANSWERABLE_IN_FLIGHT_PER_ASKER="12")
    with published_functions.serving(function, **variables) as running:
        headers = {"Accept": "text/event-stream"}
        body = {"question": QUESTION}
        with ThreadPoolExecutor(4) as pool:
            stream = pool.submit(running.request, "POST", "/answer", body, **headers)
            answers = [pool.submit(ask, running, f"{QUESTION} {n}") for n in range(3)]
            until(lambda: stub.waiting == 4)
            running.process.send_signal(signal.SIGTERM)
            until(lambda: not listens(running.port))
            assert running.process.poll() is None
            stub.gate.set()
            assert [answer.result()[0] for answer in answers] == [200] * 3
            status, text = stream.result()
        assert running.process.wait(PATIENCE) == 0
    sent = events(text.replace(sse.KEEPALIVE_COMMENT.decode(), ""))
    assert (status, sent[-1][0]) == (200, "answer")
    assert account(redis_server) == (stub.tokens - before, 0)


def test_questions_that_uvicorn_gives_up_are_settled(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.tokens
    stub.gate.clear()
    port = free_port()
    variables = {
        **published_functions.UNLIMITED,
        "OPENAI_API_KEY": published_functions.KEY,
        **environment(redis_server),
    }
    settings = [f"{name}={value}" for name, value in variables.items()]
    options = ["--app-dir", ".", "--port", str(port), "--timeout-graceful-shutdown", "1"]
    command = ["env", *settings, sys.executable, "-m", "uvicorn", "main:app", *options]
    with (
        run(command, function, lambda running: listens(running.port), port) as running,
        ThreadPoolExecutor(3) as pool,
    ):
        answers = [pool.submit(ask, running, f"{QUESTION} {n}") for n in range(3)]
        until(lambda: stub.waiting == 3)
        running.process.send_signal(signal.SIGTERM)
        assert all(answer.exception() for answer in answers)
        stub.gate.set()
        running.process.wait(PATIENCE)
    assert account(redis_server) == (stub.tokens - before, 0)
