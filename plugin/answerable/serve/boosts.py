"""What a question's authored names add to the records that bear them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bundle import Bundle, Name
from .derived import once
from .phrases import fade, runs


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Authored names by their phrases, and how many words those have."""

    names: Mapping[str, Name]
    lengths: tuple[int, ...]

    def named(self, question: str) -> Iterable[Name]:
        """The names that a question uses as whole phrases."""
        found = self.names.keys() & set(runs(question, self.lengths))
        return [self.names[phrase] for phrase in found]


@once
def _phrases(bundle: Bundle) -> tuple[_Phrases, _Phrases]:
    """A bundle's names and themes, whose phrases a build has normalised."""
    return _by_phrase(bundle.names), _by_phrase(bundle.themes)


def _by_phrase(names: Iterable[Name]) -> _Phrases:
    by_phrase = {name.phrase: name for name in names if name.phrase}
    return _Phrases(by_phrase, tuple({len(phrase.split()) for phrase in by_phrase}))


def of(bundle: Bundle, question: str) -> NDArray[np.float32]:
    """What the question's authored names add to each record, (records,) float32."""
    profile = bundle.manifest.profile
    added = np.zeros(len(bundle.record_ids), dtype=np.float32)
    lifts = (profile.name_boost, profile.theme_boost)
    for phrases, boost in zip(_phrases(bundle), lifts, strict=True):
        best = np.zeros_like(added)
        for name in phrases.named(question):
            rows = list(name.records)
            best[rows] = np.maximum(best[rows], boost * _fade(bundle, name))
        added += best
    return added


def _fade(bundle: Bundle, name: Name) -> float:
    if not bundle.manifest.profile.theme_fade:
        return 1.0
    return fade(name.frequency, len(bundle.record_ids))
