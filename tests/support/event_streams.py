"""Responses of events, read as they come."""

import json
from collections.abc import Iterable, Iterator
from typing import Any


def events(lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The events of a response in their order, comments left out."""
    name = ""
    for line in lines:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
        else:
            assert field in ("", ":")
