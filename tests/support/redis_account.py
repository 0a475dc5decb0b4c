"""The account of today's tokens in a Redis."""

import datetime as dt
from typing import Any

import redis


def account(url: str) -> tuple[int, int]:
    """Read the tokens that are settled today and those that are reserved."""
    today = dt.datetime.now(dt.UTC).date()
    with redis.Redis.from_url(url) as client:
        fields: Any = client.hgetall(f"answerable:tokens:{today.isoformat()}")
    settled = int(fields.pop(b"settled", 0))
    return settled, sum(int(value.split()[0]) for value in fields.values())
