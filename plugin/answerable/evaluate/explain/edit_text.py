"""Describe in plain sentences what to write on a page, and what a build would make of it."""

from .expected import ExpectedRank
from .forecast import EditForecast
from .page_edit import FACT, PageEdit


def describe_edit(edit: PageEdit) -> str:
    """Say where to write which sentence."""
    return f"{describe_place(edit)}, where {FACT} is the fact."


def describe_place(edit: PageEdit) -> str:
    """Say where to write which sentence, as the beginning of a sentence."""
    if edit.heading:
        return (
            f'Write on {edit.page}, at the end of "{edit.under[-1]}", the heading '
            f'"{edit.heading}" and under it "{edit.sentence}"'
        )
    return f'Write on {edit.page}, under "{edit.under[-1]}", "{edit.sentence}"'


def describe_forecast(forecast: EditForecast, expected: ExpectedRank) -> str:
    """Say how base, rank and the keyless answer would change."""
    if forecast.cited_first and forecast.quoted:
        answer = "the keyless answer quotes it first"
    elif forecast.cited_first:
        answer = "the keyless answer quotes other words of the page first"
    elif forecast.cited:
        answer = "the keyless answer cites it beside others"
    else:
        answer = "the keyless answer still does not cite it"
    return (
        f"Forecast: base {expected.candidate.base:.3f} → {forecast.base:.3f}, rank "
        f"{expected.rank} → {forecast.rank}, and {answer}."
    )
