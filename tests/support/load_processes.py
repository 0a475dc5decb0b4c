"""Four processes of a function under load, told to end or killed, and started again meanwhile.

Each connection asks its own process one question after the other. A process that is told to end
answers what it was asked, so a question is lost only on a connection that it closes as it comes.
"""

import http.client
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support import published_functions
from support.redis_account import account
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
