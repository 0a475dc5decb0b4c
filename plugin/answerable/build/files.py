"""Atomic writes: a reader sees the old or the new, never a part."""

import contextlib
import errno
import os
import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

LOCK = ".lock"

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{32}(?:\.old)?\.tmp", re.S)
# What a file system says that has no locks; two builds can then only be told apart by their user.
_UNLOCKABLE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write(path: Path, data: bytes, *, keep_mode: bool = False) -> None:
    """Write a file by way of a temporary one beside it; an equal file is left alone.

    keep_mode: a file that was there keeps its rights.
    """
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_for(path)
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if keep_mode and path.is_file():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def copy(source: Path, target: Path) -> None:
    """Copy a file atomically; one of the same size and content is left alone."""
    write(target, source.read_bytes())


def temporary_for(path: Path, mark: str = "") -> Path:
    """A new name beside a path, known for a leftover if a kill leaves it there."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}{mark}.tmp")


def is_ours(name: str) -> bool:
    """Whether a file of that name is a lock or a leftover of a killed build."""
    return name == LOCK or _LEFTOVER.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed build left behind in a folder, not below it; hold its lock."""
    if not folder.is_dir():
        return
    for path in list(folder.iterdir()):
        if not _LEFTOVER.fullmatch(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold a folder for one build at a time: others wait, and a kill lets go of it."""
    folder.mkdir(parents=True, exist_ok=True)
    # The lock is never deleted: another build could be waiting for the file that was.
    with (folder / LOCK).open("ab") as file:
        try:
            _wait(file.fileno())
        except OSError as error:
            if error.errno not in _UNLOCKABLE:
                raise
        yield


if sys.platform == "win32":
    import msvcrt

    def _wait(descriptor: int) -> None:
        while True:
            try:
                # The byte at the file's position is locked: the first, since it stays empty.
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLK):
                    raise
                time.sleep(0.05)
            else:
                return
else:
    import fcntl

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
