"""Answers in memory, made by one caller at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.limits.answer_cache import MemoryAnswerCache, create_answer_cache
from support.deadlines import PATIENCE, until


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Maker:
    """Makes numbered values, and fails for as long as it is told to."""

    may_be_stored: bool = True
    failures: int = 0
    count: int = 0
    is_alone: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> tuple[bytes, bool]:
        assert self.is_alone.acquire(blocking=False), "two callers make a value at once"
        try:
            self.count += 1
            if self.count <= self.failures:
                raise RuntimeError(f"attempt {self.count}")
            return b"%d" % self.count, self.may_be_stored
        finally:
            self.is_alone.release()


def call_at_once(count: int, call: Callable[[], object]) -> list[str]:
    """Call from several threads at once, and sort their results and errors as texts."""
    barrier = threading.Barrier(count)

    def call_with_others(_: int) -> str:
        barrier.wait()
        try:
            return str(call())
        except RuntimeError as error:
            return str(error)

    with ThreadPoolExecutor(count) as pool:
        return sorted(pool.map(call_with_others, range(count)))


def test_value_that_may_not_be_stored_is_made_again() -> None:
    cache, make = create_answer_cache(10, 60, None), Maker(may_be_stored=False)
    values = [cache.get_or_make("key", make, PATIENCE) for _ in range(2)]
    assert values == [(b"1", "miss"), (b"2", "miss")]


@pytest.mark.parametrize(("entries", "seconds"), [(0, 60), (10, 0)])
def test_zero_entries_or_seconds_cache_nothing(entries: int, seconds: int) -> None:
    cache, make = create_answer_cache(entries, seconds, None), Maker()
    assert [cache.get_or_make("key", make, PATIENCE)[0] for _ in range(2)] == [b"1", b"2"]


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
        value, outcome = cache.get_or_make(key, make, PATIENCE)
        assert outcome == ("hit" if is_cached else "miss")
        if is_cached:
            assert value == model[key][1]
        else:
            model[key] = (clock.now + 10, value)
        model.move_to_end(key)
        if len(model) > entries:
            model.popitem(last=False)


@pytest.mark.parametrize("may_be_stored", [True, False])
def test_concurrent_callers_share_one_value(may_be_stored: bool) -> None:
    cache = create_answer_cache(10, 60, None)
    waiting: set[int] = set()

    def make() -> tuple[bytes, bool]:
        until(lambda: len(waiting) == 7)
        return b"value", may_be_stored

    def count_waiting() -> None:
        waiting.add(threading.get_ident())

    results = call_at_once(8, lambda: cache.get_or_make("key", make, PATIENCE, count_waiting))
    assert results == ["(b'value', 'miss')"] + ["(b'value', 'shared')"] * 7


def test_different_keys_do_not_wait_for_each_other() -> None:
    cache = create_answer_cache(10, 60, None)
    inside = threading.Barrier(4, timeout=PATIENCE)

    def make() -> tuple[bytes, bool]:
        inside.wait()
        return b"value", True

    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda key: cache.get_or_make(key, make, PATIENCE), "abcd"))
    assert values == [(b"value", "miss")] * 4


def test_error_goes_to_its_maker_and_next_caller_tries() -> None:
    cache, make = create_answer_cache(10, 60, None), Maker(failures=3)
    results = call_at_once(8, lambda: cache.get_or_make("key", make, PATIENCE)[0])
    assert results == ["attempt 1", "attempt 2", "attempt 3", *["b'4'"] * 5]


def test_interrupt_frees_the_key() -> None:
    cache = create_answer_cache(10, 60, None)

    def interrupted() -> tuple[bytes, bool]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.get_or_make("key", interrupted, PATIENCE)
    assert cache.get_or_make("key", Maker(), PATIENCE) == (b"1", "miss")


def test_waiting_too_long_is_timeout_and_value_is_still_cached() -> None:
    cache = create_answer_cache(10, 60, None)
    begun, may_end = threading.Event(), threading.Event()

    def make() -> tuple[bytes, bool]:
        begun.set()
        assert may_end.wait(PATIENCE)
        return b"value", True

    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(cache.get_or_make, "key", make, PATIENCE)
        assert begun.wait(PATIENCE)
        for seconds in (0.05, -1.0):
            with pytest.raises(TimeoutError, match="ask again"):
                cache.get_or_make("key", Maker(), seconds)
        may_end.set()
        assert leader.result(PATIENCE) == (b"value", "miss")
    assert cache.get_or_make("key", Maker(), PATIENCE) == (b"value", "hit")
