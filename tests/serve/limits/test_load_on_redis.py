"""Load on four processes that share a Redis, while processes are told to end or killed.

``ANSWERABLE_DEEP=1`` runs it for a minute instead of some hundred questions, and prints what came
of it with ``-s``.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.settings import read_settings
from support import load_processes, published_functions
from support.load_processes import CLOSED, Outcome
from support.metered_stub import Metered
from support.redis_account import account
from support.redis_server import RedisServer
from support.server_processes import until

DEEP = bool(os.environ.get("ANSWERABLE_DEEP"))
SECONDS = 60.0
QUESTIONS = 240
# Bytes of the resident memory of a process between its warm-up and the end of the load. What
# allocators and threads' stacks move by is less: 1.6 MB in a minute of 2,700 answers. With ten
# answers a second, a leak of 14 kB in each of them is more in a minute.
MOST_GROWTH = 8_000_000
SITE = "Harbour"


@pytest.fixture(scope="module")
def stub() -> Iterator[Metered]:
    with Metered(seconds=0.02) as stub:
        yield stub
        assert stub.failures == []


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory, stub: Metered) -> Path:
    return published_functions.build_function(tmp_path_factory.mktemp("site"), stub)


def load(
    function: Path,
    server: RedisServer,
    cap: int,
    seconds: float,
    every: float,
    number: int = signal.SIGTERM,
) -> Outcome:
    """Load it for so many questions, or seconds in a deep run, and replace processes meanwhile.

    every: the share of the load after which a process is replaced. number: of the signal.
    """
    environment = {
        "ANSWERABLE_REDIS_URL": server.url,
        "ANSWERABLE_SECRET": "what all instances share",
        "ANSWERABLE_IN_FLIGHT_PER_ASKER": "12",
        "ANSWERABLE_TOKENS_PER_DAY": str(cap),
        # However busy the machine is.
        "ANSWERABLE_DEADLINE": "300",
    }
    began: float | None = None
    replaced = 0

    def share(count: int) -> float:
        nonlocal began
        # From the first look on: the processes have been started by then.
        began = began or time.monotonic()
        return (time.monotonic() - began) / seconds if DEEP else count / QUESTIONS

    def is_due(count: int) -> bool:
        nonlocal replaced
        due = share(count) >= (replaced + 1) * every
        replaced += due
        return due

    worst = worst_question(function)
    return load_processes.run(
        function, environment, lambda count: share(count) < 1, is_due, cap, worst, number
    )


def worst_question(function: Path) -> int:
    """The most tokens of one question, which is what it reserves."""
    return OpenAIAnswerer(read_settings(function).model, SITE).max_question_tokens


def test_load_below_cap_is_never_capped(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before = stub.tokens
    # In the short form no more than the default, so that reservations stand in each other's way.
    cap = 1_000_000_000 if DEEP else 1_000_000
    outcome = load(function, redis_server, cap, SECONDS, 0.15 if DEEP else 0.5)
    until(lambda: account(redis_server.url)[1] == 0)
    settled, _ = account(redis_server.url)
    sys.stdout.write(f"{outcome}, settled {settled}, served {stub.tokens - before}\n")
    assert settled == stub.tokens - before
    assert {None} <= set(outcome.codes) <= {None, "busy", CLOSED}
    assert outcome.statuses
    assert set(outcome.statuses) == {0}
    # Each of the connections of a process that ends loses at most what it has just begun to send.
    assert outcome.codes[CLOSED] <= 2 * load_processes.CONNECTIONS * len(outcome.statuses)
    warm, *_, end = outcome.memory
    assert end - warm < MOST_GROWTH


def test_load_at_cap_never_exceeds_it(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before, cap = stub.tokens, 100_000
    outcome = load(function, redis_server, cap, SECONDS / 4, 0.4)
    until(lambda: account(redis_server.url)[1] == 0)
    settled, _ = account(redis_server.url)
    sys.stdout.write(f"{outcome}, settled {settled}, served {stub.tokens - before}\n")
    assert settled == stub.tokens - before <= cap
    assert {None, "capped"} <= set(outcome.codes) <= {None, "capped", "busy", CLOSED}
    assert outcome.false == []
    assert set(outcome.statuses) == {0}


def test_killed_processes_never_exceed_cap(
    function: Path, stub: Metered, redis_server: RedisServer
) -> None:
    before, cap = stub.tokens, 200_000
    outcome = load(function, redis_server, cap, SECONDS / 4, 0.1, signal.SIGKILL)
    settled, reserved = account(redis_server.url)
    served = stub.tokens - before
    sys.stdout.write(f"{outcome}, settled {settled}, reserved {reserved}, served {served}\n")
    # What the killed ones had begun was served, and their reservations count to the day's end.
    assert settled <= served <= min(cap, settled + reserved)
    # A claim that is killed before it was refused or granted stays too: one for each question.
    connections = load_processes.CONNECTIONS // load_processes.PROCESSES
    assert reserved <= len(outcome.statuses) * connections * worst_question(function)
    assert {None} <= set(outcome.codes) <= {None, "capped", "busy", CLOSED}
    assert outcome.false == []
    assert set(outcome.statuses) == {-signal.SIGKILL}
