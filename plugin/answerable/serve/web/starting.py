"""The start of a function's process: what comes before numpy is imported, and what at its end."""

import gc
from pathlib import Path

from ..ahead import Ahead
from ..settings import BUNDLE


def begin(function: Path, *, verify: bool, has_bundle: bool = True) -> Ahead | None:
    """Begin to read a function's folder, before anything imports numpy.

    verify: hash the files of its bundle. has_bundle: it is asked; else there is nothing to read.
    Garbage is not collected until ``end``.
    """
    # Looking for garbage among what is kept for good is a twentieth of a start.
    gc.disable()
    return Ahead(function / BUNDLE, verify=verify) if has_bundle else None


def end() -> None:
    """Collect garbage from here on, but never look at what there is already."""
    gc.freeze()
    gc.enable()
