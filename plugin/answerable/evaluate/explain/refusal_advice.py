"""Advise on an answer that should have been a refusal: floor, a true sentence, a gold query."""

import re
from collections.abc import Mapping

from .advice import Advice
from .edit_text import describe_place
from .explanation import Explanation
from .refusal import FloorCost, RefusalExplanation

# More queries that a floor would cost are counted and not named.
_NAMED_QUERIES = 5
_MAX_ID_WORDS = 6


def advise_refusal(explanation: Explanation, cost: FloorCost | None) -> tuple[Advice, ...]:
    """List what would refuse a question or answer it truly, the most useful first.

    A floor goes first where it costs no gold query, and last where it costs some or is unmeasured.
    cost: of the floors that refuse it; None where there is no gold set.
    """
    refusal = explanation.refusal
    if refusal is None:
        return ()
    is_free = is_floor_free(refusal, cost)
    floor = _advise_on_floor(refusal, cost)
    others = [_advise_to_state_absence(refusal), _advise_on_gold_query(is_free=is_free)]
    advice = [floor, *others] if is_free else [*others, floor]
    return tuple(each for each in advice if each)


def is_floor_free(refusal: RefusalExplanation, cost: FloorCost | None) -> bool:
    """Tell whether a floor refuses the question and no gold query that has to be answered."""
    return not refusal.no_floor and bool(cost and cost.answerable and not cost.lost)


def draft_gold_query(explanation: Explanation, cost: FloorCost | None) -> Mapping[str, str]:
    """Draft the gold query of a refusal; it is left to a model where no floor is free."""
    refusal = explanation.refusal
    words = re.findall(r"[a-z0-9]+", explanation.question.lower())[:_MAX_ID_WORDS]
    query = {
        "id": "-".join(words) or "refused",
        "query": explanation.question,
        "expectAnswerMode": "not-found",
    }
    is_free = refusal is not None and is_floor_free(refusal, cost)
    return query if is_free else {**query, "requires": "model"}


def _advise_on_floor(refusal: RefusalExplanation, cost: FloorCost | None) -> Advice:
    if refusal.no_floor:
        return Advice(
            "no-floor",
            (refusal.passage,),
            "No floor refuses it: a passage holds all of its content words, or it would take a "
            "floor above 1.",
        )
    floors = {"floor": refusal.floor, "note_floor": refusal.note_floor}
    options = [f"`{name}: {value:.2f}`" for name, value in floors.items() if value is not None]
    text = f"{' with '.join(options)} would refuse it"
    if cost is None:
        text += ". There is no gold set to tell which questions that costs: write one first."
    elif not cost.answerable:
        text += ". The gold set has no query that is answered now, to tell what that costs."
    elif not cost.lost:
        text += f", and none of the {cost.answerable} gold queries that have to be answered."
    else:
        names = ", ".join(cost.lost[:_NAMED_QUERIES])
        unnamed = len(cost.lost) - _NAMED_QUERIES
        suffix = f" and {unnamed} more" if unnamed > 0 else ""
        text += (
            f", and {len(cost.lost)} of the {cost.answerable} gold queries that have to be "
            f"answered too: {names}{suffix}."
        )
    return Advice("floor", cost.lost if cost else (), text)


def _advise_to_state_absence(refusal: RefusalExplanation) -> Advice | None:
    forecast = refusal.forecast
    if forecast is None or not forecast.quoted:
        return None
    return Advice(
        "state-absence",
        (forecast.edit.page,),
        f"{describe_place(forecast.edit)}, where … says that there is no such thing, if readers "
        "ask for it. Forecast: the keyless answer quotes it"
        f"{' first' if forecast.cited_first else ''}.",
        forecast.edit,
    )


def _advise_on_gold_query(*, is_free: bool) -> Advice:
    reason = (
        "so that the floor stays as high"
        if is_free
        else "with `requires: model`: the words of the site are too near for a floor, and an "
        "answer model can decline"
    )
    return Advice(
        "gold-query",
        (),
        f"Hold the refusal by a gold query with `expectAnswerMode: not-found`, {reason}.",
    )


def describe_refusal(explanation: Explanation, refusal: RefusalExplanation) -> str:
    """Say in sentences what lifts the question over which floor."""
    profile = explanation.profile
    if not refusal.passage:
        return f"Hints are above the note floor {profile.note_floor:g}, and no passage is."
    text = (
        f"{refusal.passage} has the best base, {refusal.base:.3f}, at a floor of {profile.floor:g}."
    )
    if not refusal.lifts:
        return text
    lifts = ", ".join(f'"{each.word}" {each.base:.3f}' for each in refusal.lifts)
    return f"{text} Its words give {lifts}; the cosine gives {refusal.dense:.3f}."
