"""A published function under load, without a key: this manual's own, asked its own gold queries.

Every answer is made anew, since the answer cache is off, by the server that a build writes.
``x_alone``: the median as a multiple of that of the same questions' retrieval alone, in a process
without a server; both are asked in turn. ``cached answer``: the same over a cache that holds all of
them. ``rss_mb``: the server's memory at the end of the load; ``rss_growth``: since its warm-up, in
which it has read most of what it maps. ANSWERABLE_SECONDS sets how long the load takes.

``failing model, capped``: as many questions over as many connections, to the same function with a
model that fails one call in six, each time in another way, and a cap on the tokens of a day that
the last quarter of the questions meets. ``errors``: replies that are neither an answer nor told
that the day's tokens are spent; ``capped``: those that were told so; ``falsely_capped``: of these,
while the model had counted less than the cap; ``spent_x_cap``: what it counted in all.
"""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import yaml
from real_sites import build_site
from tables import Row, find_median, find_percentile, print_rows

from answerable.engine.providers import open_function
from support.openai_stub import OpenAIStub, StubReply, StubRequest, error_reply, json_reply

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("ANSWERABLE_SECONDS") or 60)
CONNECTIONS = 16
# What the warm-up under load takes of it, and each of what is done alone.
WARM_UP, SHARE = 0.4, 0.1
# No answer may fail, the tail is ten medians at most, and memory grows by less than a twentieth.
LIMITS = {"errors": 0, "p99_x_p50": 10.0, "rss_growth": 0.05, "falsely_capped": 0}
# Asked of a failing model, and the part of them that the cap is to allow.
FAULTY_QUESTIONS, WITHIN_CAP = 693, 0.75
_USAGE = {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}
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


class FailingModel(OpenAIStub):
    """An honest model, one of whose calls in six fails: each time in the next of six ways.

    ``tokens``: what all calls so far have cost by its own count, which is what a function can read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tokens = 0
        self._counting = threading.Lock()
        self._calls = 0
        self._faults = cycle(
            (
                error_reply(500, "The server had an error."),
                error_reply(429, "Rate limit reached."),
                error_reply(400, "Unsupported parameter.", "unsupported_parameter"),
                json_reply({"choices": [], "usage": _USAGE}),
                StubReply(b"<html>502 Bad Gateway</html>", headers={"Content-Type": "text/html"}),
                StubReply(b'{"id": ', headers={"Content-Type": "application/json"}),
            )
        )

    def respond(self, request: StubRequest) -> StubReply:
        with self._counting:
            self._calls += 1
            fault = next(self._faults) if self._calls % 6 == 0 else None
        reply = fault or super().respond(request)
        if counted := re.search(rb'"total_tokens": (\d+)', reply.body):
            with self._counting:
                self.tokens += int(counted[1])
        return reply


def build_manual(work: Path, **options: object) -> Path:
    """Build this manual in a folder of its own and return the function's."""
    for name in ("docs", "notebook", "overrides"):
        shutil.copytree(ROOT / name, work / name)
    added = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in options.items())
    plugin = "  - answerable:\n"
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (work / "mkdocs.yml").write_text(config.replace(plugin, plugin + added), encoding="utf-8")
    build_site(work, {})
    return work / "function"


def measure_faults(questions: Sequence[str]) -> Row:
    """Ask a function whose model fails now and then, until the tokens of a day are spent."""
    outcomes: Counter[str] = Counter()
    falsely_capped = 0
    waiting = iter([*islice(cycle(questions), FAULTY_QUESTIONS)])
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as work, FailingModel() as model:
        answers = {"provider": "openai", "model": "honest", "base_url": model.base_url}
        function = build_manual(Path(work), answers=answers)
        environment = {"ANSWERABLE_CACHE_SECONDS": "0", "OPENAI_API_KEY": "key"}
        with serve(function, **environment) as server:
            for question in questions:
                _read_reply(server.connect(), question)
        # What a question costs, its failed calls and second attempts included.
        cap = round(WITHIN_CAP * FAULTY_QUESTIONS * model.tokens / len(questions))
        model.tokens = 0

        def ask_all() -> None:
            nonlocal falsely_capped
            connection = server.connect()
            while True:
                with lock:
                    question = next(waiting, None)
                if question is None:
                    return
                outcome = _read_reply(connection, question)
                with lock:
                    outcomes[outcome] += 1
                    falsely_capped += outcome == "capped" and model.tokens < cap

        environment["ANSWERABLE_TOKENS_PER_DAY"] = str(cap)
        with serve(function, **environment) as server:
            _run_all([ask_all] * CONNECTIONS)
    answered = outcomes["answer"] + outcomes["fallback"]
    return {
        "name": "failing model, capped",
        "asked": outcomes.total(),
        "errors": outcomes.total() - answered - outcomes["capped"],
        "fallback": outcomes["fallback"],
        "capped": outcomes["capped"],
        "falsely_capped": falsely_capped,
        "spent_x_cap": model.tokens / cap,
    }


def _read_reply(connection: http.client.HTTPConnection, question: str) -> str:
    """Ask a question and name what came: an answer, a fallback, or the problem's type."""
    body = json.dumps({"question": question}).encode()
    connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    values = json.loads(response.read())
    if response.status != 200:
        return str(values["code"])
    return "fallback" if values["fallback"] else "answer"


def measure(questions: Sequence[str]) -> list[Row]:
    """Measure one row for each thing that is done alone, one for the load."""
    with tempfile.TemporaryDirectory() as work:
        function = build_manual(Path(work))
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

    _run_all([partial(ask_all, place) for place in range(CONNECTIONS)])
    return AnswerTimes(
        [seconds for part in parts for seconds in part.seconds], sum(part.errors for part in parts)
    )


def _run_all(works: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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
    gold = yaml.safe_load((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))
    gold_questions = [row["query"] for row in gold["queries"]]
    table = [*measure(gold_questions), measure_faults(gold_questions)]
    title = f"The manual's own function, {CONNECTIONS} connections for {SECONDS:g} seconds"
    print_rows(title, table, as_json="--json" in sys.argv[1:])
    over = [
        f"{name} of {row['name']} is {row[name]:.3g}, over {most:g}"
        for row in table[-2:]
        for name, most in LIMITS.items()
        if row.get(name, 0) > most
    ]
    sys.exit("; ".join(over) or None)
