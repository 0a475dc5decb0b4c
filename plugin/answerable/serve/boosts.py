"""What a question's authored names add to the records that bear them."""

import numpy as np
from numpy.typing import NDArray

from .bundle import Bundle, Name, Names
from .derived import once
from .phrases import fade, runs


@once
def _lengths(bundle: Bundle) -> tuple[frozenset[int], frozenset[int]]:
    """How many words the phrases of a bundle's names and of its themes have."""
    return _of_phrases(bundle.names), _of_phrases(bundle.themes)


def _of_phrases(names: Names) -> frozenset[int]:
    # A build has normalised them: single spaces divide their words.
    return frozenset(phrase.count(" ") + 1 for phrase in names.rows if phrase)


def of(bundle: Bundle, question: str) -> NDArray[np.float32]:
    """What the question's authored names add to each record, (records,) float32."""
    profile = bundle.manifest.profile
    added = np.zeros(len(bundle.record_ids), dtype=np.float32)
    lifts = (profile.name_boost, profile.theme_boost)
    streams = zip((bundle.names, bundle.themes), _lengths(bundle), lifts, strict=True)
    for names, lengths, boost in streams:
        best = np.zeros_like(added)
        for phrase in names.rows.keys() & set(runs(question, lengths)):
            name = names.named(phrase)
            rows = list(name.records)
            best[rows] = np.maximum(best[rows], boost * _fade(bundle, name))
        added += best
    return added


def _fade(bundle: Bundle, name: Name) -> float:
    if not bundle.manifest.profile.theme_fade:
        return 1.0
    return fade(name.frequency, len(bundle.record_ids))
