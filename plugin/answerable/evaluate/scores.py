"""What the floors are held against, for every row of a bundle."""

import numpy as np

from ..serve import recipe, retrieval
from ..serve.bundle import Bundle
from ..serve.question_reading import Reading
from ..serve.store import Floats

# The score of a question that retrieves nothing, whatever the floor: no cosine is lower.
NOTHING = -1.0


def passage_scores(bundle: Bundle, reading: Reading, vector: Floats) -> Floats:
    """What the floor is held against for every passage, (n,); (0,) without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    ranking = retrieval.rank_passages(bundle, reading, vector)
    return recipe.floored(bundle.manifest.profile, ranking.base, ranking.boost)


def hint_scores(bundle: Bundle, reading: Reading, vector: Floats) -> Floats:
    """The score of every hint, (n,); (0,) for a question without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    return retrieval.rank_hints(bundle, reading, vector)
