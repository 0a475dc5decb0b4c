"""The embedding cache: full-precision vectors by embedder identity and text."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from ..serve.embedder import Embedder, Identity, Vectors
from ..serve.errors import AnswerableError, EmbedderError, SiteError

# How long a vector that no build asks for is kept.
KEEP_DAYS = 30
_BATCH = 512
# Seconds to wait for another build that is writing.
_TIMEOUT = 30.0
# Errors of a file that may be whole and another build's: it must not be thrown away.
_NOT_DAMAGED = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)

Progress = Callable[[int, int], None]


def prepare(folder: Path) -> Path:
    """Make the cache folder; it ignores itself for git, since vectors of notes are private."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return folder


def embed(
    texts: Sequence[str], embedder: Embedder, folder: Path, progress: Progress | None = None
) -> tuple[Vectors, int]:
    """The vectors of texts, (len(texts), dimensions), and how many had to be embedded.

    Each batch is kept as soon as it is embedded, so that a failure loses at most one batch.
    progress: called with (done, total) of what has to be embedded.
    """
    path = prepare(folder) / "embeddings.sqlite3"
    try:
        return _embed(texts, embedder, path, progress)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_DAMAGED:
            raise SiteError(f"cache: {path} cannot be used ({error}): make it writable") from None
        # A cache can always be made again; a damaged one must not stop a build.
        path.unlink(missing_ok=True)
        return _embed(texts, embedder, path, progress)


def _embed(
    texts: Sequence[str], embedder: Embedder, path: Path, progress: Progress | None
) -> tuple[Vectors, int]:
    identity = embedder.identity
    keys = [_key(identity, text) for text in texts]
    with closing(_open(path)) as database:
        known = _known(database, identity, set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        wanted = list(missing.items())
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            vectors = _checked(embedder, [text for _, text in batch])
            fresh = {key: vector for (key, _), vector in zip(batch, vectors, strict=True)}
            _keep(database, fresh)
            known |= fresh
            if progress:
                progress(start + len(batch), len(wanted))
        _touch(database, keys)
    rows = np.zeros((len(texts), identity.dimensions), dtype=np.float32)
    for row, key in enumerate(keys):
        rows[row] = known[key]
    return rows, len(wanted)


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


def _key(identity: Identity, text: str) -> bytes:
    name = json.dumps(identity.as_json(), sort_keys=True)
    return hashlib.sha256(f"{name}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_TIMEOUT)
    try:
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID"
        )
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database


def _known(
    database: sqlite3.Connection, identity: Identity, keys: set[bytes]
) -> dict[bytes, Vectors]:
    found = {}
    for key in keys:
        row = database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if row and len(row[0]) == 4 * identity.dimensions:
            vector = np.frombuffer(row[0], dtype="<f4")
            if np.isfinite(vector).all():
                found[key] = vector
    return found


def _keep(database: sqlite3.Connection, vectors: dict[bytes, Vectors]) -> None:
    with database:
        database.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(key, vector.astype("<f4").tobytes(), _today()) for key, vector in vectors.items()],
        )


def _touch(database: sqlite3.Connection, keys: Sequence[bytes]) -> None:
    today = _today()
    with database:
        database.executemany(
            "UPDATE vectors SET used = ? WHERE key = ? AND used < ?",
            [(today, key, today) for key in set(keys)],
        )
        database.execute("DELETE FROM vectors WHERE used < ?", (today - KEEP_DAYS,))


def _today() -> int:
    return int(time.time() // 86_400)
