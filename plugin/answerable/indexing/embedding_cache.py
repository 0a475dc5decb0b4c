"""The texts that are embedded, put together when they are asked for.

The embedding cache: full-precision vectors by embedder identity and text.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np

from ..serve.embedders.embedder import Embedder, EmbedderIdentity, Vectors
from ..serve.errors import AnswerableError, EmbedderError
from .pages.passages import IndexedPassage
from .sqlite_cache import SqliteCache


@dataclass(frozen=True, slots=True)
class EmbeddingTexts(Sequence[str]):
    """What is embedded: passages first, then the windows of notes."""

    cuts: Sequence[IndexedPassage]
    notes: Sequence[str]

    def __len__(self) -> int:
        return len(self.cuts) + len(self.notes)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if row < len(self.cuts):
            return self.cuts[row].retrieval_text
        return self.notes[row - len(self.cuts)]


_BATCH_SIZE = 512

ReportProgress = Callable[[int, int], None]


def embed_cached(
    texts: Sequence[str], embedder: Embedder, folder: Path, progress: ReportProgress | None = None
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
    keys = [_hash_text(name, text) for text in texts]
    with closing(SqliteCache(folder / "embeddings.sqlite3")) as store:
        for row, key in enumerate(keys):
            vector = None if key in missing else _decode_vector(store.get(key), identity)
            if vector is None:
                missing.setdefault(key, []).append(row)
            else:
                rows[row] = vector
        done = 0
        for batch in _batches(missing):
            vectors = _embed_checked(embedder, [texts[missing[key][0]] for key in batch])
            store.put({key: _encode_vector(v) for key, v in zip(batch, vectors, strict=True)})
            for key, vector in zip(batch, vectors, strict=True):
                rows[missing[key]] = vector
            done += len(batch)
            if progress:
                progress(done, len(missing))
        if store.renewed:
            store.put({key: _encode_vector(rows[row]) for row, key in enumerate(keys)})
        store.touch(keys)
    return rows, len(missing)


def _batches(missing: dict[bytes, list[int]]) -> Iterator[list[bytes]]:
    keys = iter(missing)
    while batch := list(islice(keys, _BATCH_SIZE)):
        yield batch


def _decode_vector(data: bytes | None, identity: EmbedderIdentity) -> Vectors | None:
    if data is None or len(data) != 4 * identity.dimensions:
        return None
    vector: Vectors = np.frombuffer(data, dtype="<f4")
    return vector if np.isfinite(vector).all() else None


def _encode_vector(vector: Vectors) -> bytes:
    return vector.astype("<f4").tobytes()


def _embed_checked(embedder: Embedder, texts: Sequence[str]) -> Vectors:
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


def _hash_text(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()
