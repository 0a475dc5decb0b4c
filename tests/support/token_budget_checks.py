"""Check grants and refusals of a token budget, for tests of both kinds."""

from typing import Literal

from answerable.serve.errors import BudgetError
from answerable.serve.limits.token_budget import Reservation, TokenBudget


def refusal(purse: TokenBudget, tokens: int) -> Literal["spent", "reserved"] | None:
    """Return the reason to refuse so many tokens; None, with nothing left reserved, if granted."""
    try:
        purse.reserve(tokens).settle(0)
    except BudgetError as error:
        return "reserved" if error.transient else "spent"
    return None


def attempt(purse: TokenBudget, tokens: int) -> Reservation | None:
    """A reservation, or None where there is no room for it now."""
    try:
        return purse.reserve(tokens)
    except BudgetError:
        return None


def room(purse: TokenBudget, cap: int) -> int:
    """The most tokens that can be reserved now."""
    low, high = 0, cap + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if refusal(purse, middle) is None else (low, middle)
    return low
