"""What is told of a request: one line of JSON, and no words of anyone's."""

import json
import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, get_args

from ..call import Stage
from ..errors import Rule
from ..errors import Stage as Step
from ..frozen import frozen
from ..protection.waiting import Outcome
from ..types import Mode, Reason
from .http import Code

# What tells a request from the other lines of a platform's log.
EVENT = "request"
# What stands for a path or a method that is none of ours: it may hold anything.
OTHER = "other"

METHODS = ("GET", "POST", "OPTIONS", "HEAD")
PATHS = ("answer", "search", "health", "ready", "openapi.json", "challenge", "metrics")
MODES: tuple[str, ...] = get_args(Mode)
# Why there is no answer: the engine's reason, or the code of a problem.
REASONS: tuple[str, ...] = (*get_args(Reason), *get_args(Code))
OUTCOMES: tuple[str, ...] = get_args(Outcome)
STAGES: tuple[str, ...] = get_args(Stage)
REFUSALS = tuple(f"{stage}/{rule}" for stage in get_args(Step) for rule in get_args(Rule))


@frozen
class Observation:
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
            "method": self.method if self.method in METHODS else OTHER,
            "path": path if (path := self.path.strip("/")) in PATHS else OTHER,
            "mode": self.mode if self.mode in MODES else None,
            "reason": self.reason if self.reason in REASONS else None,
            "cache": self.cache if self.cache in OUTCOMES else None,
        }
        self.__dict__.update(known)

    def line(self) -> bytes:
        """The request as a line of a log: printable ASCII, its fields always in this order."""
        row: dict[str, Any] = {
            "event": EVENT,
            "request_id": self.request_id,
            "method": self.method,
            "path": self.path,
            "status": self.status,
            "mode": self.mode,
            "reason": self.reason,
            "cache": self.cache,
            "duration_ms": _rounded(self.duration_ms),
            "timings_ms": {
                stage: _rounded(self.timings_ms[stage])
                for stage in STAGES
                if stage in self.timings_ms
            },
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "bundle": self.bundle,
        }
        if refusals := {each: n for each in REFUSALS if (n := self.contract.get(each))}:
            row["contract"] = refusals
        if self.question is not None:
            row["question"] = self.question
        # JSON may hold DEL and line separators as they are; a log's reader may break there.
        text = json.dumps(row, allow_nan=False).replace("\x7f", "\\u007f")
        return (text + "\n").encode("ascii")


def _rounded(milliseconds: float) -> float | None:
    """To a tenth; None for what is no number, which JSON has no word for."""
    return round(milliseconds, 1) if math.isfinite(milliseconds) else None
