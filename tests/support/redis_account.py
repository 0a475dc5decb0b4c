"""The account of today's tokens in a Redis."""

import datetime as dt

import redis


def account(url: str) -> tuple[int, int]:
    """Read the tokens that are settled today and those that are reserved."""
    today = dt.datetime.now(dt.UTC).date()
    with redis.Redis.from_url(url) as client:
        sums = client.hmget(f"answerable:tokens:{today.isoformat()}", "claimed", "settled")
    claimed, settled = (int(each or 0) for each in sums)
    return settled, claimed - settled
