"""The cap of a day: reserved, begun, settled, never passed; in memory and in Redis."""

from dataclasses import dataclass
from typing import Literal

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.serve.errors import BudgetError, StorageError
from answerable.serve.limits.token_budget import (
    MemoryDaySums,
    Reservation,
    TokenBudget,
    create_token_budget,
)
from support.redis_server import RedisServer

# 2023-11-14 23:59:50 UTC.
BEFORE_MIDNIGHT = 1_700_006_390.0


@dataclass
class Clock:
    now: float = BEFORE_MIDNIGHT

    def __call__(self) -> float:
        return self.now


def refusal(budget: TokenBudget, tokens: int) -> Literal["spent", "reserved"] | None:
    """Why so many tokens are refused; None, with nothing left reserved, if they are granted."""
    try:
        budget.reserve(tokens).settle(0)
    except BudgetError as error:
        return "reserved" if error.transient else "spent"
    return None


def test_cap_can_be_reached_and_not_exceeded() -> None:
    budget = create_token_budget(100, None)
    first, second = budget.reserve(60), budget.reserve(40)
    assert refusal(budget, 1) == "reserved"
    assert refusal(budget, 101) == "spent"
    budget.reserve(0)
    first.settle(50)
    first.settle(0)
    assert refusal(budget, 11) == "reserved"
    assert refusal(budget, 10) is None
    # An unknown cost spends the whole reservation.
    second.settle(None)
    assert refusal(budget, 11) == "spent"
    # What costs more than was reserved is counted whole.
    budget.reserve(1).settle(9)
    assert refusal(budget, 2) == "spent"


def test_begin_returns_tokens_no_later_call_needs() -> None:
    budget = create_token_budget(100, None)
    reservation = budget.reserve(90)
    reservation.begin(20)
    assert (refusal(budget, 10), refusal(budget, 11)) == (None, "reserved")
    reservation.begin(20, later=25)
    assert (refusal(budget, 55), refusal(budget, 56)) == (None, "reserved")
    reservation.begin(30, later=0)
    assert (refusal(budget, 70), refusal(budget, 71)) == (None, "reserved")
    # One whose calls have no bound keeps all that it has.
    reservation.begin(None)
    assert refusal(budget, 71) == "reserved"
    reservation.settle(None)
    assert refusal(budget, 71) == "spent"


def test_begin_over_reservation_needs_room() -> None:
    budget = create_token_budget(100, None)
    first, second = budget.reserve(40), budget.reserve(40)
    first.begin(60)
    assert first.tokens == 60
    for cost, is_transient in ((41, True), (101, False)):
        with pytest.raises(BudgetError) as refused:
            second.begin(cost)
        assert refused.value.transient is is_transient
        assert second.tokens == 40
    first.settle(10)
    second.begin(90)
    second.settle(90)
    assert refusal(budget, 1) == "spent"


def test_each_utc_day_has_its_own_cap_also_where_a_clock_steps_back() -> None:
    clock = Clock()
    budget = create_token_budget(100, None, clock)
    budget.reserve(100).settle(100)
    clock.now += 9.9
    assert refusal(budget, 1) == "spent"
    clock.now += 10
    budget.reserve(99).settle(99)
    for _ in range(3):
        clock.now -= 20
        assert refusal(budget, 1) == "spent"
        clock.now += 20
        assert refusal(budget, 2) == "spent"
        assert refusal(budget, 1) is None


def test_sums_of_few_days_are_remembered() -> None:
    clock, sums = Clock(), MemoryDaySums()
    budget = TokenBudget(100, sums, clock)
    for _ in range(40):
        budget.reserve(100).settle(100)
        assert refusal(budget, 1) == "spent"
        clock.now += 86_400
    assert len(sums) < 10


def test_negative_tokens_are_rejected() -> None:
    budget = create_token_budget(100, None)
    with pytest.raises(ValueError, match="is not negative"):
        budget.reserve(-1)
    with pytest.raises(ValueError, match="is not negative"):
        budget.reserve(0).settle(-1)


Step = tuple[str, int, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "begin", "settle"]),
        st.integers(0, 80), st.integers(0, 5), st.integers(-1, 40),
    ),
    max_size=60,
)  # fmt: skip


def check_steps(budget: TokenBudget, cap: int, steps: list[Step]) -> None:
    """Take steps, and hold a budget against a plain account of them."""
    settled = 0
    reservations: list[Reservation] = []
    for action, tokens, which, later in steps:
        claimed = settled + sum(reservation.tokens for reservation in reservations)
        if action == "reserve" or not reservations:
            expected = (
                "spent" if settled + tokens > cap
                else "reserved" if claimed + tokens > cap
                else None
            )  # fmt: skip
            assert refusal(budget, tokens) == expected
            if expected is None:
                reservations.append(budget.reserve(tokens))
        elif action == "begin":
            reservation = reservations[which % len(reservations)]
            before = reservation.tokens
            fits = tokens <= before or claimed - before + tokens <= cap
            try:
                reservation.begin(tokens, None if later < 0 else later)
                assert fits
                assert tokens <= reservation.tokens <= max(before, tokens)
            except BudgetError:
                assert not fits
                assert reservation.tokens == before
        else:
            reservation = reservations.pop(which % len(reservations))
            cost = min(tokens, reservation.tokens)
            reservation.settle(cost)
            reservation.settle(0)
            settled += cost
        assert 0 <= settled + sum(reservation.tokens for reservation in reservations) <= cap
    for reservation in reservations:
        reservation.settle(0)
    assert refusal(budget, cap - settled) is None
    assert refusal(budget, cap - settled + 1) == "spent"


@given(cap=st.integers(0, 200), steps=STEPS)
def test_budget_in_memory_matches_a_plain_account(cap: int, steps: list[Step]) -> None:
    check_steps(create_token_budget(cap, None), cap, steps)


@pytest.mark.deep
@settings(max_examples=20, deadline=None)
@given(cap=st.integers(0, 200), steps=STEPS)
def test_budget_in_redis_matches_a_plain_account(
    shared_redis: RedisServer, cap: int, steps: list[Step]
) -> None:
    with redis.Redis.from_url(shared_redis.url) as client:
        client.flushall()
    check_steps(create_token_budget(cap, shared_redis.url), cap, steps)


@pytest.mark.deep
def test_redis_that_lost_its_data_gives_back_no_more_than_it_counts(
    redis_server: RedisServer,
) -> None:
    budget = create_token_budget(100, redis_server.url)
    first, second = budget.reserve(50), budget.reserve(50)
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    budget.reserve(10).settle(10)
    first.settle(0)
    second.begin(1, later=0)
    second.settle(1)
    assert (refusal(budget, 89), refusal(budget, 90)) == (None, "spent")


@pytest.mark.deep
def test_a_reply_that_is_lost_gives_nothing_back_twice(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may have been done is not done again: at most it costs the day a reservation."""
    budget = create_token_budget(100, redis_server.url)
    reservation = budget.reserve(50)
    execute = redis.client.Pipeline.execute

    def execute_and_lose_reply(pipeline: redis.client.Pipeline) -> None:
        execute(pipeline)
        raise redis.ConnectionError("the connection was closed")

    with monkeypatch.context() as patch:
        patch.setattr(redis.client.Pipeline, "execute", execute_and_lose_reply)
        reservation.settle(10)
        with pytest.raises(StorageError):
            budget.reserve(20)
    # Ten tokens are spent, and twenty are reserved for nobody.
    assert (refusal(budget, 70), refusal(budget, 71)) == (None, "reserved")
