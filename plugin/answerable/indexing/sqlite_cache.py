"""Cache bytes by key in a SQLite file: reset if damaged, entries unused for 30 days are deleted."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from ..serve.errors import SiteError
from .output.atomic_files import (
    PRIVATE_FILE_MODE,
    make_private_folder,
    restrict_mode,
    write_private_file,
)

# How many days an entry stays that no build asks for.
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
    """An open cache, which the caller closes.

    A damaged file is deleted and begun anew, since nothing in it is the only copy. SiteError if
    the file cannot be used at all. ``was_reset`` tells that what was in it has been lost.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        prepare_cache_folder(path.parent)
        self._database: sqlite3.Connection | None = None
        self.was_reset = False
        self._run(lambda _: None)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None if there is none."""
        query = "SELECT value FROM entries WHERE key = ?"
        row = self._run(lambda database: database.execute(query, (key,)).fetchone())
        return row[0] if row and isinstance(row[0], bytes) else None

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store values, in one transaction."""
        rows = [(key, value, _count_days()) for key, value in entries.items()]
        command = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)"
        self._run(lambda database: database.executemany(command, rows))

    def touch(self, keys: Iterable[bytes]) -> None:
        """Mark keys as used today, and delete those that were not used for ``CACHE_DAYS``."""
        today = _count_days()
        rows = [(today, key, today) for key in set(keys)]

        def mark_and_delete(database: sqlite3.Connection) -> None:
            database.executemany("UPDATE entries SET used = ? WHERE key = ? AND used < ?", rows)
            database.execute("DELETE FROM entries WHERE used < ?", (today - CACHE_DAYS,))

        self._run(mark_and_delete)

    def _run(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Act in a transaction, a second time with a new file if the first is damaged."""
        try:
            return self._try(act)
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)
            self.was_reset = True
            return self._try(act)

    def _try(self, act: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._open() as database:
                return act(database)
        except sqlite3.DatabaseError as error:
            self.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if self.was_reset or code in _ERRORS_OF_WHOLE_FILES:
                remedy = _REMEDIES.get(code, "make it writable")
                raise SiteError(f"cache: {self._path} cannot be used ({error}): {remedy}") from None
            raise

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            # SQLite would make the file by the umask; its journal has the mode of the file.
            with contextlib.suppress(OSError):
                self._path.touch(PRIVATE_FILE_MODE)
            restrict_mode(self._path, PRIVATE_FILE_MODE)
            self._database = sqlite3.connect(self._path, timeout=_TIMEOUT)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS entries"
                " (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL)"
                " WITHOUT ROWID"
            )
        return self._database

    def close(self) -> None:
        """Close the file."""
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
