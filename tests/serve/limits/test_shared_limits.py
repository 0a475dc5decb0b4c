"""Function processes that share a store hold one limit, one cap and one answer between them."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.settings import read_settings
from support import published_functions
from support.deadlines import PATIENCE, until
from support.metered_stub import Metered
from support.redis_account import account
from support.redis_server import RedisServer
from support.server_processes import Running

pytest_plugins = ["support.redis_server"]

QUESTION = "How thick is the chain of a mooring?"
CAP = 100_000
# The name of the site in tests/support/sites.py.
SITE = "Harbour"


@pytest.fixture(scope="module")
def stub() -> Iterator[Metered]:
    with Metered() as stub:
        yield stub
        assert stub.failures == []


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory, stub: Metered) -> Path:
    """A function whose answers cost tokens of a stub."""
    return published_functions.build_function(tmp_path_factory.mktemp("site"), stub)


@contextmanager
def processes(
    function: Path, count: int, store: RedisServer, **environment: str
) -> Iterator[list[Running]]:
    """So many processes of a function, as its platform would start them."""
    shared = {
        "ANSWERABLE_REDIS_URL": store.url,
        "ANSWERABLE_SECRET": "what all instances share",
        "ANSWERABLE_IN_FLIGHT": "100",
        **environment,
    }
    # Started side by side: each of them takes its time.
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        started = [published_functions.serving(function, **shared) for _ in range(count)]
        yield list(pool.map(stack.enter_context, started))


def worst_tokens(function: Path) -> int:
    """The most that a question to a function may cost."""
    settings = read_settings(function)
    return OpenAIAnswerer(settings.model, SITE).max_question_tokens


def ask(running: Running, question: str = QUESTION) -> tuple[int, dict[str, Any]]:
    status, body = running.request("POST", "/answer", {"question": question})
    return status, json.loads(body)


def is_ready(running: Running) -> bool:
    return running.request("GET", "/ready")[0] == 200


def asks(running: Running, questions: Sequence[str]) -> list[tuple[int, dict[str, Any]]]:
    return [ask(running, question) for question in questions]


def run_at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run calls at the same moment, each in a thread, and return their results."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait(PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def lines(running: Sequence[Running], count: int) -> list[dict[str, Any]]:
    """Parse the log lines of all processes, once there are so many."""
    until(lambda: sum(len(each.lines) - 1 for each in running) >= count)
    return [json.loads(line) for each in running for line in each.lines[1:]]


def test_four_functions_admit_exactly_to_limit(function: Path, redis_server: RedisServer) -> None:
    # Of an hour, which no machine is so slow that all of them ask for longer.
    limits = {"ANSWERABLE_RATE": "30/hour", "ANSWERABLE_RATE_ALL": "1000/hour"}
    with processes(function, 4, redis_server, **limits) as running:
        for each in running:
            assert each.request("GET", "/ready")[0] == 200
        results = run_at_once([partial(asks, each, [QUESTION] * 6) for each in running * 5])
    assert Counter(status for each in results for status, _ in each) == {200: 30, 429: 90}


def test_racing_questions_of_functions_never_exceed_cap(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.answer_calls
    cap = {"ANSWERABLE_TOKENS_PER_DAY": str(CAP)}
    with processes(function, 4, redis_server, **cap) as running:
        questions = [[f"{QUESTION} {place} {n}" for n in range(20)] for place in range(20)]
        results = run_at_once(
            [partial(asks, running[n % 4], each) for n, each in enumerate(questions)]
        )
        rows = lines(running, 400)
        total, reserved = account(redis_server.url)
    codes = Counter(body.get("code") for each in results for _, body in each)
    assert codes.total() == 400
    assert {None, "capped"} <= set(codes) <= {None, "capped", "busy"}
    assert codes[None] > 1
    assert stub.answer_calls - before == codes[None]
    # What the providers have counted, and what the store knows of it.
    counted = sum(row["tokens_in"] + row["tokens_out"] for row in rows)
    assert 0 < counted == total <= CAP
    assert reserved == 0
    # Nobody was told that the day is spent while another question would have fitted.
    assert total + worst_tokens(function) > CAP


def test_functions_with_open_reservations_are_busy_and_never_capped(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    """The manual's example of a cap, and a model that takes its time."""
    before = stub.tokens
    cap = {"ANSWERABLE_TOKENS_PER_DAY": "200000"}
    stub.gate.clear()
    with processes(function, 3, redis_server, **cap) as running, ThreadPoolExecutor(60) as pool:
        try:
            pending = [pool.submit(ask, running[n % 3], f"{QUESTION} {n}") for n in range(60)]
            # Whoever is refused is told so before anybody is answered.
            until(lambda: sum(each.done() for each in pending) + stub.waiting == 60)
            busy = [each.result() for each in pending if each.done()]
            settled, reserved = account(redis_server.url)
        finally:
            stub.gate.set()
        answered = [each.result() for each in pending]
        assert ask(running[0], "How thick is it?")[0] == 200
    assert busy
    assert {(status, body["code"]) for status, body in busy} == {(503, "busy")}
    assert (settled, reserved <= 200_000) == (0, True)
    assert Counter(status for status, _ in answered) == {200: 60 - len(busy), 503: len(busy)}
    # More than the two whose worst case fits: the first call tells what the others can cost.
    assert 60 - len(busy) > 5
    assert account(redis_server.url) == (stub.tokens - before, 0)


def test_functions_with_same_question_make_one_model_call(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.answer_calls
    with processes(function, 8, redis_server) as running:
        stub.drip_seconds = 0.0005
        stub.fault = "drip"
        try:
            results = run_at_once([partial(ask, each) for each in running])
        finally:
            stub.fault = None
        rows = lines(running, 8)
    assert stub.answer_calls - before == 1
    assert [status for status, _ in results] == [200] * 8
    bodies = [body for _, body in results]
    assert len({body.pop("request_id") for body in bodies}) == 8
    assert all(body == bodies[0] for body in bodies)
    outcomes = Counter(row["cache"] for row in rows)
    assert outcomes["miss"] == 1
    assert set(outcomes) <= {"miss", "shared", "hit"}
    # Only who has called has paid.
    assert [row["tokens_in"] > 0 for row in rows].count(True) == 1


def test_killed_redis_stops_spending_and_recovers_without_restart(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    with processes(function, 4, redis_server) as running:
        assert [ask(each)[0] for each in running] == [200] * 4
        before = stub.answer_calls
        redis_server.kill()
        for each in running:
            for question in (QUESTION, "What does the crew do before a storm?"):
                status, body = ask(each, question)
                assert (status, body["code"]) == (503, "unavailable")
                assert body["detail"] == "The question cannot be answered at the moment."
            assert each.request("GET", "/search?q=chain")[0] == 503
            assert each.request("GET", "/ready")[0] == 503
            assert each.request("GET", "/health")[0] == 200
        assert stub.answer_calls == before
        redis_server.start()
        for each in running:
            until(partial(is_ready, each))
            assert ask(each)[0] == 200
        assert stub.answer_calls > before
        assert all(each.process.poll() is None for each in running)


def test_answer_paid_before_redis_is_killed_is_delivered(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    with processes(function, 1, redis_server) as (running,):
        assert running.request("GET", "/ready")[0] == 200
        before = stub.answer_calls
        stub.drip_seconds = 0.0005
        stub.fault = "drip"
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(ask, running, "What does the crew do before a storm?")
            until(lambda: stub.answer_calls == before + 1)
            stub.fault = None
            redis_server.kill()
            status, body = answer.result(PATIENCE)
        assert (status, body["mode"]) == (200, "partial")
        assert ask(running)[0] == 503
        assert stub.answer_calls == before + 1
