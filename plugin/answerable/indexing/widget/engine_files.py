"""Read the engine as a site publishes it: its modules as one script, stemmers of its languages."""

from collections.abc import Iterable
from importlib.resources import files

from ..browser_index.addressed_files import AddressedFiles, address_files
from ..browser_index.stemmers import list_stemmer_files
from .joined_script import join_modules, shorten_script

ENGINE_KIND = "engine"
# What the ask box imports. It imports the others, but for stemmers, when a page needs them.
ENTRY_MODULE = "site_index.js"


def read_engine_files(tags: Iterable[str]) -> AddressedFiles:
    """Read the engine for a site in the languages of these tags, by paths in a folder."""
    folder = files("answerable") / "widget" / "engine"
    modules = {
        file.name: shorten_script(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".js")
    }
    stemmers = {
        path: _shorten(path, folder.joinpath(*path.split("/")).read_text(encoding="utf-8"))
        for path in list_stemmer_files(tags)
    }
    scripts = {ENTRY_MODULE: join_modules(modules, ENTRY_MODULE), **stemmers}
    return address_files(ENGINE_KIND, {path: text.encode() for path, text in scripts.items()})


def _shorten(path: str, text: str) -> str:
    """Shorten a script; a license is published as it is."""
    return shorten_script(text) if path.endswith(".js") else text
