"""A published function under load, without a key: this manual's own, asked its own gold queries.

Every answer is made anew, since the answer cache is off, by the server that a build writes.
``x_alone``: the median as a multiple of that of the same questions' retrieval alone, in a process
of its own without a server. ``rss_mb``: the server's memory at the end; ``rss_growth``: since its
warm-up, in which it has read most of what it maps. ``cached answer``: the same over a cache that
holds every answer.
"""

import http.client
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median

import served
from served import Server
from tables import Row, print_rows

from answerable.serve import providers, selection

SECONDS = float(os.environ.get("ANSWERABLE_SECONDS") or 60)
CONNECTIONS = 16
# What a warm-up takes of it under load, and each measure with one connection.
WARM_UP, SHARE = 0.4, 0.1
# No answer may fail, the tail is ten medians at most, and memory grows by less than a twentieth.
MOST_TAIL, MOST_GROWTH = 10.0, 0.05


@dataclass
class Asked:
    """What came of many questions: the seconds of each answer, and how many had none."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0


def rows() -> list[Row]:
    """One row for the load, one for each measure with one connection."""
    with tempfile.TemporaryDirectory() as work:
        function = served.build(Path(work))
        questions = served.questions()
        alone = _alone(function, questions)
        with served.serving(function, ANSWERABLE_CACHE_SECONDS="0") as server:
            _load(server, questions, 1, SHARE * SECONDS)
            single = _load(server, questions, 1, SHARE * SECONDS)
            _load(server, questions, CONNECTIONS, WARM_UP * SECONDS)
            before = server.memory
            loaded = _load(server, questions, CONNECTIONS, SECONDS)
            after = server.memory
        with served.serving(function) as server:
            _load(server, questions, 1, SHARE * SECONDS)
            cached = _load(server, questions, 1, SHARE * SECONDS)
    return [
        {"name": "retrieval alone", "asked": len(alone.seconds), **_times(alone, alone)},
        _row("answer", 1, single, alone),
        _row("cached answer", 1, cached, alone),
        {
            **_row("answer", CONNECTIONS, loaded, alone),
            "rss_mb": after,
            "rss_growth": after / before - 1,
        },
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
        connection = server.connect()
        # Each begins elsewhere, so that they do not ask the same at once.
        start = place * len(questions) // connections
        mine = [*questions[start:], *questions[:start]]
        _until(seconds, mine, _timed(parts[place], lambda q: served.ask(connection, q)))
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
