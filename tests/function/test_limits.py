"""Rates, the cap and slots, in memory and on a real Redis server that several processes share."""

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from answerable.engine.errors import PolicyError, StorageError
from answerable.function.guards import (
    Limits,
    MemoryStorage,
    RedisStorage,
    Slots,
    Storage,
    parse_rates,
)
from answerable.function.policy import Policy
from answerable.function.requests import Problem
from support.deadlines import PATIENCE
from support.redis_server import RedisServer
from support.server_processes import free_port

NOON = 1_714_564_800.0


def test_rates_are_read_with_the_shortest_window_first() -> None:
    assert parse_rates("300/day; 20/minute,1/second") == [(1, 1), (20, 60), (300, 86_400)]


@pytest.fixture(params=["memory", "redis"])
def storage(request: pytest.FixtureRequest) -> Storage:
    if request.param == "memory":
        return MemoryStorage(100)
    server: RedisServer = request.getfixturevalue("redis_server")
    return RedisStorage(server.url)


def test_values_and_numbers_are_kept_by_key(storage: Storage) -> None:
    assert storage.read("a") is None
    storage.write("a", b"one", 60)
    assert storage.read("a") == b"one"
    assert [storage.add("n", amount, 60) for amount in (1, 5)] == [1, 6]
    assert storage.read("n") == b"6"


def test_memory_forgets_what_ends_and_what_was_not_used_for_longest() -> None:
    now = [NOON]
    storage = MemoryStorage(2, lambda: now[0])
    storage.write("a", b"1", 10)
    storage.write("b", b"2", 10)
    assert storage.read("a") == b"1"
    storage.write("c", b"3", 10)
    assert (storage.read("a"), storage.read("b")) == (b"1", None)
    now[0] += 10
    assert (storage.read("a"), storage.add("c", 4, 10)) == (None, 4)


def refusal(count: Callable[[], None]) -> tuple[str, str] | None:
    """The code of a refusal and the seconds to wait, None where nothing is refused."""
    try:
        count()
    except Problem as problem:
        return problem.code, problem.headers["Retry-After"]
    return None


def test_rate_admits_its_amount_in_each_window_and_names_the_wait(storage: Storage) -> None:
    now = [NOON + 12]
    limits = Limits(storage, Policy(rate="2/minute", rate_all="3/hour"), lambda: now[0])

    def admit(asker: str, kind: str = "answer") -> tuple[str, str] | None:
        return refusal(lambda: limits.admit(asker, kind))

    assert [admit("ada") for _ in range(3)] == [None, None, ("rate-limited", "49")]
    # What was refused to one asker is counted against no other.
    assert [admit("bo") for _ in range(2)] == [None, ("rate-limited", "3589")]
    assert admit("ada", "search") is None
    now[0] += 48
    assert admit("ada") == ("rate-limited", "3541")


def test_day_is_spent_from_its_cap_on_and_the_next_one_is_new(storage: Storage) -> None:
    now = [NOON]
    limits = Limits(storage, Policy(tokens_per_day=100), lambda: now[0])
    limits.add_tokens(99)
    limits.check_tokens()
    limits.add_tokens(1)
    assert refusal(limits.check_tokens) == ("capped", "43200")
    now[0] += 86_400
    limits.check_tokens()
    Limits(storage, Policy(tokens_per_day=None)).check_tokens()
    assert refusal(Limits(storage, Policy(tokens_per_day=0)).check_tokens)


def test_slots_bound_all_and_each_asker() -> None:
    slots = Slots(3, 2)
    with slots.hold("ada", 0), slots.hold("ada", 0):
        for asker, seconds in (("ada", 0.01), ("ada", -1.0)):
            with (
                pytest.raises(Problem, match="Too many questions at once"),
                slots.hold(asker, seconds),
            ):
                pass
        with slots.hold("bo", 0), pytest.raises(Problem), slots.hold("cy", 0.01):
            pass
    with slots.hold("ada", 0), slots.hold("ada", 0), slots.hold("cy", 0):
        pass


def test_who_waits_for_a_slot_gets_it_when_it_is_free() -> None:
    slots, entered = Slots(1, 1), threading.Event()

    def hold() -> bool:
        with slots.hold("bo", PATIENCE):
            entered.set()
        return True

    with ThreadPoolExecutor(1) as pool:
        with slots.hold("ada", 0):
            waiting = pool.submit(hold)
            assert not entered.wait(0.05)
        assert waiting.result(PATIENCE)


ADMIT = """
import sys
from contextlib import suppress
from answerable.function.guards import Limits, RedisStorage
from answerable.function.policy import Policy
from answerable.function.requests import Problem
policy = Policy(rate="1000/day", rate_all="50/day", tokens_per_day=400)
limits = Limits(RedisStorage(sys.argv[1]), policy)
admitted, asked = 0, 0
for _ in range(40):
    with suppress(Problem):
        limits.admit("ada", "answer")
        admitted += 1
    with suppress(Problem):
        limits.check_tokens()
        limits.add_tokens(10)
        asked += 1
print(admitted, asked)
"""


def test_two_processes_share_one_rate_and_one_cap(redis_server: RedisServer) -> None:
    runs = [
        subprocess.Popen([sys.executable, "-c", ADMIT, redis_server.url], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    counts = [tuple(map(int, run.communicate(timeout=PATIENCE)[0].split())) for run in runs]
    assert sum(admitted for admitted, _ in counts) == 50
    # Each process may have one call under way when the last token is spent.
    assert 40 <= sum(asked for _, asked in counts) <= 41


def test_lost_server_is_a_storage_error_without_its_password() -> None:
    storage = RedisStorage(f"redis://:hunter2@127.0.0.1:{free_port()}/0")
    for use in (
        lambda: storage.write("a", b"", 1),
        lambda: storage.read("a"),
        lambda: storage.add("a", 1, 1),
    ):
        with pytest.raises(StorageError, match="check ANSWERABLE_REDIS_URL") as raised:
            use()
        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://:hunter2@host", "host:6379", ""])
def test_address_of_no_redis_is_a_policy_error_that_does_not_repeat_it(url: str) -> None:
    with pytest.raises(PolicyError, match="write it like redis://") as raised:
        RedisStorage(url)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None
