"""What is counted of all requests of a process, in the text format of Prometheus."""

import re
from typing import get_args

from ..errors import PolicyError
from ..types import Reason
from .access_log import OTHER_VALUE, AccessLogEntry
from .messages import PROBLEM_STATUSES

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_REFUSAL_REASONS: tuple[str, ...] = get_args(Reason)
_STATUSES = frozenset({200, 204, *(status for status, _ in PROBLEM_STATUSES.values())})
_CREATED_LINE = re.compile(rb"(# (HELP|TYPE) )?answerable_\w+_created\b")
# From an answer of the cache to a model that takes the whole deadline, in seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class RequestMetrics:
    """Counts requests. No label holds anything but words of ours; PolicyError without its package.

    Each process counts for itself.
    """

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
        # A rate is of something that was 0 before it was 1.
        for direction in ("in", "out"):
            self._tokens.labels(direction)
        for reason in _REFUSAL_REASONS:
            self._refusals.labels(reason)

    def observe(self, seen: AccessLogEntry) -> None:
        """Count a request."""
        status = str(seen.status) if seen.status in _STATUSES else OTHER_VALUE
        of = (seen.path, status, seen.mode or "", seen.reason or "", seen.cache or "")
        self._requests.labels(*of).inc()
        self._seconds.labels(seen.path).observe(seen.duration_ms / 1000)
        self._tokens.labels("in").inc(seen.tokens_in)
        self._tokens.labels("out").inc(seen.tokens_out)
        if seen.reason in _REFUSAL_REASONS:
            self._refusals.labels(seen.reason).inc()

    def text(self) -> bytes:
        """All counts, as ``CONTENT_TYPE`` says."""
        from prometheus_client import generate_latest

        # Beside each series the library puts the time when it began, which doubles them.
        lines = generate_latest(self._registry).splitlines(keepends=True)
        return b"".join(line for line in lines if not _CREATED_LINE.match(line))
