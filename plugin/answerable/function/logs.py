"""Log lines of requests and of refusals, which are off by default, and metrics."""

import hmac
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ..engine.errors import FailureCause, PolicyError
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.retrieval.retrieve import RetrievalResult
from ..engine.settings import LogRefusals
from ..engine.text.tokenization import split_lowercase_words
from ..engine.types import Mode, Reason
from .requests import ProblemCode

# Whether an answer was in the cache.
CacheOutcome = Literal["hit", "miss"]
# Why a question is logged: its refusal, or an answer that is only the nearest there is.
LoggedReason = Literal[Reason, "nearest"]
WriteLine = Callable[[bytes], object]

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# The file of the development servers, in the cache folder.
REFUSAL_LOG_FILE = "refusals.jsonl"
# Some 50,000 refusals: whoever asks nonsense in a loop does not fill a disk.
MAX_LOG_BYTES = 16_000_000


class RequestLine(msgspec.Struct, tag_field="event", tag="request"):
    """A line on one request, which never holds its question.

    ``path``: of our own routes. ``reason``: of a refusal, or the code of a problem. ``timings_ms``:
    milliseconds in each stage. ``cited``: the ids of the pages that an answer cites, never a
    note's. ``cause``: why a call of a provider has failed. ``contract``: how often each rule has
    refused something.
    """

    time: str
    request_id: str
    method: str
    path: str
    status: int = 0
    mode: Mode | None = None
    reason: Reason | ProblemCode | None = None
    cache: CacheOutcome | None = None
    duration_ms: float = 0.0
    timings_ms: Mapping[str, float] = {}
    tokens_in: int = 0
    tokens_out: int = 0
    bundle: str | None = None
    cited: tuple[str, ...] = ()
    cause: FailureCause | UnsetType = UNSET
    contract: Mapping[str, int] | UnsetType = UNSET


class RequestMetrics:
    """The requests of this process for Prometheus; PolicyError without its package."""

    def __init__(self) -> None:
        try:
            import prometheus_client as prometheus
        except ImportError:
            raise PolicyError(
                "ANSWERABLE_METRICS_TOKEN: the package prometheus-client is not installed; "
                "run `pip install prometheus-client` where the function runs"
            ) from None
        # Beside each series the library puts the time when it began, which doubles them.
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
        # Our own: the one that is shared by default holds facts about the machine.
        self._registry = prometheus.CollectorRegistry()
        self._format = prometheus.generate_latest
        self._requests = prometheus.Counter(
            "answerable_requests_total",
            "Requests, by what became of them.",
            ["path", "status", "mode", "reason", "cache"],
            registry=self._registry,
        )
        self._seconds = prometheus.Histogram(
            "answerable_request_seconds",
            "Seconds from a request to its response.",
            ["path"],
            # From an answer of the cache to a model that takes the whole deadline.
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
            registry=self._registry,
        )
        self._tokens = prometheus.Counter(
            "answerable_tokens_total",
            "Tokens that providers have counted.",
            ["direction"],
            registry=self._registry,
        )

    def observe(self, line: RequestLine) -> None:
        """Count a request."""
        self._requests.labels(
            line.path, str(line.status), line.mode or "", line.reason or "", line.cache or ""
        ).inc()
        self._seconds.labels(line.path).observe(line.duration_ms / 1000)
        self._tokens.labels("in").inc(line.tokens_in)
        self._tokens.labels("out").inc(line.tokens_out)

    def render(self) -> bytes:
        """Format all counters as ``METRICS_TYPE`` says."""
        return self._format(self._registry)


Name = Annotated[str, Meta(max_length=500)]


class RefusalLine(msgspec.Struct, tag_field="event", tag="refusal", omit_defaults=True):
    """A line on a question that was not answered; ``asker`` and ``question`` are hashes.

    ``near``: the id of the nearest section. ``text``: the question itself, if its owner logs it.
    """

    time: Annotated[str, Meta(pattern=r"^\d{4}-[01]\d-[0-3]\dT[0-2]\d:00Z$")]
    reason: LoggedReason
    bundle: Name
    asker: Name
    question: Name
    near: Name | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        if self.text is not None:
            self.text = clean_question(self.text)
            if find_question_problem(self.text):
                raise ValueError("a question that nobody could ask")


@dataclass(frozen=True, slots=True)
class RefusalLog:
    """A log of refused questions. ``read_setting``: ``log_refusals``, for each question."""

    read_setting: Callable[[], LogRefusals]
    write: WriteLine
    secret: str

    @property
    def is_kept(self) -> bool:
        """True while the site's owner wants refused questions to be logged."""
        return self.read_setting() != "none"

    def add(
        self, question: str, asker: str, reason: LoggedReason, bundle: str, near: str | None
    ) -> None:
        """Log a question, by a hash of its words. asker: by ``hash_asker``."""
        if not self.is_kept:
            return
        # An asker of two days is two askers, and a question that is asked on two days is one.
        words = hash_with_secret(normalize_question_words(question), self.secret, "question")
        text = question if self.read_setting() == "text" else None
        line = RefusalLine(format_hour(time.time()), reason, bundle, asker, words, near, text)
        self.write(msgspec.json.encode(line) + b"\n")


def find_nearest_section(result: RetrievalResult) -> str | None:
    """Find the id of the section of the best passage or near miss, None without any."""
    candidates = (*result.passages, *result.near_passages)
    return candidates[0].item.section if candidates else None


def format_hour(now: float) -> str:
    """Format a time in UTC, rounded down to the hour. now: seconds since 1970."""
    return time.strftime("%Y-%m-%dT%H:00Z", time.gmtime(now))


def normalize_question_words(question: str) -> str:
    """Reduce a question to its lower-case words, so that two spellings of it are one."""
    return " ".join(split_lowercase_words(question)) or question


def hash_asker(address: str, secret: str) -> str:
    """Hash a client's address for the day; clients without an address are one asker, called ""."""
    return hash_with_secret(address, secret, time.strftime("%Y-%m-%d", time.gmtime(time.time())))


def hash_with_secret(text: str, secret: str, purpose: str) -> str:
    """Hash an address or a question to 16 hexadecimal digits of HMAC-SHA256; "" stays "".

    purpose: what the hash is for, such as a day, so that hashes of different purposes differ.
    """
    if not text:
        return ""
    return hmac.digest(secret.encode(), f"{purpose}\n{text}".encode(), "sha256").hex()[:16]


@dataclass(slots=True)
class LineFile:
    """A file of its owner's, to which threads and processes append lines up to a limit of bytes.

    ``report`` is called once, with a sentence that says why lines are dropped.
    """

    path: Path
    report: Callable[[str], object]
    limit: int = MAX_LOG_BYTES
    has_reported: bool = False

    def append(self, line: bytes) -> None:
        """Append a line by one write, which keeps it whole."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Opened anew each time, so that the log may be moved away or deleted at any moment.
            with open(self.path, "ab", buffering=0, opener=partial(os.open, mode=0o600)) as file:
                if file.tell() + len(line) <= self.limit:
                    file.write(line)
                    return
            problem = f"has {self.limit:,} bytes; read it with `answerable gaps`, then delete it"
        except OSError as error:
            problem = f"cannot be written ({error.strerror}); check its permissions"
        if not self.has_reported:
            self.has_reported = True
            self.report(f"Refused questions are no longer kept: {self.path} {problem}")
