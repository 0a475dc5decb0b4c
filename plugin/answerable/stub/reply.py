"""What the stub sends back, before it meets the network."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .errors import ApiError

# How a reply reaches the client; ``faults`` says what each of them does.
Delivery = Literal["whole", "hang", "drip", "cut", "drop", "truncated"]


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, headers and a body; a stream's body is sent chunk by chunk."""

    chunks: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: bool = False
    delivery: Delivery = "whole"


def of_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A JSON reply. Escaped to ASCII, so that even a lone surrogate can be sent."""
    return Reply((json.dumps(value).encode("ascii"),), status, headers=headers or {})


def of_error(error: ApiError, headers: Mapping[str, str] | None = None) -> Reply:
    """The reply that an error is sent as."""
    return of_json(error.body, error.status, headers)


def of_events(chunks: Iterable[bytes]) -> Reply:
    """A stream of server-sent events, one chunk each."""
    return Reply(tuple(chunks), content_type="text/event-stream; charset=utf-8", stream=True)
