"""The cap of a day in memory: reserved, settled, never passed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.protection import spending
from answerable.serve.protection.spending import Purse, Reservation

# 2023-11-14 23:59:50 UTC.
BEFORE_MIDNIGHT = 1_700_006_390.0


@dataclass
class Clock:
    now: float = BEFORE_MIDNIGHT

    def __call__(self) -> float:
        return self.now


def reserved(purse: Purse, tokens: int) -> Reservation:
    reservation = purse.reserve(tokens)
    assert reservation is not None
    return reservation


def test_the_cap_can_be_reached_and_not_passed() -> None:
    purse = spending.purse(100, None)
    reserved(purse, 60)
    assert purse.reserve(41) is None
    reserved(purse, 40)
    assert purse.reserve(1) is None
    reserved(purse, 0)


def test_what_was_not_used_comes_back_once() -> None:
    purse = spending.purse(100, None)
    reservation = reserved(purse, 100)
    reservation.settle(30)
    reservation.settle(0)
    assert purse.reserve(71) is None
    reserved(purse, 70)


def test_what_is_never_settled_stays_spent() -> None:
    purse = spending.purse(100, None)
    reserved(purse, 100)
    assert purse.reserve(1) is None


def test_what_cost_more_than_was_reserved_is_counted() -> None:
    purse = spending.purse(100, None)
    reserved(purse, 10).settle(95)
    assert purse.reserve(6) is None
    reserved(purse, 5)


def test_each_utc_day_has_its_own_cap_and_settles_for_itself() -> None:
    clock = Clock()
    purse = spending.purse(100, None, clock)
    late = reserved(purse, 100)
    clock.now += 9.9
    assert purse.reserve(1) is None
    clock.now += 0.1
    reserved(purse, 80)
    late.settle(0)
    assert purse.reserve(21) is None
    reserved(purse, 20)


@pytest.mark.parametrize("cap", [0, 100])
def test_negative_tokens_are_refused(cap: int) -> None:
    purse = spending.purse(cap, None)
    with pytest.raises(ValueError, match="fewer than no tokens"):
        purse.reserve(-1)
    with pytest.raises(ValueError, match="fewer than no tokens"):
        reserved(purse, 0).settle(-1)


@given(
    cap=st.integers(0, 200),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 80), st.integers(0, 5)), max_size=60),
)
def test_the_sum_is_that_of_what_was_reserved_and_settled(
    cap: int, steps: list[tuple[bool, int, int]]
) -> None:
    purse = spending.purse(cap, None)
    spent = 0
    held: list[Reservation] = []
    for settles, tokens, which in steps:
        if settles and held:
            reservation = held.pop(which % len(held))
            used = min(tokens, reservation.tokens)
            reservation.settle(used)
            reservation.settle(0)
            spent += used - reservation.tokens
        else:
            made = purse.reserve(tokens)
            assert (made is not None) is (spent + tokens <= cap)
            if made:
                spent += tokens
                held.append(made)
        assert 0 <= spent <= cap


def test_four_hundred_racing_reservations_never_pass_the_cap() -> None:
    purse = spending.purse(10_000, None)
    barrier = threading.Barrier(20)

    def reserve(_: int) -> int:
        barrier.wait()
        return sum(100 for _ in range(20) if purse.reserve(100))

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(reserve, range(20))) == 10_000
    assert purse.reserve(1) is None


def test_settled_from_many_threads_a_reservation_comes_back_once() -> None:
    purse = spending.purse(1000, None)
    reservation = reserved(purse, 1000)
    barrier = threading.Barrier(16)

    def settle(_: int) -> None:
        barrier.wait()
        reservation.settle(900)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(settle, range(16)))
    assert purse.reserve(101) is None
    reserved(purse, 100)
