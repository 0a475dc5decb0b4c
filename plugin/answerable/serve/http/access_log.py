"""What is told of a request: one line of JSON, and no words of anyone's."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from ..errors import ContractStage as Step
from ..errors import Rule
from ..limits.answer_cache import CacheOutcome
from ..request_context import RequestStage
from ..types import Mode, Reason
from .messages import ProblemCode

# What tells a request from the other lines of a platform's log.
REQUEST_EVENT = "request"
# What stands for a path or a method that is none of ours: it may hold anything.
OTHER_VALUE = "other"

LOGGED_METHODS = ("GET", "POST", "OPTIONS", "HEAD")
LOGGED_PATHS = ("answer", "search", "health", "ready", "openapi.json", "challenge", "metrics")
LOGGED_MODES: tuple[str, ...] = get_args(Mode)
# Why there is no answer: the engine's reason, or the code of a problem.
LOGGED_REASONS: tuple[str, ...] = (*get_args(Reason), *get_args(ProblemCode))
LOGGED_OUTCOMES: tuple[str, ...] = get_args(CacheOutcome)
LOGGED_STAGES: tuple[str, ...] = get_args(RequestStage)
LOGGED_CONTRACT_RULES = tuple(
    f"{stage}/{rule}" for stage in get_args(Step) for rule in get_args(Rule)
)


@dataclass(frozen=True, slots=True)
class AccessLogEntry:
    """What is observed of one request.

    ``path``: relative to the base. ``reason``: of a refusal, or the code of a problem.
    ``timings_ms`` and ``duration_ms``: milliseconds, in each stage and in all. ``contract``: how
    often each rule has refused something. ``question``: None unless questions are logged.
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
    contract: Mapping[str, int] = field(default_factory=dict)
    question: str | None = None
    duration_ms: float = 0.0

    def __post_init__(self) -> None:
        # Here and not where it is written, so that nothing else can be told either.
        known: dict[str, Any] = {
            "method": self.method if self.method in LOGGED_METHODS else OTHER_VALUE,
            "path": path if (path := self.path.strip("/")) in LOGGED_PATHS else OTHER_VALUE,
            "mode": self.mode if self.mode in LOGGED_MODES else None,
            "reason": self.reason if self.reason in LOGGED_REASONS else None,
            "cache": self.cache if self.cache in LOGGED_OUTCOMES else None,
        }
        self.__dict__.update(known)

    def line(self) -> bytes:
        """The request as a line of a log: printable ASCII, its fields always in this order."""
        row: dict[str, Any] = {
            "event": REQUEST_EVENT,
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
        }
        if refusals := {
            each: n for each in LOGGED_CONTRACT_RULES if (n := self.contract.get(each))
        }:
            row["contract"] = refusals
        if self.question is not None:
            row["question"] = self.question
        # JSON may hold DEL and line separators as they are; a log's reader may break there.
        text = json.dumps(row, allow_nan=False).replace("\x7f", "\\u007f")
        return (text + "\n").encode("ascii")


def _round_milliseconds(milliseconds: float) -> float | None:
    """To a tenth; None for what is no number, which JSON has no word for."""
    return round(milliseconds, 1) if math.isfinite(milliseconds) else None
