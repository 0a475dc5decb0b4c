"""Sum up the tokens and seconds of calls, and price tokens by the million."""

from collections.abc import Sequence
from dataclasses import dataclass

from .verdict import CallUsage

_TOKENS_PER_PRICE = 1_000_000
# A call of a small model costs a hundredth of a cent.
_MONEY_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Price a million tokens that a model reads (``input``) and writes (``output``)."""

    input: float
    output: float

    def compute_cost(self, usage: CallUsage) -> float:
        """Compute what tokens cost, in the currency of the price."""
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        return round(cost / _TOKENS_PER_PRICE, _MONEY_DIGITS)


def sum_usages(usages: Sequence[CallUsage | None]) -> CallUsage | None:
    """Add up tokens and seconds; None if there are none."""
    counted = [usage for usage in usages if usage]
    if not counted:
        return None
    return CallUsage(
        sum(usage.input_tokens for usage in counted),
        sum(usage.output_tokens for usage in counted),
        round(sum(usage.seconds for usage in counted), 3),
    )
