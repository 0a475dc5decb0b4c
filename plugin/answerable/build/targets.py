"""From a note's ``about`` to a url of the site."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from ..serve.errors import NotebookError
from . import crossing, windows
from .notebook import Note

# Each path that may be named, the url that it has and the ids in that page.
Targets = Mapping[str, tuple[str, frozenset[str]]]


def resolver(targets: Targets) -> Callable[[str], str]:
    """A function from ``about``: a path with or without an anchor, or an https url."""

    def resolve(about: str) -> str:
        address = urlsplit(about)
        if address.scheme == "https" and address.hostname:
            if address.username or address.password:
                raise NotebookError("the url holds a user name or a password; leave it out")
            return about
        path, _, anchor = about.partition("#")
        target = targets.get(path.removeprefix("/"))
        if target is None:
            raise NotebookError(
                f"{path!r} is not a published file of the docs folder; give its path there, such "
                "as `guide/deploy.md`, or an https url"
            )
        url, anchors = target
        if anchor and anchor not in anchors:
            named = sorted(name for name in anchors if not name.startswith("__"))
            near = ", ".join(named[:8]) or "none"
            raise NotebookError(f"{path} has no anchor {anchor!r}; it has {near}")
        return f"{url}#{anchor}" if anchor else url

    return resolve


def check(note: Note, resolve: crossing.Resolve, language: str) -> None:
    """Resolve the ``about`` of every place in a note; NotebookError for one that leads nowhere."""
    for about in dict.fromkeys(
        place.about for place in windows.places(note, language) if note.about
    ):
        crossing.hint(replace(note, about=about), resolve)
