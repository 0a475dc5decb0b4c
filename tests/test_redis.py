"""Limits, spending and answers that processes share over a real Redis, and Redis going away."""

from __future__ import annotations

import secrets
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING

import pytest
import redis

from answerable.serve import answer_cache, limiting, redis_store, spending
from answerable.serve.errors import PolicyError, StorageError
from lossy import LossyLine
from racing import race
from test_answer_cache import Maker, together

if TYPE_CHECKING:
    from redis_server import RedisServer

pytest_plugins = ["redis_server"]

WAIT = 20.0
# Far more than a store that is away may take, far less than a reader's patience.
SOON = 5.0

LIMITED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from answerable.serve import limiting
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
from answerable.serve import spending
purse = spending.purse(10_000, sys.argv[1])
purse.reserve(0)
go()
with ThreadPoolExecutor(5) as pool:
    got = [each for each in pool.map(purse.reserve, [130] * 100) if each]
    print(len(got))
"""

ASKING = """
import sys, time
from answerable.serve import answer_cache, redis_store
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
from answerable.serve import answer_cache
cache = answer_cache.cache(10, 60, sys.argv[1])
def make():
    print("making", flush=True)
    time.sleep(60)
cache.once("key", make, 0.5)
"""


def promptly(call: Callable[[], object], error: type[Exception]) -> None:
    """The call raises, and does not let anyone wait for it."""
    start = time.monotonic()
    with pytest.raises(error):
        call()
    assert time.monotonic() - start < SOON


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


def test_a_killed_redis_stops_everything_at_once_and_a_new_one_starts_it_again(
    redis_server: RedisServer,
) -> None:
    url = redis_server.url
    store = redis_store.connect(url)
    limiter = limiting.limiter("10/minute", "10/minute", url)
    purse = spending.purse(100, url)
    cache, make = answer_cache.cache(10, 60, url), Maker()

    def all_work() -> None:
        store.ping()
        assert limiter.admit("asker") is None
        assert purse.reserve(60) is not None
        assert purse.reserve(60) is None
        assert cache.once("key", make, WAIT) == (b"%d" % make.made, "miss")
        assert cache.once("key", make, WAIT) == (b"%d" % make.made, "hit")
        assert store.set_once("solved", 60)
        assert not store.set_once("solved", 60)

    all_work()
    for round_ in range(1, 3):
        redis_server.kill()
        promptly(store.ping, StorageError)
        promptly(lambda: limiter.admit("asker"), StorageError)
        promptly(lambda: purse.reserve(1), StorageError)
        promptly(lambda: cache.once("key", make, WAIT), StorageError)
        promptly(lambda: cache.once("new", make, WAIT), StorageError)
        promptly(lambda: store.set_once("new", 60), StorageError)
        assert make.made == round_
        redis_server.start()
        all_work()


def test_a_redis_that_hangs_is_as_good_as_away(redis_server: RedisServer) -> None:
    limiter = limiting.limiter("10/minute", "10/minute", redis_server.url)
    assert limiter.admit("asker") is None
    assert redis_server.process is not None
    redis_server.process.send_signal(signal.SIGSTOP)
    promptly(lambda: limiter.admit("asker"), StorageError)
    redis_server.process.send_signal(signal.SIGCONT)
    assert limiter.admit("asker") is None


def test_a_redis_killed_while_an_answer_is_made_takes_it_from_nobody_who_has_it(
    redis_server: RedisServer,
) -> None:
    url = redis_server.url
    cache, purse = answer_cache.cache(10, 60, url), spending.purse(100, url)
    begun, killed = threading.Event(), threading.Event()

    def make() -> tuple[bytes, bool]:
        reservation = purse.reserve(100)
        assert reservation is not None
        begun.set()
        assert killed.wait(WAIT)
        reservation.settle(0)
        return b"answer", True

    follows = Maker()
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(cache.once, "key", make, WAIT)
        assert begun.wait(WAIT)
        follower = pool.submit(cache.once, "key", follows, WAIT)
        time.sleep(0.1)
        redis_server.kill()
        promptly(lambda: follower.result(WAIT), StorageError)
        killed.set()
        assert leader.result(WAIT) == (b"answer", "miss")
    assert follows.made == 0


def test_an_error_of_make_outlives_a_killed_redis(redis_server: RedisServer) -> None:
    cache = answer_cache.cache(10, 60, redis_server.url)

    def make() -> tuple[bytes, bool]:
        redis_server.kill()
        raise RuntimeError("no answer")

    promptly(lambda: cache.once("key", make, WAIT), RuntimeError)


def test_where_a_reply_is_lost_nothing_is_given_back_twice(redis_server: RedisServer) -> None:
    with (
        redis.Redis.from_url(redis_server.url) as client,
        LossyLine(redis_server.port) as line,
    ):
        purse = spending.purse(100, f"redis://127.0.0.1:{line.port}/0")
        reservation = purse.reserve(50)
        assert reservation is not None
        reservation.settle(49)
        (key,) = client.keys("*")
        line.loses = True
        # It may have been done, so it is done again and counted twice: never too little.
        reservation = purse.reserve(20)
        assert reservation is not None
        assert client.get(key) == b"89"
        line.loses = True
        reservation.settle(5)
        assert client.get(key) == b"74"


def test_a_lock_whose_reply_was_lost_is_still_its_owners(redis_server: RedisServer) -> None:
    with LossyLine(redis_server.port) as line:
        url = f"redis://127.0.0.1:{line.port}/0"
        cache, make = answer_cache.cache(10, 60, url), Maker()
        assert cache.once("warm", make, WAIT) == (b"1", "miss")
        line.loses = True
        assert cache.once("key", make, WAIT) == (b"2", "miss")
        assert cache.once("key", make, WAIT) == (b"2", "hit")


def test_what_was_solved_counts_once_even_if_the_reply_was_lost(redis_server: RedisServer) -> None:
    with LossyLine(redis_server.port) as line:
        store = redis_store.connect(f"redis://127.0.0.1:{line.port}/0")
        assert store.set_once("first", 60)
        line.loses = True
        with pytest.raises(StorageError):
            store.set_once("second", 60)
        assert not store.set_once("second", 60)


def test_connections_that_were_long_idle_are_opened_anew(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = redis_store.connect(redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:

        def connections() -> int:
            return int(client.info("stats")["total_connections_received"])

        store.ping()
        before = connections()
        store.ping()
        assert connections() == before
        monkeypatch.setattr(redis_store, "_IDLE", -1.0)
        store.ping()
        assert connections() == before + 1


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


def test_an_address_without_a_server_is_away_and_a_wrong_one_is_told_without_its_password() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"redis://:hunter2@127.0.0.1:{free.getsockname()[1]}/0"
    limiter = limiting.limiter("10/minute", "10/minute", url)
    promptly(lambda: limiter.admit("asker"), StorageError)
    with pytest.raises(StorageError) as away:
        spending.purse(10, url).reserve(1)
    for wrong in ("http://:hunter2@store", "hunter2", "redis://:hunter2@store:port"):
        with pytest.raises(PolicyError, match="write it like redis://host:6379/0") as refused:
            redis_store.connect(wrong)
        assert "hunter2" not in str(refused.value)
        assert refused.value.__cause__ is None
    assert "hunter2" not in str(away.value)
    assert "hunter2" not in str(away.value.__cause__)


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_valkey_is_another_name_for_the_same(redis_server: RedisServer, scheme: str) -> None:
    store = redis_store.connect(redis_server.url.replace("redis", scheme, 1))
    assert store.set_once("key", 60)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(PolicyError, match="the package redis is not installed"):
        redis_store.Store("redis://store")
