"""What a question's authored names add to the records that bear them."""

import numpy as np
from numpy.typing import NDArray

from .derived import once
from .phrases import fade, runs
from .store import Store
from .vocabulary import Name, Names


@once
def _lengths(store: Store) -> tuple[frozenset[int], frozenset[int]]:
    """How many words the phrases of a site's names and of its themes have."""
    return _of_phrases(store.names), _of_phrases(store.themes)


def _of_phrases(names: Names) -> frozenset[int]:
    # A build has normalised them: single spaces divide their words.
    return frozenset(phrase.count(" ") + 1 for phrase in names.rows if phrase)


def of(store: Store, question: str) -> NDArray[np.float32]:
    """What the question's authored names add to each record, (records,) float32."""
    profile = store.manifest.profile
    added = np.zeros(len(store.weights), dtype=np.float32)
    lifts = (profile.name_boost, profile.theme_boost)
    streams = zip((store.names, store.themes), _lengths(store), lifts, strict=True)
    for names, lengths, boost in streams:
        best = np.zeros_like(added)
        for phrase in names.rows.keys() & set(runs(question, lengths)):
            name = names.named(phrase)
            rows = list(name.records)
            best[rows] = np.maximum(best[rows], boost * _fade(store, name))
        added += best
    return added


def _fade(store: Store, name: Name) -> float:
    if not store.manifest.profile.theme_fade:
        return 1.0
    return fade(name.frequency, len(store.weights))
