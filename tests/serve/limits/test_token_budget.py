"""The cap of a day in memory: reserved, begun, settled, never passed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.errors import BudgetError
from answerable.serve.limits.token_budget import (
    MemoryDaySums,
    Reservation,
    TokenBudget,
    create_token_budget,
)
from support.token_budget_checks import attempt, refusal, room

# 2023-11-14 23:59:50 UTC.
BEFORE_MIDNIGHT = 1_700_006_390.0


@dataclass
class Clock:
    now: float = BEFORE_MIDNIGHT

    def __call__(self) -> float:
        return self.now


def reserved(purse: TokenBudget, tokens: int) -> Reservation:
    return purse.reserve(tokens)


def test_cap_can_be_reached_and_not_exceeded() -> None:
    purse = create_token_budget(100, None)
    reserved(purse, 60)
    assert refusal(purse, 41) == "reserved"
    reserved(purse, 40)
    assert refusal(purse, 1) == "reserved"
    reserved(purse, 0)


def test_only_settled_tokens_are_spent() -> None:
    purse = create_token_budget(100, None)
    assert refusal(purse, 101) == "spent"
    first, second = reserved(purse, 50), reserved(purse, 50)
    assert refusal(purse, 50) == "reserved"
    first.settle(50)
    assert refusal(purse, 50) == "reserved"
    assert refusal(purse, 51) == "spent"
    second.settle(1)
    assert refusal(purse, 49) is None
    assert refusal(purse, 50) == "spent"


def test_unused_tokens_return_once() -> None:
    purse = create_token_budget(100, None)
    reservation = reserved(purse, 100)
    reservation.settle(30)
    reservation.settle(0)
    assert refusal(purse, 71) == "spent"
    reserved(purse, 70)


def test_unsettled_reservation_stays_reserved() -> None:
    purse = create_token_budget(100, None)
    reserved(purse, 100)
    assert refusal(purse, 1) == "reserved"


def test_unknown_cost_spends_whole_reservation() -> None:
    purse = create_token_budget(100, None)
    reserved(purse, 60).settle(None)
    assert refusal(purse, 41) == "spent"
    reserved(purse, 40)


def test_cost_over_reservation_is_counted() -> None:
    purse = create_token_budget(100, None)
    reserved(purse, 10).settle(95)
    assert refusal(purse, 6) == "spent"
    reserved(purse, 5)


def test_begin_returns_tokens_no_later_call_needs() -> None:
    purse = create_token_budget(100, None)
    reservation = reserved(purse, 90)
    reservation.begin(20)
    assert room(purse, 100) == 10
    reservation.begin(20, later=25)
    assert room(purse, 100) == 55
    reservation.begin(30, later=0)
    assert room(purse, 100) == 70
    # One whose calls have no bound keeps all that it has.
    reservation.begin(None)
    assert room(purse, 100) == 70
    reservation.settle(None)
    assert refusal(purse, 71) == "spent"


def test_begin_over_reservation_needs_room() -> None:
    purse = create_token_budget(100, None)
    first, second = reserved(purse, 40), reserved(purse, 40)
    first.begin(60)
    assert first.tokens == 60
    for cost, passing in ((41, True), (101, False)):
        with pytest.raises(BudgetError) as refused:
            second.begin(cost)
        assert refused.value.transient is passing
        assert (second.tokens, room(purse, 100)) == (40, 0)
    first.settle(10)
    second.begin(90)
    second.settle(90)
    assert refusal(purse, 1) == "spent"


def test_each_utc_day_has_its_own_cap() -> None:
    clock = Clock()
    purse = create_token_budget(100, None, clock)
    late = reserved(purse, 100)
    clock.now += 9.9
    assert refusal(purse, 1) == "reserved"
    clock.now += 0.1
    reserved(purse, 80)
    late.settle(0)
    assert refusal(purse, 21) == "reserved"
    reserved(purse, 20)


def test_clock_step_back_over_midnight_gives_no_second_cap() -> None:
    clock = Clock()
    purse = create_token_budget(100, None, clock)
    reserved(purse, 100).settle(100)
    clock.now += 20
    reserved(purse, 99).settle(99)
    for _ in range(3):
        clock.now -= 20
        assert refusal(purse, 1) == "spent"
        clock.now += 20
        assert refusal(purse, 2) == "spent"
        assert refusal(purse, 1) is None


def test_sums_of_few_days_are_remembered() -> None:
    clock = Clock()
    sums = MemoryDaySums()
    purse = TokenBudget(100, sums, clock)
    for _ in range(40):
        reserved(purse, 100).settle(100)
        assert refusal(purse, 1) == "spent"
        clock.now += 86_400
    assert len(sums) < 10


@pytest.mark.parametrize("cap", [0, 100])
def test_negative_tokens_are_rejected(cap: int) -> None:
    purse = create_token_budget(cap, None)
    with pytest.raises(ValueError, match="is not negative"):
        reserved(purse, -1)
    with pytest.raises(ValueError, match="is not negative"):
        reserved(purse, 0).settle(-1)


Step = tuple[str, int, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "begin", "settle"]),
        st.integers(0, 80), st.integers(0, 5), st.integers(-1, 40),
    ),
    max_size=60,
)  # fmt: skip


def check_steps(purse: TokenBudget, cap: int, steps: list[Step]) -> int:
    """Take steps, hold a purse against a plain account, and return what is settled."""
    settled = 0
    reservations: list[Reservation] = []
    for what, tokens, which, later in steps:
        if what == "reserve" or not reservations:
            sum_reserved = sum(each.tokens for each in reservations)
            expected = (
                "spent" if settled + tokens > cap
                else "reserved" if settled + sum_reserved + tokens > cap
                else None
            )  # fmt: skip
            assert refusal(purse, tokens) == expected
            if expected is None:
                reservations.append(reserved(purse, tokens))
        elif what == "begin":
            reservation = reservations[which % len(reservations)]
            others = sum(each.tokens for each in reservations) - reservation.tokens
            before = reservation.tokens
            fits = tokens <= before or settled + others + tokens <= cap
            try:
                reservation.begin(tokens, None if later < 0 else later)
                assert fits
                assert reservation.tokens >= tokens
                assert reservation.tokens <= max(before, tokens)
            except BudgetError:
                assert not fits
                assert reservation.tokens == before
        else:
            reservation = reservations.pop(which % len(reservations))
            used = min(tokens, reservation.tokens)
            reservation.settle(used)
            reservation.settle(0)
            settled += used
        assert 0 <= settled + sum(each.tokens for each in reservations) <= cap
    for reservation in reservations:
        reservation.settle(0)
    assert room(purse, cap) == cap - settled
    return settled


@given(cap=st.integers(0, 200), steps=STEPS)
def test_budget_matches_model(cap: int, steps: list[Step]) -> None:
    check_steps(create_token_budget(cap, None), cap, steps)


def test_racing_reservations_never_exceed_cap() -> None:
    purse = create_token_budget(10_000, None)
    barrier = threading.Barrier(20)

    def reserve(_: int) -> int:
        barrier.wait()
        return sum(100 for _ in range(20) if attempt(purse, 100))

    with ThreadPoolExecutor(20) as pool:
        total = sum(pool.map(reserve, range(20)))
    # Two who race for the last place may both lose it, and then it is still there.
    while total < 10_000:
        assert attempt(purse, 100)
        total += 100
    assert total == 10_000
    assert refusal(purse, 1) == "reserved"


def test_concurrent_settles_return_tokens_once() -> None:
    purse = create_token_budget(1000, None)
    reservation = reserved(purse, 1000)
    barrier = threading.Barrier(16)

    def settle(_: int) -> None:
        barrier.wait()
        reservation.settle(900)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(settle, range(16)))
    assert refusal(purse, 101) == "spent"
    reserved(purse, 100)
