"""Read the engine's modules as a site publishes them: without comments, of its languages only."""

import re
from collections.abc import Iterable
from importlib.resources import files

from ..browser_index.addressed_files import AddressedFiles, address_files
from ..browser_index.stemmers import list_stemmer_files

ENGINE_KIND = "engine"
# What the ask box imports; it imports the others.
ENTRY_MODULE = "site_index.js"

_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.M | re.S)
_LICENSE = re.compile(r"license|copyright", re.I)
_INDENTATION = re.compile(r"^[ \t]+", re.M)


def read_engine_files(tags: Iterable[str]) -> AddressedFiles:
    """Read the modules for a site in the languages of these tags, by their paths in a folder."""
    folder = files("answerable") / "widget" / "engine"
    names = [file.name for file in folder.iterdir() if file.name.endswith(".js")]
    sources = {
        path: folder.joinpath(*path.split("/")).read_text(encoding="utf-8")
        for path in (*names, *list_stemmer_files(tags))
    }
    return address_files(
        ENGINE_KIND, {path: _shorten(path, text).encode() for path, text in sources.items()}
    )


def _shorten(path: str, text: str) -> str:
    """Shorten a script; a license is published as it is."""
    return shorten_script(text) if path.endswith(".js") else text


def shorten_script(source: str) -> str:
    """Remove indentation and the comments that stand on lines of their own, but a license.

    A script with a text over several lines is left as it is: in one, both are content.
    """
    if any(line.count("`") % 2 for line in source.splitlines()):
        return source
    without = _COMMENT.sub(lambda comment: comment[0] * bool(_LICENSE.search(comment[0])), source)
    return _INDENTATION.sub("", without)
