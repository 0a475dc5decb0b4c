"""A published function under load, without a key: this manual's own, asked its own gold queries.

Every answer is made anew, since the answer cache is off, by the server that a build writes.
``x_alone``: the median as a multiple of that of the same questions' retrieval alone, in a process
without a server; both are asked in turn. ``cached answer``: the same over a cache that holds all of
them. ``rss_mb``: the server's memory at the end of the load; ``rss_growth``: since its warm-up, in
which it has read most of what it maps. ANSWERABLE_SECONDS sets how long the load takes.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import yaml
from real_sites import build_site
from tables import Row, find_median, find_percentile, print_rows

from answerable.engine.providers import open_function

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("ANSWERABLE_SECONDS") or 60)
CONNECTIONS = 16
# What the warm-up under load takes of it, and each of what is done alone.
WARM_UP, SHARE = 0.4, 0.1
# No answer may fail, the tail is ten medians at most, and memory grows by less than a twentieth.
LIMITS = {"errors": 0, "p99_x_p50": 10.0, "rss_growth": 0.05}
_UNLIMITED = {
    "ANSWERABLE_RATE": "1000000/second",
    "ANSWERABLE_RATE_ALL": "1000000/second",
    "ANSWERABLE_IN_FLIGHT": "1000",
}

Ask = Callable[[str], object]


@dataclass
class AnswerTimes:
    """The outcome of many questions: the seconds of each answer, and how many had none."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0

    def make_row(self, name: str, alone: "AnswerTimes") -> Row:
        """Sum them up, beside those of retrieval alone."""
        median = find_median(self.seconds) or 0.0
        tail = find_percentile(self.seconds, 99)
        return {
            "name": name,
            "asked": len(self.seconds),
            "errors": self.errors,
            "p50_ms": 1000 * median,
            "p99_ms": 1000 * tail,
            "p99_x_p50": tail / median,
            "x_alone": median / (find_median(alone.seconds) or 0.0),
        }


@dataclass(frozen=True)
class Server:
    """A running function."""

    port: int
    process: int

    def read_memory(self) -> float:
        """Read its resident memory in MB."""
        command = ["ps", "-o", "rss=", "-p", str(self.process)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(listing.stdout) / 1024

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection of its own."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


@contextmanager
def serve(function: Path, **environment: str) -> Iterator[Server]:
    """Serve a function's folder on a free port, without limits; its log is thrown away."""
    command = [sys.executable, "-I", str(function / "main.py")]
    variables = {**os.environ, **_UNLIMITED, **environment, "PORT": "0"}
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        address = process.stdout.readline()
        if not address:
            raise SystemExit(f"{function} does not start")
        reader = threading.Thread(target=process.stdout.read, daemon=True)
        reader.start()
        try:
            yield Server(int(address.rpartition(":")[2].partition("/")[0]), process.pid)
        finally:
            process.terminate()
            reader.join()


def ask(connection: http.client.HTTPConnection, question: str) -> None:
    """Ask a question; OSError or HTTPException if there is no answer."""
    body = json.dumps({"question": question}).encode()
    try:
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        connection.close()
        raise
    if response.status != 200:
        raise http.client.HTTPException(f"status {response.status}")


def measure() -> list[Row]:
    """Measure one row for each thing that is done alone, one for the load."""
    gold = yaml.safe_load((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))
    questions = [row["query"] for row in gold["queries"]]
    with tempfile.TemporaryDirectory() as work:
        for name in ("docs", "notebook", "overrides"):
            shutil.copytree(ROOT / name, Path(work, name))
        shutil.copy(ROOT / "mkdocs.yml", work)
        build_site(Path(work), {})
        function = Path(work, "function")
        engine = open_function(function)
        with serve(function, ANSWERABLE_CACHE_SECONDS="0") as server, serve(function) as caching:
            works = (
                engine.retrieve_for_answer,
                partial(ask, server.connect()),
                partial(ask, caching.connect()),
            )
            _ask_in_turn(works, questions, SHARE * SECONDS)
            alone, answers, cached = _ask_in_turn(works, questions, SHARE * SECONDS)
            _load(server, questions, WARM_UP * SECONDS)
            before = server.read_memory()
            loaded = _load(server, questions, SECONDS)
            after = server.read_memory()
    return [
        alone.make_row("retrieval alone", alone),
        answers.make_row("answer", alone),
        cached.make_row("cached answer", alone),
        {
            **loaded.make_row(f"answer, {CONNECTIONS} connections", alone),
            "rss_mb": after,
            "rss_growth": after / before - 1,
        },
    ]


def _ask_in_turn(
    works: Sequence[Ask], questions: Sequence[str], seconds: float
) -> list[AnswerTimes]:
    """Give each question to each of some works, so that all of them meet the same noise."""
    times = [AnswerTimes() for _ in works]
    timed = [_time(*pair) for pair in zip(times, works, strict=True)]
    _repeat(len(works) * seconds, questions, lambda question: [work(question) for work in timed])
    return times


def _load(server: Server, questions: Sequence[str], seconds: float) -> AnswerTimes:
    """Ask from all connections at once, each again as soon as it has its answer."""
    parts = [AnswerTimes() for _ in range(CONNECTIONS)]

    def ask_all(place: int) -> None:
        connection = server.connect()
        # Each begins elsewhere, so that they do not ask the same at once.
        start = place * len(questions) // CONNECTIONS
        turned = [*questions[start:], *questions[:start]]
        _repeat(seconds, turned, _time(parts[place], partial(ask, connection)))
        connection.close()

    threads = [threading.Thread(target=ask_all, args=(place,)) for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return AnswerTimes(
        [seconds for part in parts for seconds in part.seconds], sum(part.errors for part in parts)
    )


def _repeat(seconds: float, questions: Sequence[str], work: Ask) -> None:
    ends = time.perf_counter() + seconds
    for question in cycle(questions):
        work(question)
        if time.perf_counter() >= ends:
            return


def _time(times: AnswerTimes, work: Ask) -> Callable[[str], None]:
    def timed(question: str) -> None:
        started = time.perf_counter()
        try:
            work(question)
        except (OSError, http.client.HTTPException):
            times.errors += 1
        times.seconds.append(time.perf_counter() - started)

    return timed


if __name__ == "__main__":
    table = measure()
    title = f"The manual's own function, {CONNECTIONS} connections for {SECONDS:g} seconds"
    print_rows(title, table, as_json="--json" in sys.argv[1:])
    over = [
        f"{name} is {table[-1][name]:.3g}, over {most:g}"
        for name, most in LIMITS.items()
        if table[-1][name] > most
    ]
    sys.exit("; ".join(over) or None)
