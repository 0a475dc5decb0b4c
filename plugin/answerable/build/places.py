"""Where private and published things may lie: never inside one another."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..serve.errors import NotebookError, SiteError


def check_notebook(notebook: Path, published: Mapping[str, Path]) -> None:
    """Refuse a notebook that is inside a published folder or holds one, links followed.

    published: what to call each folder, and the folder. NotebookError names both paths.
    """
    home = notebook.resolve()
    for name, folder in published.items():
        target = folder.resolve()
        if _inside(home, target) or _inside(target, home):
            raise NotebookError(
                f"notebook: {notebook} and {name} {folder} lie in one another, so notes could be "
                "published; move the notebook to a folder of its own"
            )
        for link in _links(target):
            if _inside(link.resolve(), home):
                raise NotebookError(
                    f"notebook: {link} in {name} links into the notebook {notebook}, so notes "
                    "would be published; remove the link"
                )
    for path in notebook.rglob("*"):
        for name, folder in published.items():
            if _inside(path.resolve(), folder.resolve()):
                raise NotebookError(
                    f"notebook: {path} links into {name} {folder}, which is published; "
                    "remove the link"
                )


def check_function(function: Path, published: Mapping[str, Path]) -> None:
    """Refuse a function folder in a published one: vectors of private text are private."""
    for name, folder in published.items():
        if _inside(function.resolve(), folder.resolve()):
            raise SiteError(
                f"function: {function} lies in {name} {folder}, which is published; choose a "
                "folder outside it"
            )


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _links(folder: Path) -> Iterator[Path]:
    """Every symbolic link in a folder and below."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path)
            elif entry.is_dir():
                yield from _links(Path(entry.path))
