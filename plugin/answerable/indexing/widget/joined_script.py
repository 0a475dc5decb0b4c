"""Join a script and the modules that it imports into one file, which a page fetches at once.

Modules that import each other would be fetched one after the other, level by level.
"""

import re
from collections.abc import Mapping

_IMPORT = re.compile(r"^import \{([^}]*)\} from \"\./([^\"]+)\";[ \t]*\n", re.M)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const)\b)", re.M)
_EXPORTED_NAME = re.compile(r"^export (?:async function|function|class|const) (\w+)", re.M)
_OTHER_STATEMENT = re.compile(r"^(?:import|export)\b[^\n(.]*", re.M)


def join_modules(sources: Mapping[str, str], entry: str) -> str:
    """Join a script with all that it imports, in an order in which each comes before its users.

    sources: of modules by path, in one folder. Each becomes a function of its own, whose names are
    its own. ValueError for modules that import each other in a circle, and for an import or export
    in a form that is not ``import { a, b as c } from "./x.js"`` or ``export`` of a declaration.
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
    source = sources[path]
    for match in _IMPORT.finditer(source):
        _write_module(match[2], sources, written, (*users, path))
    body = _IMPORT.sub(lambda match: _read_names(match[1], match[2]), source)
    if users:
        names = ", ".join(_EXPORTED_NAME.findall(body))
        body = _EXPORT.sub("", body).strip()
        body = f"const {_name_module(path)} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"
    if (other := _OTHER_STATEMENT.search(_EXPORT.sub("", body))) is not None:
        raise ValueError(f"{path}: {other[0]!r} has a form that cannot be joined")
    written[path] = body


def _read_names(names: str, path: str) -> str:
    """Write the statement that reads imported names from their module."""
    pairs = re.sub(r"\s+as\s+", ": ", " ".join(names.split()).rstrip(", "))
    return f"const {{ {pairs} }} = {_name_module(path)};\n"


def _name_module(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
