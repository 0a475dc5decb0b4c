"""Atomic writes: a reader sees the old or the new, never a part."""

import os
import shutil
import uuid
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it; an equal file is left alone."""
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def copy(source: Path, target: Path) -> None:
    """Copy a file atomically; one of the same size and content is left alone."""
    write(target, source.read_bytes())


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed build left behind in a folder and below."""
    for path in list(folder.rglob(".*.tmp")):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
