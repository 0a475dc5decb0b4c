"""Format one access-log line of JSON for each request, and count requests for Prometheus.

All values come from closed lists of ours, except ids and, if the owner logs questions, the
question, which only the access log holds.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from ..errors import ContractStage, FailureCause, PolicyError, Rule
from ..limits.answer_cache import CacheOutcome
from ..request_context import RequestStage
from ..types import Mode, Reason
from .messages import PROBLEM_STATUSES, ProblemCode

# Tells a request from the other lines of a platform's log.
REQUEST_EVENT = "request"
# Stands for a path or a method that is not ours: it may hold anything.
OTHER_VALUE = "other"

LOGGED_METHODS = ("GET", "POST", "OPTIONS", "HEAD")
LOGGED_PATHS = (
    "answer", "search", "v1/search", "mcp", "health", "ready", "openapi.json", "metrics",
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
    ``question``: None unless questions are logged. ``hour``: see ``refusal_log.format_hour``.
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
    question: str | None = None
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
        if self.question is not None:
            row["question"] = self.question
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
