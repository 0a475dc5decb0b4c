"""Caches of a build, and the progress that it shows."""

import contextlib
import hashlib
import hmac
import json
import secrets
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from traceback import walk_tb
from typing import TypeVar

import msgspec
import numpy as np

from ..engine.errors import AnswerableError, EmbedderError, SiteError
from ..engine.providers import find_entry_point
from ..engine.vectors import Embedder, EmbedderIdentity, Floats, check_vectors
from .files import PRIVATE_FILE_MODE, make_private_folder, restrict_mode, write_private_file

CACHE_FILE = "cache.sqlite3"
KEY_FILE = "cache.key"
# How many days an entry stays that no build asks for.
CACHE_DAYS = 30
# Seconds to wait for another build that is writing.
_TIMEOUT = 30.0
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_KEY_BYTES = 32

# Packages that read pages and texts.
_READING_PACKAGES = ("selectolax", "snowballstemmer")

T = TypeVar("T")


@cache
def hash_code() -> str:
    """Hash the code of a build, so that what another version has kept is made again."""
    rooms = [Path(__file__).parents[1] / name for name in ("indexing", "engine")]
    paths = sorted(path for room in rooms for path in room.rglob("*.*") if path.suffix != ".pyc")
    versions = repr([*map(version, _READING_PACKAGES)]).encode()
    return hashlib.sha256(b"".join(map(Path.read_bytes, paths)) + versions).hexdigest()


class SqliteCache:
    """One table of the cache that the builds of a project share; the caller closes it.

    A key is kept as its HMAC under a random key of the project, so that its file alone confirms no
    guess of what a private text says. A damaged file is deleted and begun anew, since nothing in it
    is the only copy. SiteError if it cannot be used at all.
    """

    def __init__(self, folder: Path, table: str) -> None:
        make_private_folder(folder)
        # The folder ignores itself for git, since the vectors of notes in it are private.
        if not (folder / ".gitignore").exists():
            write_private_file(folder / ".gitignore", b"*\n")
        self._path, self._table = folder / CACHE_FILE, table
        secret = folder / KEY_FILE
        # It is made once; without it the cache is as if it were empty.
        if not secret.is_file() or secret.stat().st_size != _KEY_BYTES:
            write_private_file(secret, secrets.token_bytes(_KEY_BYTES))
        restrict_mode(secret, PRIVATE_FILE_MODE)
        self._secret = secret.read_bytes()
        self._database: sqlite3.Connection | None = None
        self._used: set[bytes] = set()
        self._run(lambda _: None)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None if there is none or it is damaged."""
        hidden = self._hide(key)
        self._used.add(hidden)
        query = f"SELECT value FROM {self._table} WHERE key = ?"
        row = self._run(lambda database: database.execute(query, (hidden,)).fetchone())
        kept = row[0] if row and isinstance(row[0], bytes) else b""
        return kept[4:] if kept[:4] == _sum_value(kept[4:]) else None

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store values, in one transaction."""
        today = _count_days()
        rows = [
            (self._hide(key), _sum_value(value) + value, today) for key, value in entries.items()
        ]
        command = f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)"
        self._run(lambda database: database.executemany(command, rows))

    def close(self) -> None:
        """Close the table; what no build has asked it for in ``CACHE_DAYS`` is deleted."""
        today, table = _count_days(), self._table
        rows = [(today, key, today) for key in self._used]

        def mark_and_delete(database: sqlite3.Connection) -> None:
            database.executemany(f"UPDATE {table} SET used = ? WHERE key = ? AND used < ?", rows)
            database.execute(f"DELETE FROM {table} WHERE used < ?", (today - CACHE_DAYS,))

        self._run(mark_and_delete)
        self._disconnect()

    def _hide(self, key: bytes) -> bytes:
        return hmac.digest(self._secret, key, "sha256")

    def _run(self, act: Callable[[sqlite3.Connection], T], *, is_first: bool = True) -> T:
        """Act in a transaction, a second time with a new file if the first is damaged."""
        try:
            with self._open() as database:
                return act(database)
        except sqlite3.DatabaseError as error:
            self._disconnect()
            if not is_first or getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                raise SiteError(
                    f"cache: {self._path} cannot be used ({error}): make it writable, free space "
                    "on its disk or wait for another build that uses it"
                ) from None
        self._path.unlink(missing_ok=True)
        return self._run(act, is_first=False)

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            # SQLite would make the file by the umask; its journal has the mode of the file.
            with contextlib.suppress(OSError):
                self._path.touch(PRIVATE_FILE_MODE)
            restrict_mode(self._path, PRIVATE_FILE_MODE)
            self._database = sqlite3.connect(self._path, timeout=_TIMEOUT)
            # A damaged value may say that it is a text.
            self._database.text_factory = bytes
            self._database.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table}"
                " (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL)"
            )
        return self._database

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _sum_value(value: bytes) -> bytes:
    """Compute what stands before a value: SQLite does not notice if one is damaged on its disk."""
    return zlib.crc32(value).to_bytes(4, "little")


def hash_inputs(*inputs: object) -> bytes:
    """Hash what something depends on: the code of a build, dataclasses and plain values."""
    values = msgspec.to_builtins([hash_code(), *inputs], order="deterministic")
    return hashlib.sha256(json.dumps(values).encode()).digest()


def _count_days() -> int:
    return int(time.time() // 86_400)


_BATCH_SIZE = 512


def embed_cached(texts: Sequence[str], embedder: Embedder, folder: Path) -> tuple[Floats, int]:
    """Return the vectors of texts, (len(texts), dimensions), and how many had to be embedded.

    Each batch is stored as soon as it is embedded, so that a failure loses at most one batch.
    """
    identity = embedder.identity
    rows = np.zeros((len(texts), identity.dimensions), dtype=np.float32)
    missing: dict[bytes, list[int]] = {}
    name = name_vector_space(identity)
    keys = [
        hashlib.sha256(f"{name}\0{text}".encode("utf-8", "surrogatepass")).digest()
        for text in texts
    ]
    with closing(SqliteCache(folder, "embeddings")) as cache, show_progress("embedding") as report:
        for row, key in enumerate(keys):
            vector = None if key in missing else _decode_vector(cache.get(key), identity)
            if vector is None:
                missing.setdefault(key, []).append(row)
            else:
                rows[row] = vector
        listed = list(missing)
        for start in range(0, len(listed), _BATCH_SIZE):
            batch = listed[start : start + _BATCH_SIZE]
            vectors = _embed_checked(embedder, [texts[missing[key][0]] for key in batch])
            found = dict(zip(batch, vectors, strict=True))
            cache.put({key: vector.astype("<f4").tobytes() for key, vector in found.items()})
            for key, vector in found.items():
                rows[missing[key]] = vector
            if report:
                report(start + len(batch), len(missing))
    return rows, len(missing)


def _decode_vector(data: bytes | None, identity: EmbedderIdentity) -> Floats | None:
    if data is None or len(data) != 4 * identity.dimensions:
        return None
    vector: Floats = np.frombuffer(data, dtype="<f4")
    return vector if np.isfinite(vector).all() else None


def _embed_checked(embedder: Embedder, texts: Sequence[str]) -> Floats:
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
    name, origin = type(error).__name__, find_entry_point("embedder", provider)
    package = origin.module.partition(".")[0] if origin else None
    lines = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ]
    if not lines:
        return f"the embedder failed ({name}): try again"
    return f"the embedder failed ({name} in {lines[-1]}): correct it there and build again"


def name_vector_space(identity: EmbedderIdentity) -> str:
    """Name what vectors depend on: the identity, and of a registered embedder its version."""
    fields, origin = asdict(identity), find_entry_point("embedder", identity.provider)
    if origin and origin.dist:
        fields |= {"distribution": origin.dist.name, "version": origin.dist.version}
    return json.dumps(fields, sort_keys=True)


@contextmanager
def show_progress(activity: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what shows (done, total) on one line; None where standard error is not a terminal.

    The line appears with the first report, so a build that embeds nothing shows none.
    """
    if not sys.stderr.isatty():
        yield None
        return

    def report(done: int, total: int) -> None:
        sys.stderr.write(f"\r\x1b[Kanswerable: {activity}, {done} of {total}")
        sys.stderr.flush()

    try:
        yield report
    finally:
        # What follows begins a line of its own.
        sys.stderr.write("\r\x1b[K")
