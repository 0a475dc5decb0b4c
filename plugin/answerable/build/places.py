"""Where private and published things may lie: never inside one another."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..serve.errors import NotebookError, SiteError


def check_notebook(notebook: Path, published: Mapping[str, Path]) -> None:
    """Refuse a notebook that is inside a published folder or holds one, links followed.

    published: what to call each folder, and the folder. NotebookError names both paths.
    """
    home = _real(notebook)
    for name, folder in published.items():
        target = _real(folder)
        if _inside(home, target) or _inside(target, home):
            raise NotebookError(
                f"notebook: {notebook} and {name} {folder} lie in one another, so notes could be "
                "published; move the notebook to a folder of its own"
            )
        for link in _links(target):
            if _inside(_real(link), home) or _inside(home, _real(link)):
                raise NotebookError(
                    f"notebook: {link} in {name} links into the notebook {notebook}, so notes "
                    "would be published; remove the link"
                )
    for path in notebook.rglob("*"):
        for name, folder in published.items():
            if _inside(_real(path), _real(folder)):
                raise NotebookError(
                    f"notebook: {path} links into {name} {folder}, which is published; "
                    "remove the link"
                )


def check_outside(option: str, place: Path, published: Mapping[str, Path]) -> None:
    """Refuse a folder of ours in a published one, or around one.

    Vectors of private text are private, and a folder of ours holds nothing of the author's.
    SiteError names the option and both paths.
    """
    for name, folder in published.items():
        if _inside(_real(place), _real(folder)):
            raise SiteError(
                f"{option}: {place} lies in {name} {folder}, which is published; choose a "
                "folder outside it"
            )
        if _inside(_real(folder), _real(place)):
            raise SiteError(f"{option}: {place} holds {name} {folder}; choose a folder of its own")


def _real(path: Path) -> Path:
    """The path with its links followed; unlike Path.resolve() it bears a link to itself."""
    return Path(os.path.realpath(path))


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _links(folder: Path) -> Iterator[Path]:
    """Every symbolic link in a folder and below, linked folders included: MkDocs follows them."""
    seen: set[Path] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        if not here.is_dir() or _real(here) in seen:
            continue
        seen.add(_real(here))
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield Path(entry.path)
                    waiting.append(Path(entry.path))
                elif entry.is_dir():
                    waiting.append(Path(entry.path))
