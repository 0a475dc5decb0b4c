"""Embed texts through a cache on disk: full-precision vectors by embedder identity and text."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from traceback import walk_tb
from typing import overload

import numpy as np

from ..serve.embedders.embedder import Embedder, EmbedderIdentity, Vectors
from ..serve.embedders.vector_check import check_vectors
from ..serve.errors import AnswerableError, EmbedderError
from ..serve.provider_registry import EMBEDDER_PROVIDERS
from .pages.passages import IndexedPassage
from .sqlite_cache import SqliteCache

_BATCH_SIZE = 512

# Called with (done, total).
ReportProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LazyEmbedder:
    """Defer opening an embedder: most builds find every vector in the cache.

    ``open``: returns the embedder, opened once.
    """

    identity: EmbedderIdentity
    open: Callable[[], Embedder]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, with the embedder opened if it is not yet."""
        return self.open().embed(texts)

    @property
    def max_question_tokens(self) -> int:
        """Return the bound of the opened embedder."""
        return self.open().max_question_tokens

    def word_rank(self, word: str) -> int | None:
        """Return the rank that the opened embedder gives a word."""
        return self.open().word_rank(word)


@dataclass(frozen=True, slots=True)
class EmbeddingTexts(Sequence[str]):
    """Texts to embed, put together on access: passages first, then the windows of notes."""

    passages: Sequence[IndexedPassage]
    notes: Sequence[str]

    def __len__(self) -> int:
        return len(self.passages) + len(self.notes)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if row < len(self.passages):
            return self.passages[row].retrieval_text
        return self.notes[row - len(self.passages)]


def embed_cached(
    texts: Sequence[str],
    embedder: Embedder,
    folder: Path,
    progress: ReportProgress | None = None,
) -> tuple[Vectors, int]:
    """Return the vectors of texts, (len(texts), dimensions), and how many had to be embedded.

    Each batch is stored as soon as it is embedded, so that a failure loses at most one batch; no
    more texts than that are held at a time. progress: of the texts that have to be embedded.
    """
    identity = embedder.identity
    rows = np.zeros((len(texts), identity.dimensions), dtype=np.float32)
    missing: dict[bytes, list[int]] = {}
    name = _name_vector_space(identity)
    keys = [_hash_text(name, text) for text in texts]
    with closing(SqliteCache(folder / "embeddings.sqlite3")) as cache:
        for row, key in enumerate(keys):
            vector = None if key in missing else _decode_vector(cache.get(key), identity)
            if vector is None:
                missing.setdefault(key, []).append(row)
            else:
                rows[row] = vector
        done = 0
        for batch in _iterate_batches(missing):
            vectors = _embed_checked(embedder, [texts[missing[key][0]] for key in batch])
            cache.put({key: _encode_vector(v) for key, v in zip(batch, vectors, strict=True)})
            for key, vector in zip(batch, vectors, strict=True):
                rows[missing[key]] = vector
            done += len(batch)
            if progress:
                progress(done, len(missing))
        if cache.was_reset:
            # A damaged file was deleted on the way, and with it the vectors that were hits before.
            cache.put({key: _encode_vector(rows[row]) for row, key in enumerate(keys)})
        cache.touch(keys)
    return rows, len(missing)


def _iterate_batches(missing: dict[bytes, list[int]]) -> Iterator[list[bytes]]:
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
        return check_vectors(embedder.embed(texts), len(texts), embedder.identity)
    except AnswerableError:
        raise
    except Exception as error:
        # Whatever a library raises, a dev server must be able to go on.
        raise EmbedderError(_describe_failure(error, embedder.identity.provider)) from error


def _describe_failure(error: Exception, provider: str) -> str:
    """Describe an error by its type and, in a registered provider's code, its innermost line.

    Its text is left out, since it may repeat a private one.
    """
    name, origin = type(error).__name__, EMBEDDER_PROVIDERS.find_origin(provider)
    package = origin.module.partition(".")[0] if origin else None
    lines = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ]
    if not lines:
        return f"the embedder failed ({name}): try again"
    return f"the embedder failed ({name} in {lines[-1]}): correct it there and build again"


def _name_vector_space(identity: EmbedderIdentity) -> str:
    """Name what vectors depend on: the identity, and of a registered embedder its version."""
    fields, origin = identity.as_json(), EMBEDDER_PROVIDERS.find_origin(identity.provider)
    if origin:
        fields |= {"distribution": origin.distribution, "version": origin.version}
    return json.dumps(fields, sort_keys=True)


def _hash_text(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()
