"""Full-precision vectors to transport encodings."""

import numpy as np
from numpy.typing import NDArray

from ..serve.embedder import Vectors


def int8(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric per vector: codes (n, d) in -127..127 and 1 / norm of each code row, (n,).

    The scale cancels in a cosine and is not kept; a row of zeros stays one, with norm 0.
    """
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(vectors, peaks, out=np.zeros_like(vectors), where=peaks > 0)
    codes = np.rint(scaled * 127).astype(np.int8)
    norms = np.linalg.norm(codes.astype(np.float32), axis=1)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return codes, inverse.astype(np.float32)
