"""Answers kept in memory, and made by one caller at a time."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.limits.answer_cache import (
    CacheOutcome,
    MemoryAnswerCache,
    create_answer_cache,
)
from support.deadlines import PATIENCE, until

WAIT = PATIENCE


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Maker:
    """Make numbered values; count them, and how many are made at once."""

    may_be_kept: bool = True
    seconds: float = 0.0
    fails: Callable[[int], bool] = lambda _: False
    count: int = 0
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> tuple[bytes, bool]:
        with self.lock:
            self.count += 1
            number = self.count
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.seconds)
            if self.fails(number):
                raise RuntimeError(f"attempt {number}")
            return b"%d" % number, self.may_be_kept
        finally:
            with self.lock:
                self.at_once -= 1


def call_at_once(count: int, call: Callable[[], tuple[bytes, CacheOutcome]]) -> list[object]:
    """Call from several threads at once; collect each value and outcome, or error."""
    barrier = threading.Barrier(count)

    def one(_: int) -> object:
        barrier.wait()
        try:
            return call()
        except (RuntimeError, TimeoutError) as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_value_is_made_once_and_cached() -> None:
    cache, make = create_answer_cache(10, 60, None), Maker()
    assert cache.get_or_make("key", make, WAIT) == (b"1", "miss")
    assert cache.get_or_make("key", make, WAIT) == (b"1", "hit")
    assert cache.get_or_make("other", make, WAIT) == (b"2", "miss")


def test_value_that_may_not_be_kept_is_made_again() -> None:
    cache, make = create_answer_cache(10, 60, None), Maker(may_be_kept=False)
    assert [cache.get_or_make("key", make, WAIT) for _ in range(2)] == [
        (b"1", "miss"),
        (b"2", "miss"),
    ]


@pytest.mark.parametrize(("entries", "seconds"), [(0, 60), (10, 0)])
def test_zero_entries_or_seconds_cache_nothing(entries: int, seconds: int) -> None:
    cache, make = create_answer_cache(entries, seconds, None), Maker()
    assert [cache.get_or_make("key", make, WAIT)[0] for _ in range(2)] == [b"1", b"2"]


def test_empty_value_is_cached() -> None:
    cache = create_answer_cache(10, 60, None)
    assert cache.get_or_make("key", lambda: (b"", True), WAIT) == (b"", "miss")
    assert cache.get_or_make("key", Maker(), WAIT) == (b"", "hit")


@given(
    entries=st.integers(1, 4),
    steps=st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 6)), max_size=60),
)
def test_cache_matches_lru_model_with_expiry(entries: int, steps: list[tuple[str, int]]) -> None:
    clock, make = Clock(), Maker()
    cache = MemoryAnswerCache(entries, 10, clock)
    model: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
    for key, step in steps:
        clock.now += step
        if key in model and model[key][0] <= clock.now:
            del model[key]
        is_cached = key in model
        value, outcome = cache.get_or_make(key, make, WAIT)
        assert outcome == ("hit" if is_cached else "miss")
        if is_cached:
            assert value == model[key][1]
        else:
            model[key] = (clock.now + 10, value)
        model.move_to_end(key)
        if len(model) > entries:
            model.popitem(last=False)


@pytest.mark.parametrize("may_be_kept", [True, False])
def test_concurrent_callers_share_one_value(may_be_kept: bool) -> None:
    cache = create_answer_cache(10, 60, None)
    waiting: set[int] = set()

    def make() -> tuple[bytes, bool]:
        until(lambda: len(waiting) == 7)
        return b"value", may_be_kept

    def count_waiting() -> None:
        waiting.add(threading.get_ident())

    got = call_at_once(8, lambda: cache.get_or_make("key", make, WAIT, count_waiting))
    assert sorted(map(str, got)) == ["(b'value', 'miss')"] + ["(b'value', 'shared')"] * 7


def test_different_keys_do_not_wait_for_each_other() -> None:
    cache = create_answer_cache(10, 60, None)
    inside = threading.Barrier(4, timeout=WAIT)

    def make() -> tuple[bytes, bool]:
        inside.wait()
        return b"value", True

    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda key: cache.get_or_make(key, make, WAIT), "abcd"))
    assert got == [(b"value", "miss")] * 4


def test_error_goes_to_its_maker_and_next_caller_tries() -> None:
    cache = create_answer_cache(10, 60, None)
    make = Maker(seconds=0.05, fails=lambda number: number <= 3)
    got = call_at_once(8, lambda: cache.get_or_make("key", make, WAIT))
    assert sorted(str(each) for each in got if isinstance(each, RuntimeError)) == [
        "attempt 1",
        "attempt 2",
        "attempt 3",
    ]
    assert {str(each[0]) for each in got if isinstance(each, tuple)} == {"b'4'"}
    assert (make.count, make.most_at_once) == (4, 1)


def test_each_failing_caller_gets_its_own_error() -> None:
    cache = create_answer_cache(10, 60, None)
    make = Maker(seconds=0.02, fails=lambda _: True)
    got = call_at_once(6, lambda: cache.get_or_make("key", make, WAIT))
    assert sorted(map(str, got)) == [f"attempt {number}" for number in range(1, 7)]
    assert make.most_at_once == 1
    assert cache.get_or_make("key", Maker(), WAIT) == (b"1", "miss")


def test_interrupt_frees_the_key() -> None:
    cache = create_answer_cache(10, 60, None)

    def interrupted() -> tuple[bytes, bool]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.get_or_make("key", interrupted, WAIT)
    assert cache.get_or_make("key", Maker(), WAIT) == (b"1", "miss")


def test_waiting_too_long_is_timeout_and_value_is_still_cached() -> None:
    cache = create_answer_cache(10, 60, None)
    begun, may_end = threading.Event(), threading.Event()

    def make() -> tuple[bytes, bool]:
        begun.set()
        assert may_end.wait(WAIT)
        return b"value", True

    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(cache.get_or_make, "key", make, WAIT)
        assert begun.wait(WAIT)
        for wait in (0.05, 0.0, -1.0):
            with pytest.raises(TimeoutError, match="ask again"):
                cache.get_or_make("key", Maker(), wait)
        follower = threading.Thread(target=may_end.set)
        follower.start()
        assert cache.get_or_make("key", Maker(), float("inf"))[0] == b"value"
        follower.join()
        assert leader.result(WAIT) == (b"value", "miss")
