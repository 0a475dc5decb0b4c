"""The embedding cache: full-precision vectors by embedder identity and text."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from ..serve.embedder import Embedder, Identity, Vectors
from ..serve.errors import AnswerableError, EmbedderError
from .store import Store

_BATCH = 512

Progress = Callable[[int, int], None]


def embed(
    texts: Sequence[str], embedder: Embedder, folder: Path, progress: Progress | None = None
) -> tuple[Vectors, int]:
    """The vectors of texts, (len(texts), dimensions), and how many had to be embedded.

    Each batch is kept as soon as it is embedded, so that a failure loses at most one batch; no
    more texts than that are held at a time.
    progress: called with (done, total) of what has to be embedded.
    """
    identity = embedder.identity
    rows = np.zeros((len(texts), identity.dimensions), dtype=np.float32)
    missing: dict[bytes, list[int]] = {}
    name = json.dumps(identity.as_json(), sort_keys=True)
    keys = [_key(name, text) for text in texts]
    with closing(Store(folder / "embeddings.sqlite3")) as store:
        for row, key in enumerate(keys):
            vector = None if key in missing else _vector(store.get(key), identity)
            if vector is None:
                missing.setdefault(key, []).append(row)
            else:
                rows[row] = vector
        done = 0
        for batch in _batches(missing):
            vectors = _checked(embedder, [texts[missing[key][0]] for key in batch])
            store.put({key: _bytes(v) for key, v in zip(batch, vectors, strict=True)})
            for key, vector in zip(batch, vectors, strict=True):
                rows[missing[key]] = vector
            done += len(batch)
            if progress:
                progress(done, len(missing))
        if store.renewed:
            store.put({key: _bytes(rows[row]) for row, key in enumerate(keys)})
        store.touch(keys)
    return rows, len(missing)


def _batches(missing: dict[bytes, list[int]]) -> Iterator[list[bytes]]:
    keys = iter(missing)
    while batch := list(islice(keys, _BATCH)):
        yield batch


def _vector(data: bytes | None, identity: Identity) -> Vectors | None:
    if data is None or len(data) != 4 * identity.dimensions:
        return None
    vector: Vectors = np.frombuffer(data, dtype="<f4")
    return vector if np.isfinite(vector).all() else None


def _bytes(vector: Vectors) -> bytes:
    return vector.astype("<f4").tobytes()


def _checked(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    try:
        vectors = embedder.embed(texts)
    except AnswerableError:
        raise
    except Exception as error:
        # Whatever a library raises, a dev server must be able to go on.
        raise EmbedderError(f"the embedder failed ({type(error).__name__}): try again") from error
    shape = (len(texts), embedder.identity.dimensions)
    if vectors.shape != shape:
        raise EmbedderError(f"the embedder gave {vectors.shape} for {shape}: check its model")
    if not np.isfinite(vectors).all():
        raise EmbedderError("the embedder gave a number that is not finite: check its model")
    return vectors


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()
