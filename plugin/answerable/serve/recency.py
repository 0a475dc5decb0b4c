"""Questions about now, and how new each record is."""

import datetime as dt
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .derived import once
from .phrases import normalise, runs
from .store import Store
from .wording import WORDINGS, base

HALF_LIFE = 365

_PHRASES = {
    language: frozenset(normalise(phrase) for phrase in words.now.split(","))
    for language, words in WORDINGS.items()
    if words.is_spaced
}
# Written without spaces: these are looked for anywhere.
_RUNS = {
    language: tuple(words.now.split(", "))
    for language, words in WORDINGS.items()
    if not words.is_spaced
}
_LENGTHS = {len(phrase.split()) for phrases in _PHRASES.values() for phrase in phrases}


def is_about_now(question: str, languages: Iterable[str]) -> bool:
    """Whether a question uses a word for now, in whole words, of one of the languages."""
    found = frozenset(runs(question, _LENGTHS))
    return any(
        not found.isdisjoint(_PHRASES.get(language, ()))
        or any(run in question for run in _RUNS.get(language, ()))
        for language in map(base, languages)
    )


@once
def freshness(store: Store) -> NDArray[np.float32]:
    """How new each record is, (records,): 1 for the newest date, half of it a year before.

    No clock is read, so that a bundle answers tomorrow as it does today. 0 without a date.
    """
    days = [dt.date.fromisoformat(date).toordinal() if date else None for date in store.dates]
    newest = max((day for day in days if day is not None), default=0)
    fresh = [0.0 if day is None else 0.5 ** ((newest - day) / HALF_LIFE) for day in days]
    return np.array(fresh, dtype=np.float32)
