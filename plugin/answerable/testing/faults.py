"""Faults that the stub server simulates: what each does to a reply, and which request gets one."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from .stub_messages import Delivery, OpenAIError, StubError, StubReply, error_reply, json_reply

FAULT_HEADER = "x-stub-fault"
_MODEL_SUFFIX = re.compile(r"(?:^|-)fault-(.+)$")

_STATUSES: Mapping[str, tuple[int, str, str, str | None]] = {
    "400": (400, "The request is invalid.", "invalid_request_error", None),
    "401": (401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    "403": (403, "You are not allowed to do this.", "invalid_request_error", None),
    "404": (404, "Not found.", "invalid_request_error", None),
    "405": (405, "Not allowed to POST to this address.", "invalid_request_error",
            "method_not_supported"),
    "408": (408, "The request took too long.", "server_error", None),
    "409": (409, "Conflict.", "server_error", None),
    "413": (413, "The request is too large.", "invalid_request_error", None),
    "422": (422, "The request cannot be processed.", "invalid_request_error", None),
    "429": (429, "Rate limit reached. Please try again later.", "requests", "rate_limit_exceeded"),
    "500": (500, "The server had an error while processing your request.", "server_error", None),
    "503": (503, "The engine is currently overloaded, please try again later.", "server_error",
            None),
    "quota": (429, "You exceeded your current quota, please check your plan and billing details.",
              "insufficient_quota", "insufficient_quota"),
    "no-model": (404, "The model does not exist or you do not have access to it.",
                 "invalid_request_error", "model_not_found"),
}  # fmt: skip

_HTML = b"<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"
_REPLIES: Mapping[str, StubReply] = {
    "502": StubReply((_HTML,), 502, "text/html"),
    "html": StubReply((_HTML,), 200, "text/html"),
    "garbage": StubReply((bytes(range(128, 256)) * 4,)),
    "null": json_reply(None),
    "unrelated": json_reply({"status": "ok", "data": {"output": 1, "choices": 2}}),
    "blank": StubReply((b"",)),
    "no-responses": json_reply({"detail": "Not Found"}, 404),
}

# The effect of each fault, by its name; an answering or an embedding endpoint ignores the other's.
FAULTS: Mapping[str, str] = {
    **{name: f"status {status}: {text}" for name, (status, text, *_) in _STATUSES.items()},
    "502": "status 502 with a page of HTML",
    "html": "status 200 with a page of HTML",
    "garbage": "status 200 with bytes that are no JSON",
    "null": "status 200 with the JSON value null",
    "unrelated": "status 200 with JSON of another shape",
    "blank": "status 200 with no body",
    "no-responses": "/v1/responses is missing, as on an older server",
    "hang": "not a byte until the server stops",
    "drip": "the body byte by byte, slowly",
    "cut": "the connection ends in the middle of the body",
    "drop": "the connection ends without a byte",
    "truncated": "a body that is complete as HTTP and half as JSON",
    "refusal": "the model refuses, in the protocol's own field",
    "empty": "the model writes nothing",
    "incomplete": "the output limit cuts the model short",
    "no-usage": "an answer or vectors without a count of tokens; a stream has its count",
    "stream-error": "a stream fails in its middle",
    "fewer-vectors": "one vector too few",
    "wrong-dimensions": "vectors one dimension too short",
    "not-finite": "vectors with a value that is not a number",
    "infinite": "vectors with a value without bound",
    "zeros": "vectors of zeros",
    "last-zeros": "vectors of which the last one is zeros",
    "fixed-dimensions": "a request for vectors that names dimensions is refused, as by vLLM",
    "reversed": "vectors in reverse order, with the right index each",
}


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """A fault to come. left: how many more times, None for ever; path: at one endpoint only."""

    name: str
    left: int | None = None
    path: str | None = None


class FaultSchedule:
    """The plan that a server follows; safe to change while it answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plan: FaultPlan | None = None

    @property
    def current(self) -> FaultPlan | None:
        """Return the plan, None when it is used up."""
        with self._lock:
            return self._plan

    def follow(self, plan: FaultPlan | None) -> None:
        """Replace the plan; StubError for a fault that does not exist."""
        if plan and plan.name not in FAULTS:
            raise StubError(f"there is no fault {plan.name!r}; there are {', '.join(FAULTS)}")
        with self._lock:
            self._plan = plan if plan is None or plan.left != 0 else None

    def take(self, path: str) -> str | None:
        """Return the fault that a request to a path meets, and count it down."""
        with self._lock:
            plan = self._plan
            if plan is None or plan.path not in (None, path):
                return None
            if plan.left is not None:
                self._plan = replace(plan, left=plan.left - 1) if plan.left > 1 else None
            return plan.name


def split_fault_suffix(model: str) -> tuple[str, str | None]:
    """Split a model's name from the fault that it asks for, as in ``gpt-4o-mini-fault-429``."""
    suffix = _MODEL_SUFFIX.search(model)
    return (model[: suffix.start()], require_fault(suffix[1])) if suffix else (model, None)


def require_fault(name: str) -> str:
    """Return the name of a fault that a request asks for; OpenAIError if there is none such."""
    if name not in FAULTS:
        raise OpenAIError(f"There is no fault '{name}'. There are: {', '.join(FAULTS)}.")
    return name


def fault_reply(fault: str | None, retry_after: float) -> StubReply | None:
    """Make the reply that a fault puts in the place of the right one, if it does."""
    if fault is not None and fault in _STATUSES:
        status, message, kind, code = _STATUSES[fault]
        headers = {"Retry-After": f"{retry_after:g}"} if status in (429, 503) else {}
        return error_reply(OpenAIError(message, status=status, kind=kind, code=code), headers)
    return _REPLIES.get(fault or "")


def fault_delivery(fault: str | None) -> Delivery:
    """Return the way in which a fault lets a reply reach the client."""
    return next((delivery for delivery in get_args(Delivery) if delivery == fault), "whole")
