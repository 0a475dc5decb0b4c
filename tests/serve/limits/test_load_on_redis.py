"""Load on four processes that share a Redis, while processes are told to end or killed.

``ANSWERABLE_DEEP=1`` runs it for a minute instead of some hundred questions, and prints what came
of it with ``-s``.
"""

import http.client
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.settings import read_settings
from support import published_functions
from support.metered_stub import Metered
from support.redis_account import account
from support.redis_server import RedisServer
from support.server_processes import PATIENCE, Running, until

QUESTION = "How thick is the chain of a mooring?"
PROCESSES, CONNECTIONS = 4, 16
# What a connection is told where no answer comes back: its process has closed it.
CLOSED = "closed"
# Seconds between two looks at the load.
_LOOK = 0.01


@dataclass
class Outcome:
    """The outcome of a load. ``codes``: of responses, None for an answer.

    ``false``: the tokens that were settled when somebody was told that the day is spent, though
    another question had room.
    ``statuses``: of the processes that were told to end. ``memory``: the bytes of the first one,
    which is not, each time that another is, and at the end.
    """

    codes: Counter[str | None] = field(default_factory=Counter)
    false: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def answered(self) -> int:
        """The number of responses."""
        return self.codes.total() - self.codes[CLOSED]


class Processes:
    """The processes of a function, by their places, and one that waits to replace another."""

    def __init__(self, function: Path, environment: dict[str, str], number: int) -> None:
        self._function = function
        self._environment = environment
        self._signal = number
        # Whoever starts when the day is spent has nothing to warm up for. What a killed process
        # had reserved stays so.
        self._idle = ("capped", "busy") if number == signal.SIGKILL else ("capped",)
        self._stack = ExitStack()
        try:
            # Side by side: each of them takes its time.
            with ThreadPoolExecutor() as pool:
                starts = [pool.submit(self._start) for _ in range(PROCESSES + 1)]
            self.running = [each.result() for each in starts[1:]]
            self._spare: Running | None = starts[0].result()
        except BaseException:
            self.close()
            raise

    def replace(self, place: int) -> int:
        """Put another process in the place of one, and signal that; return its status."""
        process = self.running[place].process
        self.running[place] = self._spare or self._start()
        self._spare = None
        process.send_signal(self._signal)
        return process.wait(PATIENCE)

    def close(self) -> None:
        """End all."""
        self._stack.close()

    def _start(self) -> Running:
        serving = published_functions.serving(self._function, **self._environment)
        running = self._stack.enter_context(serving)
        question = {"question": f"{QUESTION} {running.port}"}

        def is_warm() -> bool:
            status, body = running.request("POST", "/answer", question)
            return status == 200 or json.loads(body)["code"] in self._idle

        # What is imported and mapped for the first answer is no growth. Others may have reserved
        # what it needs.
        until(is_warm)
        return running


def run(
    function: Path,
    environment: dict[str, str],
    is_on: Callable[[int], bool],
    is_due: Callable[[int], bool],
    cap: int,
    worst: int,
    number: int = signal.SIGTERM,
) -> Outcome:
    """Load a function as long as ``is_on`` says yes to the number of responses so far.

    is_due: whether a process is replaced at that number. The first process never is. cap and
    worst: tokens of a day and the most of one question. number: of the signal that it is sent.
    """
    outcome = Outcome()
    url = environment["ANSWERABLE_REDIS_URL"]
    lock, done = threading.Lock(), threading.Event()
    processes = Processes(function, environment, number)
    faults: list[BaseException] = []

    def goes_on() -> bool:
        return not done.is_set() and is_on(outcome.answered)

    def ask_on(place: int, number: int) -> None:
        questions = 0
        while goes_on():
            with _connection(processes.running[place].port) as connection:
                try:
                    while goes_on():
                        questions += 1
                        code = _ask(connection, f"{QUESTION} {number} {questions}")
                        settled = account(url)[0] if code == "capped" else cap
                        with lock:
                            outcome.codes[code] += 1
                            if settled + worst <= cap:
                                outcome.false.append(settled)
                except (OSError, http.client.HTTPException):
                    with lock:
                        outcome.codes[CLOSED] += 1

    def guarded(work: Callable[..., None], *args: int) -> None:
        try:
            work(*args)
        except BaseException as error:
            faults.append(error)
            done.set()

    threads = [
        threading.Thread(target=guarded, args=(ask_on, n % PROCESSES, n))
        for n in range(CONNECTIONS)
    ]
    began = time.monotonic()
    try:
        for thread in threads:
            thread.start()
        place = 0
        while goes_on():
            if is_due(outcome.answered):
                outcome.memory.append(_memory(processes.running[0]))
                place = place % (PROCESSES - 1) + 1
                outcome.statuses.append(processes.replace(place))
            time.sleep(_LOOK)
        for thread in threads:
            thread.join(PATIENCE)
        outcome.seconds = time.monotonic() - began
        outcome.memory.append(_memory(processes.running[0]))
    finally:
        done.set()
        processes.close()
    assert not faults, faults
    return outcome


@contextmanager
def _connection(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        yield connection
    finally:
        connection.close()


def _ask(connection: http.client.HTTPConnection, question: str) -> str | None:
    body = json.dumps({"question": question})
    connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    reply = json.loads(response.read())
    assert response.status in (200, 503), reply
    code: str | None = reply.get("code")
    return code


def _memory(running: Running) -> int:
    """The resident memory of a process, in bytes; it is started by ``env``, which it replaces."""
    status = Path(f"/proc/{running.process.pid}/status").read_text("ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


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
    return run(function, environment, lambda count: share(count) < 1, is_due, cap, worst, number)


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
    assert outcome.codes[CLOSED] <= 2 * CONNECTIONS * len(outcome.statuses)
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
    connections = CONNECTIONS // PROCESSES
    assert reserved <= len(outcome.statuses) * connections * worst_question(function)
    assert {None} <= set(outcome.codes) <= {None, "capped", "busy", CLOSED}
    assert outcome.false == []
    assert set(outcome.statuses) == {-signal.SIGKILL}
