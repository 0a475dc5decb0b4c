"""What a question's authored names add to the records that bear them."""

import numpy as np
from numpy.typing import NDArray

from .derived import once
from .phrases import fade, runs
from .store import Store
from .vocabulary import Name, Names, phrase_lengths


@once
def _lengths(store: Store) -> tuple[frozenset[int], ...]:
    """How many words the phrases of a site's names, aliases and themes have."""
    return tuple(map(phrase_lengths, (store.names, store.aliases, store.themes)))


def of(store: Store, question: str) -> NDArray[np.float32]:
    """What the question's authored names add to each record, (records,) float32.

    A record gets the boost of its best name and that of its best theme. In the hybrid recipe only
    an alias is a name: titles and file names are read by ``page_order``.
    """
    profile = store.manifest.profile
    names, aliases, themes = _lengths(store)
    best = _best(store, store.aliases, aliases, question, profile.name_boost)
    if not profile.hybrid:
        best = np.maximum(best, _best(store, store.names, names, question, profile.name_boost))
    return best + _best(store, store.themes, themes, question, profile.theme_boost)


def _best(
    store: Store, names: Names, lengths: frozenset[int], question: str, boost: float
) -> NDArray[np.float32]:
    """The best boost of each record, (records,), by the names that a question holds."""
    best = np.zeros(len(store.weights), dtype=np.float32)
    for phrase in names.rows.keys() & set(runs(question, lengths)):
        name = names.named(phrase)
        rows = list(name.records)
        best[rows] = np.maximum(best[rows], boost * _fade(store, name))
    return best


def _fade(store: Store, name: Name) -> float:
    if not store.manifest.profile.theme_fade:
        return 1.0
    return fade(name.frequency, len(store.weights))
