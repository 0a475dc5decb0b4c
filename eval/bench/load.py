"""A published function under load, without a key: this manual's own, asked its own gold queries.

Every answer is made anew (the answer cache is off), by the server that a build writes. ``alone_ms``
is the retrieval of the same questions alone, in a process of its own: what an answer takes is
printed as a multiple of it. ``rss_growth``: of the server's memory, after a tenth of the time.
``cached`` is the same over a cache that holds every answer.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median

import own_manual
from tables import Row, print_rows

from answerable.serve import providers, selection

SECONDS = float(os.environ.get("ANSWERABLE_SECONDS") or 60)
CONNECTIONS = 16
# What a warm-up and each measure with one connection may take of it.
SHARE = 0.1
# Done means: no error, a tail of ten medians, memory that grows by less than a twentieth.
MOST_TAIL, MOST_GROWTH = 10.0, 0.05
UNLIMITED = {"ANSWERABLE_RATE": "1000000/second", "ANSWERABLE_RATE_ALL": "1000000/second"}


@dataclass
class Asked:
    """What came of many questions: the seconds of each answer, and how many had none."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Server:
    """A running function."""

    port: int
    process: int


def rows() -> list[Row]:
    """One row for the load, one for each measure with one connection."""
    with tempfile.TemporaryDirectory() as work:
        function = own_manual.build(Path(work))
        questions = own_manual.questions()
        alone = _alone(function, questions)
        with _serving(function, ANSWERABLE_CACHE_SECONDS="0") as server:
            _load(server, questions, 1, SHARE * SECONDS)
            single = _load(server, questions, 1, SHARE * SECONDS)
            _load(server, questions, CONNECTIONS, SHARE * SECONDS)
            before = _memory(server)
            loaded = _load(server, questions, CONNECTIONS, SECONDS)
            growth = _memory(server) / before - 1
        with _serving(function) as server:
            _load(server, questions, 1, SHARE * SECONDS)
            cached = _load(server, questions, 1, SHARE * SECONDS)
    return [
        {"name": "retrieval alone", "asked": len(alone.seconds), **_times(alone, alone)},
        _row("answer", 1, single, alone),
        _row("cached answer", 1, cached, alone),
        {**_row("answer", CONNECTIONS, loaded, alone), "rss_growth": growth},
    ]


def _row(name: str, connections: int, found: Asked, alone: Asked) -> Row:
    return {
        "name": name,
        "connections": connections,
        "asked": len(found.seconds),
        "errors": found.errors,
        **_times(found, alone),
    }


def _times(found: Asked, alone: Asked) -> Row:
    ordered = sorted(found.seconds)
    half, tail = median(ordered), ordered[int(0.99 * len(ordered))]
    return {
        "p50_ms": 1000 * half,
        "p99_ms": 1000 * tail,
        "p99_x_p50": tail / half,
        "x_alone": half / median(alone.seconds),
    }


def _alone(function: Path, questions: Sequence[str]) -> Asked:
    """Retrievals of as many candidates as an answer takes, one after the other."""
    engine = providers.open_function(function)
    found = Asked()
    _until(SHARE * SECONDS, questions, lambda asked: engine.retrieve(asked, selection.POOL))
    _until(SHARE * SECONDS, questions, _timed(found, lambda q: engine.retrieve(q, selection.POOL)))
    return found


def _load(server: Server, questions: Sequence[str], connections: int, seconds: float) -> Asked:
    """Ask from so many connections, each again as soon as it has its answer."""
    parts = [Asked() for _ in range(connections)]

    def ask(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        # Each begins elsewhere, so that they do not ask the same at once.
        start = place * len(questions) // connections
        mine = [*questions[start:], *questions[:start]]
        _until(seconds, mine, _timed(parts[place], lambda asked: _post(connection, asked)))
        connection.close()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Asked([s for part in parts for s in part.seconds], sum(part.errors for part in parts))


def _until(seconds: float, questions: Sequence[str], ask: Callable[[str], object]) -> None:
    ends = time.perf_counter() + seconds
    for question in cycle(questions):
        ask(question)
        if time.perf_counter() >= ends:
            return


def _timed(found: Asked, ask: Callable[[str], object]) -> Callable[[str], None]:
    def timed(question: str) -> None:
        started = time.perf_counter()
        try:
            ask(question)
        except (OSError, http.client.HTTPException):
            found.errors += 1
        found.seconds.append(time.perf_counter() - started)

    return timed


def _post(connection: http.client.HTTPConnection, question: str) -> None:
    """Ask a question; HTTPException for anything but an answer."""
    body = json.dumps({"question": question})
    try:
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answered = json.loads(response.read()).get("mode")
    except (OSError, http.client.HTTPException):
        connection.close()
        raise
    if response.status != 200 or not answered:
        raise http.client.HTTPException(f"status {response.status}")


@contextmanager
def _serving(function: Path, **environment: str) -> Iterator[Server]:
    """The server of a function folder on a free port, its log thrown away."""
    command = [sys.executable, "-I", str(function / "main.py")]
    given = {**os.environ, **UNLIMITED, **environment, "PORT": "0"}
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline()
        drain = threading.Thread(target=process.stdout.read, daemon=True)
        drain.start()
        try:
            yield Server(int(address.rpartition(":")[2].partition("/")[0]), process.pid)
        finally:
            process.terminate()
            drain.join()


def _memory(server: Server) -> float:
    """The resident memory of a server, in MB."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(server.process)], capture_output=True, text=True, check=True
    )
    return int(told.stdout) / 1024


def _broken(found: Sequence[Row]) -> list[str]:
    """What the numbers should not be."""
    loaded = found[-1]
    return [
        f"{name} is {loaded[name]:.3g}, over {most:g}"
        for name, most in (("errors", 0), ("p99_x_p50", MOST_TAIL), ("rss_growth", MOST_GROWTH))
        if loaded[name] > most
    ]


if __name__ == "__main__":
    found = rows()
    title = f"The manual's own function, {CONNECTIONS} connections for {SECONDS:g} seconds"
    print_rows(title, found, as_json="--json" in sys.argv[1:])
    sys.exit("; ".join(_broken(found)) or None)
