"""Test a cache file that cannot be used: the message, and that the file stays."""

import sqlite3
from pathlib import Path

import pytest

from answerable.indexing.caches import SqliteCache
from answerable.serve.errors import SiteError


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (sqlite3.SQLITE_FULL, "free space"),
        (sqlite3.SQLITE_IOERR, "check the disk"),
        (sqlite3.SQLITE_IOERR_WRITE, "check the disk"),
        (sqlite3.SQLITE_BUSY, "wait for the other build"),
        (sqlite3.SQLITE_READONLY, "make it writable"),
        (sqlite3.SQLITE_CANTOPEN, "make it writable"),
    ],
)
def test_a_store_that_cannot_be_used_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, remedy: str
) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"")

    def refused(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite3, "connect", refused)
    with pytest.raises(SiteError, match=remedy):
        SqliteCache(path)
    assert path.is_file()
