"""A folder replaced by another, in one step where the system has one."""

import ctypes
import os
import shutil
import sys
from pathlib import Path

from . import files

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2


def replace(fresh: Path, folder: Path) -> None:
    """Put a fresh folder in the place of one beside it, if that exists, and remove the old."""
    if not folder.exists():
        fresh.rename(folder)
        return
    stale = fresh
    if not exchange(fresh, folder):
        # Without an exchange there is a moment in which neither is there, and a kill in it leaves
        # nothing: the next build repairs that, since it knows the folder around it for its own.
        stale = files.temporary_for(folder, ".old")
        folder.rename(stale)
        fresh.rename(folder)
    shutil.rmtree(stale, ignore_errors=True)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two paths in one step; False if the system or the file system cannot."""
    one, other = os.fsencode(first), os.fsencode(second)
    try:
        if sys.platform == "linux":
            call = ctypes.CDLL(None).renameat2
            result = call(_AT_FDCWD, one, _AT_FDCWD, other, ctypes.c_uint(_RENAME_EXCHANGE))
            return bool(result == 0)
        if sys.platform == "darwin":
            result = ctypes.CDLL(None).renamex_np(one, other, ctypes.c_uint(_RENAME_SWAP))
            return bool(result == 0)
    except (AttributeError, OSError):
        return False
    return False
