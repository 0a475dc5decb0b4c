"""Atomic writes: a reader sees the old or the new, never a part; private ones for vectors."""

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

LOCK = ".lock"
# Vectors of notes tell what the notes say, whatever umask a build runs with.
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{32}(?:\.old)?\.tmp", re.S)
# What a file system says that has no locks; two builds can then only be told apart by their user.
_UNLOCKABLE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write(path: Path, data: bytes, *, keep_mode: bool = False) -> None:
    """Write a file by way of a temporary one beside it; an equal file is left alone.

    keep_mode: a file that was there keeps its rights.
    """
    if _holds(path, data):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _replacing(path, 0o666) as temporary:
        temporary.write_bytes(data)
        if keep_mode and path.is_file():
            shutil.copymode(path, temporary)


def write_private(path: Path, data: bytes) -> None:
    """Write a file that its owner alone can read (0600), whatever the umask; as ``write`` else.

    The folders that are missing above it are made for their owner alone; others stay as they are.
    """
    if not _holds(path, data):
        _make_missing(path.parent)
        with _replacing(path, PRIVATE_FILE) as temporary:
            temporary.write_bytes(data)
    restrict(path, PRIVATE_FILE)


def copy_private(source: Path, target: Path) -> None:
    """Copy a file to one that its owner alone can read."""
    write_private(target, source.read_bytes())


def make_private(folder: Path) -> None:
    """Make a folder that its owner alone can enter (0700), and whatever is missing above it.

    A folder that is there already is restricted too.
    """
    _make_missing(folder)
    restrict(folder, PRIVATE_FOLDER)


def restrict(path: Path, mode: int) -> None:
    """Set the mode of what is ours; another user's, or a file system without modes, is left."""
    with contextlib.suppress(OSError):
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _make_missing(folder: Path) -> None:
    for path in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
        restrict(path, PRIVATE_FOLDER)


@contextlib.contextmanager
def _replacing(path: Path, mode: int) -> Iterator[Path]:
    """A new file beside a path, created with a mode, that takes its place once it is on disk."""
    temporary = temporary_for(path)
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
    """Hold a private folder for one build at a time: others wait, and a kill lets go of it."""
    make_private(folder)
    # The lock is never deleted: another build could be waiting for the file that was.
    with open(folder / LOCK, "ab", opener=_open_private) as file:
        restrict(folder / LOCK, PRIVATE_FILE)
        try:
            _wait(file.fileno())
        except OSError as error:
            if error.errno not in _UNLOCKABLE:
                raise
        yield


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE)


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
