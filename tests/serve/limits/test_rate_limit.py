"""Limits in memory: what is admitted, what is refused, and what is remembered of it."""

import threading
import time
from collections.abc import Iterable
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


def counted(times: Iterable[float], now: float, seconds: int) -> int:
    return sum(at > now - seconds for at in times)


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


@pytest.mark.parametrize("text", ["", "20", "many/minute", "20/fortnight", "0/minute", "-1/hour"])
def test_invalid_rate_is_rejected_with_example(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate; write one such as 20/minute; 300/day"):
        parse_rates(text)
    with pytest.raises(ValueError, match="is not a rate"):
        create_rate_limiter("20/minute", text, None)


def test_moving_window_admits_exactly_its_rate() -> None:
    clock = Clock()
    limiter = create_rate_limiter("30/minute", "1000/minute", None, clock)
    for step in range(90):
        clock.now = NOON + 0.5 * step
        assert (limiter.admit("asker") is None) is (step < 30)
    # The first was at noon, so a minute after noon there is room for one.
    clock.now = NOON + 60
    assert [limiter.admit("asker") is None for _ in range(2)] == [True, False]


def test_refused_asker_takes_nothing_from_others() -> None:
    limiter = create_rate_limiter("1/minute", "2/minute", None, Clock())
    assert limiter.admit("one") is None
    assert limiter.admit("one") is not None
    assert limiter.admit("one") is not None
    assert limiter.admit("two") is None
    assert limiter.admit("three") is not None


def test_request_refused_overall_does_not_count_against_asker() -> None:
    clock = Clock()
    limiter = create_rate_limiter("2/hour", "1/minute", None, clock)
    assert limiter.admit("other") is None
    for _ in range(5):
        assert limiter.admit("asker") == pytest.approx(60)
    for _ in range(2):
        clock.now += 60
        assert limiter.admit("asker") is None


def test_longest_wait_of_full_windows_is_returned() -> None:
    limiter = create_rate_limiter("1/minute; 1/hour", "1/day", None, Clock())
    assert limiter.admit("asker") is None
    assert limiter.admit("asker") == pytest.approx(86_400)


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
    for step, asker in requests:
        clock.now += step

        def is_free(now: float, asker: str = asker) -> bool:
            own = [at for at, who in admitted if who == asker]
            everyone = [at for at, _ in admitted]
            return (
                counted(own, now, 10) < short
                and counted(own, now, 60) < long
                and counted(everyone, now, 30) < overall
            )

        wait = limiter.admit(asker)
        assert (wait is None) is is_free(clock.now)
        if wait is None:
            admitted.append((clock.now, asker))
        else:
            assert is_free(clock.now + wait)
            assert not any(is_free(clock.now + early) for early in range(int(wait)))


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
        admitted = [asker for each in pool.map(ask, range(16)) for asker in each]
    assert len(admitted) == 40
    assert max(map(admitted.count, admitted)) <= 7


def test_memory_windows_are_bounded_however_many_ask() -> None:
    (rate,) = parse_rates("1/minute")
    windows = MemoryWindows(Clock(), max_windows=100)
    for asker in range(1000):
        assert windows.hit(rate, f"asker {asker}")
        assert len(windows) <= 100
    # The last hundred are still known, and who was forgotten may ask again.
    assert not windows.hit(rate, "asker 900")
    assert windows.hit(rate, "asker 899")


def test_memory_windows_forget_who_has_not_asked_for_longest() -> None:
    (rate,) = parse_rates("2/minute")
    windows = MemoryWindows(Clock(), max_windows=2)
    for asker in ("often", "once", "often", "late"):
        assert windows.hit(rate, asker)
    assert not windows.hit(rate, "often")


def test_memory_windows_drop_entries_that_have_left_the_window() -> None:
    clock = Clock()
    rates = parse_rates("3/minute; 3/hour")
    windows = MemoryWindows(clock)
    for asker in range(50):
        for rate in rates:
            windows.hit(rate, f"asker {asker}")
    clock.now += 61
    for rate in rates:
        windows.hit(rate, "late")
    assert len(windows) == 1 + 51
