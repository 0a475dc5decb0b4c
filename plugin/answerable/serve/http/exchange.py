"""Follow one request from its arrival to its log line."""

import time
import uuid
from dataclasses import dataclass, field

from ..errors import AnswerableError, FailureCause
from ..request_context import RequestContext
from .guarded_engine import ServedReply
from .messages import Problem, ProblemCode, Request, convert_error


@dataclass(slots=True)
class Exchange:
    """Follow one request, with what its log line needs."""

    request: Request
    context: RequestContext
    id: str = field(default_factory=lambda: f"req_{uuid.uuid4().hex}")
    started: float = field(default_factory=time.monotonic)
    question: str | None = None
    reply: ServedReply | None = None
    code: ProblemCode | None = None
    cause: FailureCause | None = None

    def convert_error(self, error: Exception) -> Problem:
        """Convert an error to a problem, and keep of both what the log line names."""
        problem = convert_error(error)
        self.code = problem.code
        self.cause = error.cause if isinstance(error, AnswerableError) else None
        return problem
