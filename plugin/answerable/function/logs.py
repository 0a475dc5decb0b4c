"""Log lines of requests and of refusals, which are off by default, and metrics."""

import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ..serve.errors import ContractStage, FailureCause, PolicyError, Rule
from ..serve.request_context import RequestStage
from ..serve.retrieval.retrieve import RetrievalResult
from ..serve.retrieval.sections import WINDOW_SUFFIX
from ..serve.text.tokenization import split_lowercase_words
from ..serve.types import Mode, Reason
from .askers import hash_with_secret
from .problems import PROBLEM_STATUSES, ProblemCode

# Whether an answer was in the cache.
CacheOutcome = Literal["hit", "miss"]
# Tells a request from the other lines of a platform's log.
REQUEST_EVENT = "request"
# Stands for a path or a method that is not ours: it may hold anything.
OTHER_VALUE = "other"

LOGGED_METHODS = ("GET", "POST", "OPTIONS", "HEAD")
LOGGED_PATHS = (
    "answer", "search", "v1/search", "places", "section", "mcp", "health", "ready",
    "openapi.json", "metrics",
)  # fmt: skip
LOGGED_MODES: tuple[str, ...] = get_args(Mode)
# Why there is no answer: the engine's reason, or the code of a problem.
LOGGED_REASONS: tuple[str, ...] = (*get_args(Reason), *get_args(ProblemCode))
LOGGED_OUTCOMES: tuple[str, ...] = get_args(CacheOutcome)
LOGGED_CAUSES: tuple[str, ...] = get_args(FailureCause)
LOGGED_STAGES: tuple[str, ...] = get_args(RequestStage)
LOGGED_CONTRACT_RULES = tuple(
    f"{stage}/{rule}" for stage in get_args(ContractStage) for rule in get_args(Rule)
)

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REFUSAL_REASONS: tuple[str, ...] = get_args(Reason)
_STATUSES = frozenset({200, 202, 204, *(status for status, _ in PROBLEM_STATUSES.values())})
_CREATED_LINE = re.compile(rb"(# (HELP|TYPE) )?answerable_\w+_created\b")
# From an answer of the cache to a model that takes the whole deadline, in seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(frozen=True, slots=True)
class AccessLogEntry:
    """Hold what is reported of one request; values that are not ours become "other" or None.

    ``path``: relative to the base. ``reason``: of a refusal, or the code of a problem.
    ``timings_ms`` and ``duration_ms``: milliseconds, in each stage and in all. ``cause``: why a
    call of a provider has failed. ``contract``: how often each rule has refused something.
    ``hour``: see ``format_hour``.
    ``cited``: the ids of the pages that an answer cites, which are public; never a note's.
    """

    request_id: str
    method: str
    path: str
    status: int
    mode: str | None = None
    reason: str | None = None
    cache: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    bundle: str | None = None
    cause: str | None = None
    contract: Mapping[str, int] = field(default_factory=dict)
    duration_ms: float = 0.0
    hour: str | None = None
    cited: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Here and not where a line is written, so that the metrics cannot hold anything else.
        path = self.path.strip("/")
        closed: dict[str, Any] = {
            "method": self.method if self.method in LOGGED_METHODS else OTHER_VALUE,
            "path": path if path in LOGGED_PATHS else OTHER_VALUE,
            "mode": self.mode if self.mode in LOGGED_MODES else None,
            "reason": self.reason if self.reason in LOGGED_REASONS else None,
            "cache": self.cache if self.cache in LOGGED_OUTCOMES else None,
            "cause": self.cause if self.cause in LOGGED_CAUSES else None,
        }
        for name, value in closed.items():
            object.__setattr__(self, name, value)

    def to_line(self) -> bytes:
        """Format the entry as a line of printable ASCII, its fields always in this order."""
        row: dict[str, Any] = {
            "event": REQUEST_EVENT,
            "time": self.hour,
            "request_id": self.request_id,
            "method": self.method,
            "path": self.path,
            "status": self.status,
            "mode": self.mode,
            "reason": self.reason,
            "cache": self.cache,
            "duration_ms": _round_milliseconds(self.duration_ms),
            "timings_ms": {
                stage: _round_milliseconds(self.timings_ms[stage])
                for stage in LOGGED_STAGES
                if stage in self.timings_ms
            },
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "bundle": self.bundle,
            "cited": list(self.cited),
        }
        if self.cause is not None:
            row["cause"] = self.cause
        if refusals := {
            rule: count for rule in LOGGED_CONTRACT_RULES if (count := self.contract.get(rule))
        }:
            row["contract"] = refusals
        # JSON may hold DEL and line separators as they are; a log's reader may break there.
        text = json.dumps(row, allow_nan=False).replace("\x7f", "\\u007f")
        return (text + "\n").encode("ascii")


def _round_milliseconds(milliseconds: float) -> float | None:
    """Round to a tenth; None for NaN and infinity, which JSON cannot express."""
    return round(milliseconds, 1) if math.isfinite(milliseconds) else None


class RequestMetrics:
    """Count the requests of this process for Prometheus; PolicyError without its package."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram
        except ImportError:
            raise PolicyError(
                "ANSWERABLE_METRICS_TOKEN: the package prometheus-client is not installed; "
                "run `pip install prometheus-client` where the function runs"
            ) from None
        # Its own: the one that is shared by default holds facts about the machine.
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "answerable_requests_total",
            "Requests, by what became of them.",
            ["path", "status", "mode", "reason", "cache"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "answerable_request_seconds",
            "Seconds from a request to its response.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._tokens = Counter(
            "answerable_tokens_total",
            "Tokens that providers have counted.",
            ["direction"],
            registry=self._registry,
        )
        self._refusals = Counter(
            "answerable_refusals_total",
            "Questions without an answer, by reason.",
            ["reason"],
            registry=self._registry,
        )
        # Created as zeros: a rate needs the 0 that was before the first 1.
        for direction in ("in", "out"):
            self._tokens.labels(direction)
        for reason in _REFUSAL_REASONS:
            self._refusals.labels(reason)

    def observe(self, entry: AccessLogEntry) -> None:
        """Count a request."""
        status = str(entry.status) if entry.status in _STATUSES else OTHER_VALUE
        labels = (entry.path, status, entry.mode or "", entry.reason or "", entry.cache or "")
        self._requests.labels(*labels).inc()
        self._seconds.labels(entry.path).observe(entry.duration_ms / 1000)
        self._tokens.labels("in").inc(entry.tokens_in)
        self._tokens.labels("out").inc(entry.tokens_out)
        if entry.reason in _REFUSAL_REASONS:
            self._refusals.labels(entry.reason).inc()

    def render(self) -> bytes:
        """Format all counters as ``METRICS_TYPE`` says."""
        from prometheus_client import generate_latest

        # Beside each series the library puts the time when it began, which doubles them.
        lines = generate_latest(self._registry).splitlines(keepends=True)
        return b"".join(line for line in lines if not _CREATED_LINE.match(line))


# The file of the development servers, in the cache folder.
REFUSAL_LOG_FILE = "refusals.jsonl"
# Tells a refusal from the other lines of a platform's log.
REFUSAL_EVENT = "refusal"
# Some 50,000 refusals: whoever asks nonsense in a loop does not fill a disk.
MAX_LOG_BYTES = 16_000_000

# Why a question is logged: its refusal, or an answer that is only the nearest there is.
LoggedReason = Literal[Reason, "nearest"]


@dataclass(frozen=True, slots=True)
class RefusedQuestion:
    """A question that was not answered; it must not be stored as it is.

    ``address``: of the client, "" if unknown. ``bundle``: the id of the bundle that was asked.
    ``near``: the id of the nearest section.
    """

    question: str
    address: str
    reason: LoggedReason
    bundle: str
    near: str | None


@dataclass(frozen=True, slots=True)
class LoggedRefusal:
    """Hold a refused question as it is logged.

    ``time`` is in UTC, to the hour. ``asker_hash`` is keyed by the day, ``question_hash`` is not.
    ``text`` is the question itself, None unless the owner logs it.
    """

    time: str
    reason: LoggedReason
    bundle: str
    asker_hash: str
    question_hash: str
    near: str | None = None
    text: str | None = None

    def to_line(self) -> bytes:
        """Format the refusal as a line of JSON."""
        row: dict[str, Any] = {
            "event": REFUSAL_EVENT,
            "time": self.time,
            "reason": self.reason,
            "bundle": self.bundle,
            "asker": self.asker_hash,
            "question": self.question_hash,
            "near": self.near,
        }
        if self.text is not None:
            row["text"] = self.text
        return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


LogRefusal = Callable[[RefusedQuestion], None]
WriteLine = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Logs:
    """Where a function reports; what is None is not reported.

    ``write_line`` takes a line for each request, which never holds the question, ``log_refusal``
    each question that was refused or got only what is nearest, ``report_error`` each error that
    kept a question from an answer.
    """

    write_line: WriteLine | None = None
    log_refusal: LogRefusal | None = None
    report_error: Callable[[Exception], object] | None = None


def find_nearest_section(result: RetrievalResult) -> str | None:
    """Find the id of the section of the best passage, or of the best near miss; never a hint.

    None where nothing was searched for.
    """
    candidates = (*result.passages, *result.near_passages)
    return WINDOW_SUFFIX.sub("", candidates[0].item.id) if candidates else None


def redact_refusal(
    refused: RefusedQuestion, secret: bytes, now: float, *, with_text: bool
) -> LoggedRefusal:
    """Hash the asker and the question, drop the address, and round the time to the hour.

    now: seconds since 1970. with_text: keep the text of the question beside its hash.
    """
    hour = format_hour(now)
    return LoggedRefusal(
        time=hour,
        reason=refused.reason,
        bundle=refused.bundle,
        asker_hash=hash_with_secret(refused.address, secret, hour[:10]),
        # Not keyed by a day: a question that is asked on two days is one question.
        question_hash=hash_with_secret(
            normalize_question_words(refused.question), secret, "question"
        ),
        near=refused.near,
        text=refused.question if with_text else None,
    )


def format_hour(now: float) -> str:
    """Format a time in UTC, rounded down to the hour. now: seconds since 1970."""
    return time.strftime("%Y-%m-%dT%H:00Z", time.gmtime(now))


def normalize_question_words(question: str) -> str:
    """Reduce a question to its lower-case words, so that two spellings of it are one."""
    return " ".join(split_lowercase_words(question)) or question


def make_refusal_logger(
    read_setting: Callable[[], str],
    write: WriteLine,
    secret: bytes,
    now: Callable[[], float] = time.time,
) -> LogRefusal:
    """Make a logger of refused questions. read_setting: ``log_refusals``, for each question."""

    def log_refusal(refused: RefusedQuestion) -> None:
        if (setting := read_setting()) != "none":
            write(redact_refusal(refused, secret, now(), with_text=setting == "text").to_line())

    return log_refusal


def make_line_appender(
    path: Path, report: Callable[[str], object], limit: int = MAX_LOG_BYTES
) -> WriteLine:
    """Make a writer of lines to a file of its owner's, which drops them from ``limit`` bytes on.

    Threads and processes may append at once. report: is called once, with one sentence that says
    why lines are dropped.
    """
    reported = threading.Lock()

    def append(line: bytes) -> None:
        problem = _append_line(path, line, limit)
        # Never released: only the first thread that takes it reports.
        if problem and reported.acquire(blocking=False):
            report(f"Refused questions are no longer kept: {path} {problem}")

    return append


def _append_line(path: Path, line: bytes, limit: int) -> str | None:
    """Append a line by one write, which keeps it whole; return why it was dropped, if it was."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Opened anew each time, so that the log may be moved away or deleted at any moment.
        descriptor = os.open(path, flags, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(line) > limit:
                return f"has {limit:,} bytes; read it with `answerable gaps`, then delete it"
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return f"cannot be written ({reason}); check its permissions"
    return None
