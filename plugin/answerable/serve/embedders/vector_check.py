"""Check the vectors that an embedder returns: an array of the right shape and finite numbers."""

import numpy as np

from ..errors import EmbedderError
from .embedder import EmbedderIdentity, Vectors


def check_vectors(vectors: object, count: int, identity: EmbedderIdentity) -> Vectors:
    """Return vectors of ``count`` texts as an array of float32; EmbedderError names the defect."""
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except (RuntimeError, TypeError, ValueError):
        raise EmbedderError(
            f"the embedder {identity.label} returned a {type(vectors).__name__} that is not a "
            "table of numbers; correct it to return an array of float32 with a row for each text",
            cause="bad-vectors",
        ) from None
    shape = (count, identity.dimensions)
    if array.shape != shape:
        raise EmbedderError(
            f"the embedder gave {array.shape} for {shape}: check its model", cause="bad-vectors"
        )
    if not np.isfinite(array).all():
        raise EmbedderError(
            "the embedder gave a number that is not finite: check its model", cause="bad-vectors"
        )
    return array
