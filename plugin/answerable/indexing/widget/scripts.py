"""Scripts of the widget and the engine as a site gets them: joined and without comments."""

import json
import posixpath
import re
from collections.abc import Mapping
from importlib.resources import files

from ...serve.index.format import hash_files
from ..browser_files import AddressedFiles

_IMPORT = re.compile(r"^import \{([^}]*)\} from \"(\.[^\"]+)\";[ \t]*\n", re.M)
_DATA_IMPORT = re.compile(
    r"^import (\w+) from \"(\.[^\"]+)\" with \{ type: \"(json|text)\" \};[ \t]*\n", re.M
)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|var)\b)", re.M)
_EXPORTED_NAME = re.compile(r"^export (?:async function|function|class|const|var) (\w+)", re.M)
_LISTED_EXPORT = re.compile(r"^export \{ ([\w, ]+) \};$", re.M)
# What is left of the space in a style sheet; that before a colon separates selectors.
_SHEET_SPACE = re.compile(r" ?([{};,]) ?|(?<=:) ")
_OTHER_STATEMENT = re.compile(r"^(?:import|export)\b[^\n(.]*", re.M)

_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.M | re.S)
_TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")
_LICENSE = re.compile(r"license|copyright", re.I)
_INDENTATION = re.compile(r"^\s+", re.M)


def join_modules(sources: Mapping[str, str], entry: str) -> str:
    """Join a script with all that it imports, in an order in which each comes before its users.

    sources: the text of each file by its path. Each module becomes a function of its own, whose
    names are its own; a file that is imported as JSON or as text becomes a value. ValueError for
    modules that import each other in a circle, and for an import or export in a form that is not
    ``import { a, b as c } from "./x.js"``, ``import a from "./x.json" with { type: "json" }``,
    ``export`` of a declaration or, in the entry, ``export { a }``.
    """
    written: dict[str, str] = {}
    _write_module(entry, sources, written, ())
    return "".join(written.values())


def _write_module(
    path: str, sources: Mapping[str, str], written: dict[str, str], users: tuple[str, ...]
) -> None:
    """Write what a module imports, then itself. users: the chain of modules that import it."""
    if path in users:
        raise ValueError(f"{' imports '.join([*users[users.index(path) :], path])}")
    if path in written:
        return

    def locate(target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))

    def write_value(match: re.Match[str]) -> str:
        text = sources[locate(match[2])]
        sheet = _SHEET_SPACE.sub(r"\1", re.sub(r"/\*.*?\*/|\s+", " ", text).strip())
        value = json.loads(text) if match[3] == "json" else sheet
        constant = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return f"const {match[1]} = {constant};\n"

    def read_names(match: re.Match[str]) -> str:
        pairs = re.sub(r"\s+as\s+", ": ", " ".join(match[1].split()).rstrip(", "))
        return f"const {{ {pairs} }} = {_name_module(locate(match[2]))};\n"

    source = sources[path]
    for match in _IMPORT.finditer(source):
        _write_module(locate(match[2]), sources, written, (*users, path))
    body = _DATA_IMPORT.sub(write_value, _IMPORT.sub(read_names, source))
    if users:
        names = ", ".join(_EXPORTED_NAME.findall(body))
        body = _EXPORT.sub("", body).strip()
        body = f"const {_name_module(path)} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"
    plain = _EXPORT.sub("", body if users else _LISTED_EXPORT.sub("", body))
    if (other := _OTHER_STATEMENT.search(plain)) is not None:
        raise ValueError(f"{path}: {other[0]!r} has a form that cannot be joined")
    written[path] = body


def _name_module(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))


def wrap_module(source: str) -> str:
    """Wrap a module without static imports in a function, which a classic script leaves behind.

    ``widget/offline.js`` calls it with the module's address and what imports and fetches for it.
    """
    listed = [
        re.sub(r"(\w+) as (\w+)", r"\2: \1", names) for names in _LISTED_EXPORT.findall(source)
    ]
    names = ", ".join([*_EXPORTED_NAME.findall(source), *listed])
    body = _EXPORT.sub("", _LISTED_EXPORT.sub("", source)).replace("import.meta.url", "$url")
    body = re.sub(r"\bimport\(", "$import(", body)
    return (
        "document.currentScript.file = ($url, $import, fetch) => {\n"
        f'"use strict";\n{body}\nreturn {{ {names} }};\n}};\n'
    )


def shorten_script(source: str) -> str:
    """Remove indentation, types and the comments that stand on lines of their own, but a license.

    A script with a text over several lines is left as it is: in one, both are content.
    """
    if any(line.count("`") % 2 for line in source.splitlines()):
        return source
    without = _COMMENT.sub(lambda comment: comment[0] * bool(_LICENSE.search(comment[0])), source)
    return _INDENTATION.sub("", _TYPE.sub("", without))


# What the ask box imports when a page needs it: it is joined with all others.
ENTRY_MODULE = "site_index.js"


def read_engine_files() -> AddressedFiles:
    """Read the engine as one shortened script."""
    folder = files("answerable") / "widget" / "engine"
    modules = {
        file.name: shorten_script(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".js")
    }
    scripts = {ENTRY_MODULE: join_modules(modules, ENTRY_MODULE).encode()}
    return AddressedFiles(f"engine/{hash_files(scripts)}", scripts)
