"""A published function under load, without a key: this manual's own, asked its own gold queries.

Every answer is made anew, since the answer cache is off, by the server that a build writes.
``x_alone``: the median as a multiple of that of the same questions' retrieval alone, in a process
without a server; both are asked in turn. ``cached answer``: the same over a cache that holds all of
them. ``rss_mb``: the server's memory at the end of the load; ``rss_growth``: since its warm-up, in
which it has read most of what it maps.
"""

import http.client
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median

import served
from served import Server
from tables import Row, print_rows

from answerable.serve.providers import open_function
from answerable.serve.retrieval import selection

SECONDS = float(os.environ.get("ANSWERABLE_SECONDS") or 60)
CONNECTIONS = 16
# What the warm-up under load takes of it, and each of what is done alone.
WARM_UP, SHARE = 0.4, 0.1
# No answer may fail, the tail is ten medians at most, and memory grows by less than a twentieth.
MOST_TAIL, MOST_GROWTH = 10.0, 0.05

Ask = Callable[[str], object]


@dataclass
class AnswerTimes:
    """Collect the outcome of many questions: the seconds of each answer, and how many had none."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0


def rows() -> list[Row]:
    """Measure one row for each thing that is done alone, one for the load."""
    with tempfile.TemporaryDirectory() as work:
        function = served.build(Path(work))
        questions = served.questions()
        engine = open_function(function)
        with (
            served.serving(function, ANSWERABLE_CACHE_SECONDS="0") as server,
            served.serving(function) as caching,
        ):
            works = (
                partial(engine.retrieve, top_k=selection.POOL_SIZE),
                partial(served.ask, server.connect()),
                partial(served.ask, caching.connect()),
            )
            _in_turn(works, questions, SHARE * SECONDS)
            alone, answers, cached = _in_turn(works, questions, SHARE * SECONDS)
            _load(server, questions, WARM_UP * SECONDS)
            before = server.memory
            loaded = _load(server, questions, SECONDS)
            after = server.memory
    return [
        _row("retrieval alone", alone, alone),
        _row("answer", answers, alone),
        _row("cached answer", cached, alone),
        {
            **_row(f"answer, {CONNECTIONS} connections", loaded, alone),
            "rss_mb": after,
            "rss_growth": after / before - 1,
        },
    ]


def _row(name: str, times: AnswerTimes, alone: AnswerTimes) -> Row:
    ordered = sorted(times.seconds)
    half, tail = median(ordered), ordered[int(0.99 * len(ordered))]
    return {
        "name": name,
        "asked": len(ordered),
        "errors": times.errors,
        "p50_ms": 1000 * half,
        "p99_ms": 1000 * tail,
        "p99_x_p50": tail / half,
        "x_alone": half / median(alone.seconds),
    }


def _in_turn(works: Sequence[Ask], questions: Sequence[str], seconds: float) -> list[AnswerTimes]:
    """Give each question to each of some works, so that all of them meet the same noise."""
    times = [AnswerTimes() for _ in works]
    timed = [_timed(each, work) for each, work in zip(times, works, strict=True)]
    _until(len(works) * seconds, questions, lambda question: [each(question) for each in timed])
    return times


def _load(server: Server, questions: Sequence[str], seconds: float) -> AnswerTimes:
    """Ask from all connections at once, each again as soon as it has its answer."""
    parts = [AnswerTimes() for _ in range(CONNECTIONS)]

    def ask(place: int) -> None:
        connection = server.connect()
        # Each begins elsewhere, so that they do not ask the same at once.
        start = place * len(questions) // CONNECTIONS
        mine = [*questions[start:], *questions[:start]]
        _until(seconds, mine, _timed(parts[place], partial(served.ask, connection)))
        connection.close()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return AnswerTimes(
        [s for part in parts for s in part.seconds], sum(part.errors for part in parts)
    )


def _until(seconds: float, questions: Sequence[str], ask: Ask) -> None:
    ends = time.perf_counter() + seconds
    for question in cycle(questions):
        ask(question)
        if time.perf_counter() >= ends:
            return


def _timed(times: AnswerTimes, ask: Ask) -> Callable[[str], None]:
    def timed(question: str) -> None:
        started = time.perf_counter()
        try:
            ask(question)
        except (OSError, http.client.HTTPException):
            times.errors += 1
        times.seconds.append(time.perf_counter() - started)

    return timed


def _broken(table: Sequence[Row]) -> list[str]:
    """List the numbers that are over their limits."""
    loaded = table[-1]
    return [
        f"{name} is {loaded[name]:.3g}, over {most:g}"
        for name, most in (("errors", 0), ("p99_x_p50", MOST_TAIL), ("rss_growth", MOST_GROWTH))
        if loaded[name] > most
    ]


if __name__ == "__main__":
    table = rows()
    title = f"The manual's own function, {CONNECTIONS} connections for {SECONDS:g} seconds"
    print_rows(title, table, as_json="--json" in sys.argv[1:])
    sys.exit("; ".join(_broken(table)) or None)
