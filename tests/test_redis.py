"""Limits, spending and answers that processes share over a real Redis."""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING

import pytest
import redis

from answerable.serve.protection import answer_cache, limiting, redis_store, spending
from racing import race
from test_answer_cache import Maker, together

if TYPE_CHECKING:
    from redis_server import RedisServer


WAIT = 20.0

LIMITED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from answerable.serve.protection import limiting
few = limiting.limiter("30/minute", "1000/minute", sys.argv[1])
many = limiting.limiter("9/minute", "50/minute", sys.argv[1])
go()
with ThreadPoolExecutor(5) as pool:
    one = sum(wait is None for wait in pool.map(few.admit, ["asker"] * 25))
    all = sum(wait is None for wait in pool.map(many.admit, map(str, [*range(20)] * 5)))
print(one, all)
"""

SPENDING = """
import sys
from concurrent.futures import ThreadPoolExecutor
from answerable.serve.protection import spending
purse = spending.purse(10_000, sys.argv[1])
purse.reserve(0)
go()
with ThreadPoolExecutor(5) as pool:
    got = [each for each in pool.map(purse.reserve, [130] * 100) if each]
    print(len(got))
"""

ASKING = """
import sys, time
from answerable.serve.protection import answer_cache, redis_store
cache = answer_cache.cache(10, 60, sys.argv[1])
count = redis_store.connect(sys.argv[1]).script("return redis.call('incr', KEYS[1])")
look = redis_store.connect(sys.argv[1]).script("return redis.call('get', KEYS[1])")
def asked(key, may_be_kept):
    count(["there:" + key], [])
    while int(look(["there:" + key], [])) < 8:
        time.sleep(0.01)
    def make():
        number = count(["made:" + key], [])
        time.sleep(1.0)
        return b"answer %d" % number, may_be_kept
    return cache.once(key, make, 20)
go()
print(*asked("kept", True), *asked("not kept", False))
"""

DYING = """
import sys, time
from answerable.serve.protection import answer_cache
cache = answer_cache.cache(10, 60, sys.argv[1])
def make():
    print("making", flush=True)
    time.sleep(60)
cache.once("key", make, 0.5)
"""


def test_four_processes_admit_exactly_what_the_limits_say(redis_server: RedisServer) -> None:
    """A limit of one asker, and one of all of many askers."""
    admitted = [tuple(map(int, each.split())) for each in race(LIMITED, 4, redis_server.url)]
    assert [sum(each) for each in zip(*admitted, strict=True)] == [30, 50]


def test_in_redis_a_refused_request_counts_nowhere(redis_server: RedisServer) -> None:
    limiter = limiting.limiter("2/hour", "3/hour", redis_server.url)
    for _ in range(2):
        assert limiter.admit("asker") is None
    for _ in range(5):
        assert limiter.admit("asker") == pytest.approx(3600, abs=60)
    assert limiter.admit("other") is None
    assert limiter.admit("other") is not None
    with redis.Redis.from_url(redis_server.url) as client:
        assert sorted(map(client.llen, client.keys("*"))) == [1, 2, 3]


def test_four_hundred_racing_reservations_of_four_processes_keep_the_cap(
    redis_server: RedisServer,
) -> None:
    got = race(SPENDING, 4, redis_server.url)
    assert sum(map(int, got)) == 10_000 // 130
    purse = spending.purse(10_000, redis_server.url)
    assert purse.reserve(10_000 % 130 + 1) is None
    assert purse.reserve(10_000 % 130) is not None


def test_in_redis_what_was_not_used_comes_back_once(redis_server: RedisServer) -> None:
    purse = spending.purse(100, redis_server.url)
    reservation = purse.reserve(100)
    assert reservation is not None
    reservation.settle(30)
    reservation.settle(0)
    assert purse.reserve(71) is None
    more = purse.reserve(70)
    assert more is not None
    more.settle(75)
    assert purse.reserve(0) is None
    with redis.Redis.from_url(redis_server.url) as client:
        (key,) = client.keys("*")
        assert client.get(key) == b"105"
        assert 86_400 < client.ttl(key) <= 2 * 86_400
        # A server that lost its memory gives back no more than it has counted.
        client.flushall()
        first = purse.reserve(50)
        assert first is not None
        client.set(key, 10)
        first.settle(0)
        assert client.get(key) == b"0"


def test_eight_processes_with_the_same_question_make_one_call(redis_server: RedisServer) -> None:
    """The same value for all of them, whether it may be kept or not."""
    got = [each.rpartition(" b'") for each in race(ASKING, 8, redis_server.url)]
    expected = {"answer 1' miss": 1, "answer 1' shared": 7}
    assert Counter(kept.removeprefix("b'") for kept, _, _ in got) == expected
    assert Counter(not_kept for _, _, not_kept in got) == expected
    cache = answer_cache.cache(10, 60, redis_server.url)
    assert cache.once("kept", Maker(), WAIT) == (b"answer 1", "hit")


def test_in_redis_what_may_not_be_kept_is_for_those_who_waited_already(
    redis_server: RedisServer,
) -> None:
    cache = answer_cache.cache(10, 60, redis_server.url)
    make = Maker(may_be_kept=False)
    assert [cache.once("key", make, WAIT) for _ in range(2)] == [(b"1", "miss"), (b"2", "miss")]


def test_in_redis_an_error_is_its_makers_and_the_others_try_one_after_the_other(
    redis_server: RedisServer,
) -> None:
    cache = answer_cache.cache(10, 60, redis_server.url)
    make = Maker(seconds=0.1, fails=lambda number: number <= 2)
    got = together(6, lambda: cache.once("key", make, WAIT))
    failed = sorted(str(each) for each in got if isinstance(each, RuntimeError))
    assert failed == ["attempt 1", "attempt 2"]
    assert {str(each[0]) for each in got if isinstance(each, tuple)} == {"b'3'"}
    assert (make.made, make.most_at_once) == (3, 1)


def test_a_leader_that_died_frees_its_key_when_its_lease_ends(redis_server: RedisServer) -> None:
    command = [sys.executable, "-c", DYING, redis_server.url]
    with Popen(command, stdout=PIPE, text=True) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "making\n"
        leader.kill()
    cache, make = answer_cache.cache(10, 60, redis_server.url), Maker()
    with pytest.raises(TimeoutError, match="ask again"):
        cache.once("key", make, 0.1)
    assert make.made == 0
    assert cache.once("key", make, WAIT) == (b"1", "miss")


def test_a_lock_that_is_no_longer_its_owners_is_left_alone(redis_server: RedisServer) -> None:
    cache = answer_cache.cache(10, 0, redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:

        def make(*, fails: bool) -> tuple[bytes, bool]:
            client.set("answerable:answering:key", "another", px=60_000)
            if fails:
                raise RuntimeError("no answer")
            return b"late", True

        assert cache.once("key", lambda: make(fails=False), WAIT) == (b"late", "miss")
        assert client.getdel("answerable:answering:key") == b"another"
        with pytest.raises(RuntimeError, match="no answer"):
            cache.once("key", lambda: make(fails=True), WAIT)
        assert client.get("answerable:answering:key") == b"another"


def test_every_key_has_the_prefix_and_an_end(redis_server: RedisServer) -> None:
    url = redis_server.url
    limiting.limiter("10/minute; 300/day", "600/minute", url).admit(secrets.token_hex(8))
    spending.purse(100, url).reserve(1)
    cache = answer_cache.cache(10, 60, url)
    cache.once("kept", lambda: (b"1", True), WAIT)
    cache.once("told", lambda: (b"2", False), WAIT)
    redis_store.connect(url).set_once("challenge:solved", 60)
    with redis.Redis.from_url(url) as client:
        keys = [key.decode() for key in client.keys("*")]
        assert len(keys) == 8
        assert all(key.startswith("answerable:") for key in keys)
        assert all(client.pttl(key) > 0 for key in keys)


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_valkey_is_another_name_for_the_same(redis_server: RedisServer, scheme: str) -> None:
    store = redis_store.connect(redis_server.url.replace("redis", scheme, 1))
    assert store.set_once("key", 60)
