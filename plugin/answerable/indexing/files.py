"""Files replaced at once, folders that may not overlap, and the words of messages about them."""

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..engine.errors import AnswerableError, NotebookError, SiteError

LOCK_FILE = ".lock"
# Vectors of notes reveal what the notes say, whatever umask a build runs with.
PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{32}\.tmp", re.S)
# Errors of a file system without locks; only their user can keep two builds apart then.
_NO_LOCKS_ERRNOS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_file(path: Path, data: bytes, *, keep_mode: bool = False) -> None:
    """Write a file by way of a temporary one beside it; an equal file is left alone.

    keep_mode: a file that is replaced keeps its mode.
    """
    if _has_contents(path, data):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_file(path, 0o666) as temporary:
        temporary.write_bytes(data)
        if keep_mode and path.is_file():
            shutil.copymode(path, temporary)


def write_private_file(path: Path, data: bytes) -> None:
    """Write a file that its owner alone can read (0600), whatever the umask; an equal one stays.

    The folders that are missing above it are made for their owner alone; others stay as they are.
    """
    if not _has_contents(path, data):
        _make_missing_folders(path.parent)
        with _temporary_file(path, PRIVATE_FILE_MODE) as temporary:
            temporary.write_bytes(data)
    restrict_mode(path, PRIVATE_FILE_MODE)


def write_fresh_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a folder of ours that is not in its place yet, for their owner alone.

    Nobody reads them before ``replace_folder``, so none needs a temporary one.
    """
    for name, data in contents.items():
        _make_missing_folders((folder / name).parent)
        with open(folder / name, "xb", opener=_open_private) as file:
            file.write(data)


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


def _has_contents(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _make_missing_folders(folder: Path) -> None:
    for path in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        path.mkdir(PRIVATE_FOLDER_MODE, exist_ok=True)
        restrict_mode(path, PRIVATE_FOLDER_MODE)


@contextlib.contextmanager
def _temporary_file(path: Path, mode: int) -> Iterator[Path]:
    """Create a file beside a path, with a mode, that replaces it once it is on disk."""
    temporary = temporary_path(path)
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
        if not _LEFTOVER.fullmatch(path.name):
            continue
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
    """Hold a private folder for one build at a time: others wait, and a kill releases it."""
    make_private_folder(folder)
    # The lock is never deleted: another build could be waiting for the deleted file.
    with open(folder / LOCK_FILE, "ab", opener=_open_private) as file:
        restrict_mode(folder / LOCK_FILE, PRIVATE_FILE_MODE)
        try:
            _lock_descriptor(file.fileno())
        except OSError as error:
            if error.errno not in _NO_LOCKS_ERRNOS:
                raise
        yield


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE_MODE)


if sys.platform == "win32":
    import msvcrt

    def _lock_descriptor(descriptor: int) -> None:
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

    def _lock_descriptor(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def check_notebook_location(notebook: Path, published: Mapping[str, Path]) -> None:
    """Refuse a notebook that is inside a published folder or holds one, links followed.

    published: what to call each folder, and the folder. NotebookError names both paths.
    """
    home = _real_path(notebook)
    for name, folder in published.items():
        target = _real_path(folder)
        if _is_within(home, target) or _is_within(target, home):
            raise NotebookError(
                f"notebook: {notebook} and {name} {folder} lie in one another, so notes could be "
                "published; move the notebook to a folder of its own"
            )
        for link in filter(os.DirEntry.is_symlink, walk_entries(target)):
            real = Path(os.path.realpath(link.path))
            if _is_within(real, home) or _is_within(home, real):
                raise NotebookError(
                    f"notebook: {link.path} in {name} links into the notebook {notebook}, so notes "
                    "would be published; remove the link"
                )
    for path in notebook.rglob("*"):
        for name, folder in published.items():
            if _is_within(_real_path(path), _real_path(folder)):
                raise NotebookError(
                    f"notebook: {path} links into {name} {folder}, which is published; "
                    "remove the link"
                )


def check_private_location(option: str, place: Path, published: Mapping[str, Path]) -> None:
    """Refuse a folder of ours in a published one, or around one.

    Vectors of private text are private, and a folder of ours holds nothing of the author's.
    SiteError names the option and both paths.
    """
    for name, folder in published.items():
        if _is_within(_real_path(place), _real_path(folder)):
            raise SiteError(
                f"{option}: {place} lies in {name} {folder}, which is published; choose a "
                "folder outside it"
            )
        if _is_within(_real_path(folder), _real_path(place)):
            raise SiteError(f"{option}: {place} holds {name} {folder}; choose a folder of its own")


def _real_path(path: Path) -> Path:
    """Follow a path's links; unlike Path.resolve() this bears a link to itself."""
    return Path(os.path.realpath(path))


def _is_within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def walk_entries(top: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what lies in a folder and in those below it, nothing if it is missing.

    Links are followed, each folder once, and last: one that lies here gets its own name. SiteError
    for a folder that cannot be read.
    """
    visited: set[str] = set()
    folders, links = [str(top)] if top.exists() else [], list[str]()
    while folders or links:
        folder = (folders or links).pop(0)
        real = os.path.realpath(folder)
        if real in visited:
            continue
        visited.add(real)
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise SiteError(
                f"{folder} cannot be read ({error.strerror}); make it readable"
            ) from None
        yield from entries
        for entry in entries:
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
