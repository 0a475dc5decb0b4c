"""Limits, spending and answers that processes share over a real Redis."""

import secrets
import subprocess
import sys
from collections import Counter
from subprocess import PIPE

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.serve.limits.answer_cache import connect_redis, create_answer_cache
from answerable.serve.limits.rate_limit import create_rate_limiter
from answerable.serve.limits.token_budget import create_token_budget
from serve.limits.test_answer_cache import Maker, call_at_once
from serve.limits.test_token_budget import STEPS, Clock, Step, check_steps
from support.deadlines import PATIENCE
from support.redis_server import RedisServer
from support.server_processes import started
from support.token_budget_checks import attempt, refusal


def race(script: str, processes: int, *arguments: str) -> list[str]:
    """Start processes that are let go at once, and return what each prints.

    script: Python that prepares, then calls ``go()``, then prints a line. arguments: its argv[1:].
    """
    start = "def go():\n    print('ready', flush=True)\n    input()\n"
    command = [sys.executable, "-c", start + script, *arguments]
    racing = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    try:
        for each in racing:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in racing:
            assert each.stdin is not None
            each.stdin.write("\n")
            each.stdin.flush()
        printed = [each.communicate(timeout=PATIENCE)[0].strip() for each in racing]
    finally:
        for each in racing:
            each.kill()
            each.communicate()
    assert [each.returncode for each in racing] == [0] * processes
    return printed


WAIT = PATIENCE

LIMITED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from answerable.serve.limits.rate_limit import create_rate_limiter
few = create_rate_limiter("30/hour", "1000/hour", sys.argv[1])
many = create_rate_limiter("9/hour", "50/hour", sys.argv[1])
go()
with ThreadPoolExecutor(5) as pool:
    one = sum(wait is None for wait in pool.map(few.admit, ["asker"] * 25))
    all = sum(wait is None for wait in pool.map(many.admit, map(str, [*range(20)] * 5)))
print(one, all)
"""

SPENDING = """
import sys
from concurrent.futures import ThreadPoolExecutor
from answerable.serve.errors import BudgetError
from answerable.serve.limits.token_budget import create_token_budget
budget = create_token_budget(10_000, sys.argv[1])
budget.reserve(0)
def reserve(tokens):
    try:
        return budget.reserve(tokens)
    except BudgetError as error:
        assert error.transient
go()
with ThreadPoolExecutor(5) as pool:
    got = [each for each in pool.map(reserve, [130] * 100) if each]
    print(len(got))
"""

KILLED = """
import sys
from answerable.serve.limits.token_budget import create_token_budget
budget = create_token_budget(1000, sys.argv[1])
budget.reserve(300).settle(10)
budget.reserve(300).begin(40, 0)
print("begun", flush=True)
sys.stdin.read()
"""

ASKING = """
import sys, time
from answerable.serve.limits import answer_cache
from answerable.serve.limits.answer_cache import connect_redis
answer_cache._PUBLISHED_MILLISECONDS = 600_000
cache = answer_cache.create_answer_cache(10, 600, sys.argv[1])
count = connect_redis(sys.argv[1]).register_script("return redis.call('incr', KEYS[1])")
look = connect_redis(sys.argv[1]).register_script("return redis.call('get', KEYS[1]) or 0")
def answer(key, may_be_kept):
    looked = []
    def check():
        if not looked:
            looked.append(count(["waiting:" + key], []))
    def make():
        number = count(["made:" + key], [])
        while int(look(["waiting:" + key], [])) < 7:
            time.sleep(0.01)
        return b"answer %d" % number, may_be_kept
    return cache.get_or_make(key, make, 600, check)
go()
print(*answer("kept", True), *answer("not kept", False))
"""

DYING = """
import sys
from answerable.serve.limits.answer_cache import create_answer_cache
cache = create_answer_cache(10, 60, sys.argv[1])
def make():
    print("making", flush=True)
    sys.stdin.read()
cache.get_or_make("key", make, 600)
"""


def test_four_processes_admit_exactly_to_limits(redis_server: RedisServer) -> None:
    """A limit of one asker, and one of all of many askers."""
    admitted = [tuple(map(int, each.split())) for each in race(LIMITED, 4, redis_server.url)]
    assert [sum(each) for each in zip(*admitted, strict=True)] == [30, 50]


def test_refused_request_counts_nowhere_in_redis(redis_server: RedisServer) -> None:
    limiter = create_rate_limiter("2/hour", "3/hour", redis_server.url)
    for _ in range(2):
        assert limiter.admit("asker") is None
    for _ in range(5):
        assert limiter.admit("asker") == pytest.approx(3600, abs=60)
    assert limiter.admit("other") is None
    assert limiter.admit("other") is not None
    with redis.Redis.from_url(redis_server.url) as client:
        assert sorted(map(client.llen, client.keys("*"))) == [1, 2, 3]


def test_racing_reservations_of_four_processes_keep_cap(
    redis_server: RedisServer,
) -> None:
    total = sum(map(int, race(SPENDING, 4, redis_server.url)))
    purse = create_token_budget(10_000, redis_server.url)
    # Two who race for the last place may both lose it, and then it is still there.
    while total < 10_000 // 130:
        assert attempt(purse, 130)
        total += 1
    assert total == 10_000 // 130
    assert refusal(purse, 10_000 % 130 + 1) == "reserved"
    assert attempt(purse, 10_000 % 130) is not None


def account(server: RedisServer) -> tuple[int, int]:
    """Read the settled tokens of a server, and those that are reserved."""
    with redis.Redis.from_url(server.url) as client:
        (key,) = client.keys("answerable:tokens:*")
        assert 86_400 < client.ttl(key) <= 2 * 86_400
        claimed, settled = map(int, client.hmget(key, "claimed", "settled"))
    return settled, claimed - settled


def test_unused_tokens_return_once_in_redis(redis_server: RedisServer) -> None:
    purse = create_token_budget(100, redis_server.url)
    reservation = purse.reserve(100)
    assert account(redis_server) == (0, 100)
    reservation.begin(40, later=10)
    assert account(redis_server) == (0, 50)
    reservation.settle(30)
    reservation.settle(0)
    assert account(redis_server) == (30, 0)
    assert refusal(purse, 71) == "spent"
    purse.reserve(70).settle(75)
    assert refusal(purse, 0) == "spent"
    assert account(redis_server) == (105, 0)


def test_redis_that_lost_its_data_refunds_no_more_than_counted(
    redis_server: RedisServer,
) -> None:
    purse = create_token_budget(100, redis_server.url)
    first, second = purse.reserve(50), purse.reserve(50)
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        purse.reserve(10).settle(10)
        first.settle(0)
        assert account(redis_server) == (10, 0)
        second.begin(1, later=0)
        second.settle(1)
    assert account(redis_server) == (11, 0)


@settings(max_examples=20, deadline=None)
@given(cap=st.integers(0, 200), steps=STEPS)
def test_redis_budget_matches_memory_budget(
    shared_redis: RedisServer, cap: int, steps: list[Step]
) -> None:
    with redis.Redis.from_url(shared_redis.url) as client:
        client.flushall()
    purse = create_token_budget(cap, shared_redis.url)
    settled = check_steps(purse, cap, steps)
    attempt(purse, 0)
    assert account(shared_redis)[0] == settled


def test_clock_step_back_over_midnight_gives_no_second_cap_in_redis(
    redis_server: RedisServer,
) -> None:
    clock = Clock()
    purse = create_token_budget(100, redis_server.url, clock)
    purse.reserve(100).settle(100)
    clock.now += 20
    purse.reserve(99).settle(99)
    for _ in range(3):
        clock.now -= 20
        assert refusal(purse, 1) == "spent"
        clock.now += 20
        assert refusal(purse, 2) == "spent"
        assert refusal(purse, 1) is None


def test_killed_process_costs_the_day_its_reservation(redis_server: RedisServer) -> None:
    command = [sys.executable, "-c", KILLED, redis_server.url]
    with started(command, stdin=PIPE, stdout=PIPE, text=True) as dying:
        assert dying.stdout is not None
        assert dying.stdout.readline() == "begun\n"
        dying.kill()
    assert account(redis_server) == (10, 40)
    purse = create_token_budget(1000, redis_server.url)
    assert refusal(purse, 951) == "reserved"
    assert refusal(purse, 991) == "spent"
    assert attempt(purse, 950) is not None


def test_eight_processes_with_same_question_make_one_call(redis_server: RedisServer) -> None:
    """The same value for all of them, whether it may be kept or not."""
    got = [each.rpartition(" b'") for each in race(ASKING, 8, redis_server.url)]
    expected = {"answer 1' miss": 1, "answer 1' shared": 7}
    assert Counter(value.removeprefix("b'") for value, _, _ in got) == expected
    assert Counter(not_kept for _, _, not_kept in got) == expected
    cache = create_answer_cache(10, 60, redis_server.url)
    assert cache.get_or_make("kept", Maker(), WAIT) == (b"answer 1", "hit")


def test_unkept_value_goes_to_waiting_callers_only_in_redis(
    redis_server: RedisServer,
) -> None:
    cache = create_answer_cache(10, 60, redis_server.url)
    make = Maker(may_be_kept=False)
    assert [cache.get_or_make("key", make, WAIT) for _ in range(2)] == [
        (b"1", "miss"),
        (b"2", "miss"),
    ]


def test_error_goes_to_its_maker_and_next_caller_tries_in_redis(
    redis_server: RedisServer,
) -> None:
    cache = create_answer_cache(10, 60, redis_server.url)
    make = Maker(seconds=0.1, fails=lambda number: number <= 2)
    got = call_at_once(6, lambda: cache.get_or_make("key", make, WAIT))
    failed = sorted(str(each) for each in got if isinstance(each, RuntimeError))
    assert failed == ["attempt 1", "attempt 2"]
    assert {str(each[0]) for each in got if isinstance(each, tuple)} == {"b'3'"}
    assert (make.count, make.most_at_once) == (3, 1)


def test_dead_lock_owner_frees_key_when_lease_ends(redis_server: RedisServer) -> None:
    command = [sys.executable, "-c", DYING, redis_server.url]
    with started(command, stdin=PIPE, stdout=PIPE, text=True) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "making\n"
    cache, make = create_answer_cache(10, 60, redis_server.url), Maker()
    with pytest.raises(TimeoutError, match="ask again"):
        cache.get_or_make("key", make, 0.1)
    assert make.count == 0
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.pexpire("answerable:answering:key", 1)
    assert cache.get_or_make("key", make, WAIT) == (b"1", "miss")


def test_lock_of_another_owner_is_not_released(redis_server: RedisServer) -> None:
    cache = create_answer_cache(10, 0, redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:

        def make(*, fails: bool) -> tuple[bytes, bool]:
            client.set("answerable:answering:key", "another", px=60_000)
            if fails:
                raise RuntimeError("no answer")
            return b"late", True

        assert cache.get_or_make("key", lambda: make(fails=False), WAIT) == (b"late", "miss")
        assert client.getdel("answerable:answering:key") == b"another"
        with pytest.raises(RuntimeError, match="no answer"):
            cache.get_or_make("key", lambda: make(fails=True), WAIT)
        assert client.get("answerable:answering:key") == b"another"


def test_every_key_has_prefix_and_expiry(redis_server: RedisServer) -> None:
    url = redis_server.url
    create_rate_limiter("10/minute; 300/day", "600/minute", url).admit(secrets.token_hex(8))
    create_token_budget(100, url).reserve(1)
    cache = create_answer_cache(10, 60, url)
    cache.get_or_make("kept", lambda: (b"1", True), WAIT)
    cache.get_or_make("told", lambda: (b"2", False), WAIT)
    with redis.Redis.from_url(url) as client:
        keys = [key.decode() for key in client.keys("*")]
        assert len(keys) == 7
        assert all(key.startswith("answerable:") for key in keys)
        assert all(client.pttl(key) > 0 for key in keys)


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_valkey_urls_connect(redis_server: RedisServer, scheme: str) -> None:
    store = connect_redis(redis_server.url.replace("redis", scheme, 1))
    store.ping()
