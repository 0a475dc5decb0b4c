"""A process that is told to end answers what it was asked, settles, and leaves with status 0."""

import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.http import sse
from answerable.serve.http.messages import make_json_response
from support import published_functions
from support.metered_stub import Metered
from support.openapi_check import events
from support.redis_account import account
from support.redis_server import RedisServer
from support.server_processes import PATIENCE, Running, free_port, run, until

QUESTION = "How thick is the chain of a mooring?"
OK = make_json_response({"status": "ok"})


@pytest.fixture
def stub() -> Iterator[Metered]:
    with Metered() as stub:
        yield stub
        assert stub.failures == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Metered() as stub:
        return published_functions.build_function(tmp_path_factory.mktemp("site"), stub)


@pytest.fixture
def function(built: Path, stub: Metered) -> Path:
    published_functions.redirect(built, stub)
    return built


def shared(store: RedisServer, **environment: str) -> dict[str, str]:
    secret = {"ANSWERABLE_SECRET": "what all instances share"}
    alone = {"ANSWERABLE_IN_FLIGHT_PER_ASKER": "12"}
    return {"ANSWERABLE_REDIS_URL": store.url, **secret, **alone, **environment}


def ask(running: Running, question: str) -> tuple[int, Any]:
    status, body = running.request("POST", "/answer", {"question": question})
    return status, json.loads(body)


def ends(process: "subprocess.Popen[str]") -> int:
    return process.wait(PATIENCE)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_sigterm_finishes_questions_in_flight_and_takes_no_new_ones(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    stub.gate.clear()
    with published_functions.serving(function, **shared(redis_server)) as running:
        with ThreadPoolExecutor(12) as pool:
            answers = [pool.submit(ask, running, f"{QUESTION} {n}") for n in range(12)]
            until(lambda: stub.waiting == 12)
            running.process.send_signal(signal.SIGTERM)
            until(lambda: not listens(running.port))
            assert running.process.poll() is None
            stub.gate.set()
            statuses = [each.result() for each in answers]
        assert ends(running.process) == 0
    assert [status for status, _ in statuses] == [200] * 12
    assert all(body["reason"] in (None, "declined") for _, body in statuses)
    assert account(redis_server.url) == (stub.tokens, 0)


def test_sigterm_sends_stream_to_its_end(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    stub.gate.clear()
    with published_functions.serving(function, **shared(redis_server)) as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        connection.request("POST", "/answer", json.dumps({"question": QUESTION}), headers)
        until(lambda: stub.waiting == 1)
        running.process.send_signal(signal.SIGTERM)
        until(lambda: not listens(running.port))
        stub.gate.set()
        streamed = events(
            connection.getresponse().read().replace(sse.KEEPALIVE_COMMENT, b"").decode()
        )
        connection.close()
        assert ends(running.process) == 0
    assert streamed[-1][0] == "answer"
    assert account(redis_server.url) == (stub.tokens, 0)


def test_shutdown_waits_for_hanging_model_until_deadline(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    with published_functions.serving(
        function, **shared(redis_server, ANSWERABLE_DEADLINE="2")
    ) as running:
        stub.gate.clear()
        with ThreadPoolExecutor(1) as pool:
            answered = 0
            # On a busy machine the deadline may come before the model is asked.
            while not stub.waiting:
                answered += 1
                answer = pool.submit(ask, running, f"{QUESTION} {answered}")
                until(lambda: stub.waiting > 0 or answer.done())  # noqa: B023
            running.process.send_signal(signal.SIGTERM)
            status, body = answer.result()
        assert ends(running.process) == 0
    stub.gate.set()
    assert (status, body["code"]) == (504, "timeout")
    settled, reserved = account(redis_server.url)
    assert reserved == 0
    # What nobody has told counts with the most that it can have cost, far from the worst case.
    assert stub.tokens < settled < answered * 20_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_idle_function_ends_with_status_0(function: Path, number: signal.Signals) -> None:
    with published_functions.serving(function) as running:
        assert running.request("GET", "/health")[0] == 200
        running.process.send_signal(number)
        assert ends(running.process) == 0


@contextmanager
def under_uvicorn(function: Path, store: RedisServer, *options: str) -> Iterator[Running]:
    port = free_port()
    environment = {
        **published_functions.UNLIMITED,
        "OPENAI_API_KEY": published_functions.KEY,
        **shared(store),
    }
    variables = [f"{name}={value}" for name, value in environment.items()]
    server = ["-m", "uvicorn", "main:app", "--app-dir", ".", "--port", str(port), *options]
    command = ["env", *variables, sys.executable, *server]
    with run(command, function, lambda running: listens(running.port), port) as running:
        yield running


def test_uvicorn_shutdown_finishes_questions_in_flight(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    stub.gate.clear()
    with under_uvicorn(function, redis_server) as running:
        with ThreadPoolExecutor(3) as pool:
            answers = [pool.submit(ask, running, f"{QUESTION} {n}") for n in range(3)]
            until(lambda: stub.waiting == 3)
            running.process.send_signal(signal.SIGTERM)
            until(lambda: not listens(running.port))
            stub.gate.set()
            assert [each.result()[0] for each in answers] == [200] * 3
        # It hands the signal on to the system after it has closed.
        assert ends(running.process) in (0, -signal.SIGTERM)
    assert account(redis_server.url) == (stub.tokens, 0)


def test_questions_that_uvicorn_gives_up_are_settled(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    stub.gate.clear()
    limit = ("--timeout-graceful-shutdown", "1")
    with under_uvicorn(function, redis_server, *limit) as running, ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(ask, running, f"{QUESTION} {n}") for n in range(3)]
        until(lambda: stub.waiting == 3)
        running.process.send_signal(signal.SIGTERM)
        assert [each.exception() is None for each in answers] == [False] * 3
        stub.gate.set()
        ends(running.process)
    assert account(redis_server.url) == (stub.tokens, 0)
