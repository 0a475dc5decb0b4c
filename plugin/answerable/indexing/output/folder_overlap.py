"""Refuse a notebook or private folder that overlaps a published one, also by symbolic links."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...serve.errors import NotebookError, SiteError


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
        for link in _iterate_links(target):
            if _is_within(_real_path(link), home) or _is_within(home, _real_path(link)):
                raise NotebookError(
                    f"notebook: {link} in {name} links into the notebook {notebook}, so notes "
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


def _iterate_links(folder: Path) -> Iterator[Path]:
    """List every symbolic link below a folder, in linked folders too: MkDocs follows them."""
    visited: set[Path] = set()
    folders = [folder]
    while folders:
        here = folders.pop()
        if not here.is_dir() or _real_path(here) in visited:
            continue
        visited.add(_real_path(here))
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield Path(entry.path)
                    folders.append(Path(entry.path))
                elif entry.is_dir():
                    folders.append(Path(entry.path))
