"""Rates in memory: what is admitted, what is refused, and what is remembered of it."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.limits.rate_limit import MemoryWindows, create_rate_limiter, parse_rates

NOON = 1_700_000_000.0


@dataclass
class Clock:
    now: float = NOON

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20/minute; 300/day", [(20, 60), (300, 86_400)]),
        ("300/day;20/minute", [(20, 60), (300, 86_400)]),
        ("5 per 10 seconds", [(5, 10)]),
    ],
)
def test_rates_are_parsed_shortest_window_first(text: str, expected: list[tuple[int, int]]) -> None:
    assert [(rate.amount, rate.get_expiry()) for rate in parse_rates(text)] == expected


def test_refused_request_counts_for_nobody() -> None:
    clock = Clock()
    limiter = create_rate_limiter("1/minute; 2/hour", "2/minute", None, clock)
    assert limiter.admit("one") is None
    assert limiter.admit("one") == pytest.approx(60)
    assert limiter.admit("two") is None
    # It is refused for all, and so has its own two questions left.
    assert limiter.admit("three") == pytest.approx(60)
    for _ in range(2):
        clock.now += 60
        assert limiter.admit("three") is None
    assert limiter.admit("three") == pytest.approx(3540)


@given(
    requests=st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abc")), max_size=80),
    short=st.integers(1, 4),
    long=st.integers(1, 6),
    overall=st.integers(1, 8),
)
def test_windows_and_waits_match_model(
    requests: list[tuple[int, str]], short: int, long: int, overall: int
) -> None:
    clock = Clock()
    per_asker = f"{short}/10 second; {long}/minute"
    limiter = create_rate_limiter(per_asker, f"{overall}/30 second", None, clock)
    admitted: list[tuple[float, str]] = []

    def count(now: float, seconds: int, askers: str) -> int:
        return sum(at > now - seconds and asker in askers for at, asker in admitted)

    def is_free(now: float, asker: str) -> bool:
        return (
            count(now, 10, asker) < short
            and count(now, 60, asker) < long
            and count(now, 30, "abc") < overall
        )

    for step, asker in requests:
        clock.now += step
        wait = limiter.admit(asker)
        assert (wait is None) is is_free(clock.now, asker)
        if wait is None:
            admitted.append((clock.now, asker))
        else:
            assert is_free(clock.now + wait, asker)
            assert not any(is_free(clock.now + early, asker) for early in range(int(wait)))


def test_racing_threads_are_admitted_exactly_to_limits() -> None:
    def clock() -> float:
        # Lets another thread run in the middle of what has to be done at once.
        time.sleep(0)
        return NOON

    limiter = create_rate_limiter("7/minute", "40/minute", None, clock)
    barrier = threading.Barrier(16)

    def ask(thread: int) -> list[str]:
        barrier.wait()
        askers = [f"asker {(thread + turn) % 8}" for turn in range(20)]
        return [asker for asker in askers if limiter.admit(asker) is None]

    with ThreadPoolExecutor(16) as pool:
        admitted = [asker for askers in pool.map(ask, range(16)) for asker in askers]
    assert len(admitted) == 40
    assert max(map(admitted.count, admitted)) <= 7


def test_memory_windows_are_bounded_and_forget_who_has_not_asked_for_longest() -> None:
    (rate,) = parse_rates("1/minute")
    windows = MemoryWindows(Clock(), max_windows=100)
    for asker in range(1000):
        assert windows.hit(rate, f"asker {asker}")
        assert len(windows) <= 100
    assert not windows.hit(rate, "asker 900")
    assert windows.hit(rate, "asker 899")


def test_memory_windows_drop_entries_that_have_left_the_window() -> None:
    clock = Clock()
    (rate,) = parse_rates("3/minute")
    windows = MemoryWindows(clock)
    for asker in range(50):
        windows.hit(rate, f"asker {asker}")
    clock.now += 61
    windows.hit(rate, "late")
    assert len(windows) == 1
