"""Files replaced at once, folders that may not overlap, and the words of messages about them."""

import contextlib
import errno
import os
import re
import shutil
import sqlite3
import stat
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path

from ..engine.errors import AnswerableError, NotebookError, SiteError

LOCK_FILE = ".lock"
# Vectors of notes reveal what the notes say, whatever umask a build runs with.
PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700

# Seconds to wait for another build that publishes into the same folder.
_LOCK_TIMEOUT = 600.0
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{32}\.tmp", re.S)


def write_file(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it; an equal one stays.

    One that is replaced keeps its mode.
    """
    if not _has_contents(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace_file(path, data, stat.S_IMODE(path.stat().st_mode) if path.is_file() else None)


def write_private_file(path: Path, data: bytes) -> None:
    """Write a file that its owner alone can read (0600), whatever the umask; an equal one stays.

    The folders that are missing above it are made for their owner alone; others stay as they are.
    """
    if not _has_contents(path, data):
        _make_missing_folders(path.parent)
        _replace_file(path, data, PRIVATE_FILE_MODE)
    restrict_mode(path, PRIVATE_FILE_MODE)


def _has_contents(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _replace_file(path: Path, data: bytes, mode: int | None) -> None:
    """Replace a file once the new one is on disk. mode: None for that of the umask."""
    temporary = temporary_path(path)
    try:
        with open(temporary, "xb", opener=_open_private if mode else None) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode:
            restrict_mode(temporary, mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_folder(folder: Path, files: Mapping[str, bytes], *, is_private: bool = False) -> None:
    """Write a folder of ours in one step, with files by their paths in it; an equal one stays.

    Whoever links to it does so after. is_private: its owner alone can read it.
    """
    if read_folder(folder) == files:
        return
    fresh = temporary_path(folder)
    try:
        for name, data in files.items():
            path = fresh / name
            if is_private:
                _make_missing_folders(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Nobody reads it before the folder is in its place, so it needs no temporary one.
            with open(path, "xb", opener=_open_private if is_private else None) as file:
                file.write(data)
        replace_folder(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read_folder(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, but for bytecode, by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def make_private_folder(folder: Path) -> None:
    """Make a folder that its owner alone can enter (0700), and whatever is missing above it.

    An existing folder is restricted too.
    """
    _make_missing_folders(folder)
    restrict_mode(folder, PRIVATE_FOLDER_MODE)


def restrict_mode(path: Path, mode: int) -> None:
    """Set the mode of our own file; another user's, or a file system without modes, is left."""
    with contextlib.suppress(OSError):
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)


def _make_missing_folders(folder: Path) -> None:
    for path in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        path.mkdir(PRIVATE_FOLDER_MODE, exist_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE_MODE)


def temporary_path(path: Path) -> Path:
    """Return a new name beside a path, recognizable as a leftover if a kill leaves it there."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def is_lock_or_leftover(name: str) -> bool:
    """True if a file's name is that of a lock or of what a killed build has left."""
    return name == LOCK_FILE or _LEFTOVER.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed build left in a folder, not below it; the caller holds its lock."""
    if not folder.is_dir():
        return
    for path in list(folder.iterdir()):
        if _LEFTOVER.fullmatch(path.name):
            remove_path(path)


def remove_path(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def replace_folder(fresh: Path, folder: Path) -> None:
    """Put a fresh folder in the place of one beside it, if that exists, and remove the old."""
    # A kill between the two renames leaves neither in its place: the next build repairs that, since
    # it recognizes the folder around it as its own.
    stale = temporary_path(folder)
    if folder.exists():
        folder.rename(stale)
    fresh.rename(folder)
    shutil.rmtree(stale, ignore_errors=True)


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a private folder for one build at a time: others wait, and a kill releases it.

    SiteError if another holds it for too long, or the file system has no locks.
    """
    make_private_folder(folder)
    path = folder / LOCK_FILE
    # It is never deleted: another build could be waiting for the deleted file. Nor may this process
    # open it elsewhere: closing it there would end the lock.
    path.touch(PRIVATE_FILE_MODE)
    restrict_mode(path, PRIVATE_FILE_MODE)
    # SQLite can lock a file on every system, and writes nothing for that without a journal.
    with closing(sqlite3.connect(path, 0, isolation_level=None)) as lock:
        ends = time.monotonic() + _LOCK_TIMEOUT
        while not lock.in_transaction:
            try:
                lock.execute("PRAGMA journal_mode=OFF")
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                    raise SiteError(
                        f"{path} cannot be locked ({error}); wait for the other build, or choose a "
                        "folder on a disk of this machine"
                    ) from None
                # SQLite itself would wait without hearing a Ctrl+C.
                time.sleep(0.05)
        yield


def check_private_location(option: str, place: Path, published: Mapping[str, Path]) -> None:
    """Refuse a folder of private files in a published one or around one, links followed.

    published: what to call each folder, and the folder. SiteError names the option and both paths.
    """
    for name, folder in published.items():
        if _overlap(place, folder):
            raise SiteError(
                f"{option}: {place} and {name} {folder} lie in one another, so private files could "
                "be published; choose a folder of its own"
            )


def check_notebook_location(notebook: Path, published: Mapping[str, Path]) -> None:
    """Refuse a notebook in a published folder or around one, and links between the two.

    NotebookError names a link and where it leads.
    """
    check_private_location("notebook", notebook, published)
    for name, folder in published.items():
        for home, other, target in (
            (folder, notebook, f"the notebook {notebook}"),
            (notebook, folder, f"{name} {folder}"),
        ):
            for link in filter(os.DirEntry.is_symlink, walk_entries(home)):
                if _overlap(Path(link), other):
                    raise NotebookError(
                        f"notebook: {link.path} links into {target}, so notes could be published; "
                        "remove the link"
                    )


def _overlap(one: Path, other: Path) -> bool:
    """True if one path is in the other or is the other, links followed."""
    # Unlike Path.resolve() this bears a link to itself.
    paths = [Path(os.path.realpath(path)) for path in (one, other)]
    return any(first == second or first in second.parents for first, second in permutations(paths))


def walk_entries(top: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what lies in a folder and in those below it, nothing if it is missing.

    Links are followed, each folder once, and last: one that lies here gets its own name. An entry
    knows what it is, so that the thousands of icons of a theme are not asked for one by one.
    """
    visited: set[str] = set()
    folders, links = [str(top)] if top.exists() else [], list[str]()
    while folders or links:
        folder = (folders or links).pop(0)
        real = os.path.realpath(folder)
        if real not in visited:
            visited.add(real)
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                # Unlike its own method, this bears a link to itself.
                elif entry.is_symlink() and Path(entry).is_dir():
                    links.append(entry.path)


def format_count(number: int, noun: str) -> str:
    """Format a number and its noun, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_OS_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "check its permissions"),
    **dict.fromkeys((errno.ENOSPC, errno.EFBIG, errno.EDQUOT), "free space for it"),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT), "correct the path"),
}


# How many problems a message names before it counts the others.
_NAMED_PROBLEMS = 5


def join_problems(problems: Sequence[str]) -> str:
    """Join the first problems of a file, such as those of its lines, and count the others."""
    others = len(problems) - _NAMED_PROBLEMS
    first_problems = "; ".join(problems[:_NAMED_PROBLEMS])
    return f"{first_problems}; and {others} more" if others > 0 else first_problems


def format_error(error: AnswerableError | OSError) -> str:
    """Format an error as one sentence; that of the operating system with its remedy, if known."""
    if not isinstance(error, OSError):
        return str(error)
    path = "a file" if error.filename is None else os.fsdecode(error.filename)
    remedy = _OS_REMEDIES.get(error.errno or 0)
    reason = error.strerror or type(error).__name__
    return f"{path} cannot be read or written ({reason})" + (f"; {remedy}" if remedy else "")
