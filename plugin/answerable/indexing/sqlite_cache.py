"""Bytes by key in one file on disk, which can always be made again."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from ..serve.errors import SiteError
from .output import atomic_files
from .output.atomic_files import make_private_folder, restrict_mode, write_private_file

# How many days what no build asks for is kept.
CACHE_DAYS = 30
# Seconds to wait for another build that is writing.
_TIMEOUT = 30.0
# Errors of a file that may be whole and another build's: it must not be thrown away.
_ERRORS_OF_WHOLE_FILES = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_REMEDIES = {
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_IOERR: "free space on its disk, or check the disk",
    sqlite3.SQLITE_BUSY: "wait for the other build",
    sqlite3.SQLITE_LOCKED: "wait for the other build",
}

T = TypeVar("T")


class SqliteCache:
    """An open store, to be closed.

    A damaged file is thrown away and begun anew, since nothing in it is the only copy. SiteError
    if the file cannot be used at all. ``renewed`` tells that what was in it has been lost.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        prepare_cache_folder(path.parent)
        self._database: sqlite3.Connection | None = None
        self.renewed = False
        self._healing(lambda _: None)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None if there is none."""

        def read(database: sqlite3.Connection) -> bytes | None:
            row = database.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
            return row[0] if row and isinstance(row[0], bytes) else None

        return self._healing(read)

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep values, in one transaction."""
        rows = [(key, value, _count_days()) for key, value in entries.items()]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)

        self._healing(write)

    def touch(self, keys: Iterable[bytes]) -> None:
        """Note that keys are in use, and forget those that have not been for ``KEEP_DAYS``."""
        today = _count_days()
        rows = [(today, key, today) for key in set(keys)]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("UPDATE entries SET used = ? WHERE key = ? AND used < ?", rows)
                database.execute("DELETE FROM entries WHERE used < ?", (today - CACHE_DAYS,))

        self._healing(write)

    def _healing(self, act: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._acting(act)
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)
            self.renewed = True
            return self._acting(act)

    def _acting(self, act: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return act(self._open())
        except sqlite3.DatabaseError as error:
            self.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if self.renewed or code in _ERRORS_OF_WHOLE_FILES:
                remedy = _REMEDIES.get(code, "make it writable")
                raise SiteError(f"cache: {self._path} cannot be used ({error}): {remedy}") from None
            raise

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            # SQLite would make the file by the umask; its journal has the mode of the file.
            with contextlib.suppress(OSError):
                self._path.touch(atomic_files.PRIVATE_FILE_MODE)
            restrict_mode(self._path, atomic_files.PRIVATE_FILE_MODE)
            self._database = sqlite3.connect(self._path, timeout=_TIMEOUT)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS entries"
                " (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL)"
                " WITHOUT ROWID"
            )
        return self._database

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None


def prepare_cache_folder(folder: Path) -> Path:
    """Make the cache folder for its owner alone; it ignores itself for git.

    The vectors of notes in it are private.
    """
    make_private_folder(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write_private_file(ignore, b"*\n")
    return folder


def _count_days() -> int:
    return int(time.time() // 86_400)
