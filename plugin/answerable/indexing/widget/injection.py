"""The scripts of the widget as a site publishes them, and the tags that load them."""

import re
import shutil
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from ...engine.index.format import hash_files
from ..files import write_file

WIDGET_FOLDER = "assets/answerable/"
WIDGET_SCRIPT = f"{WIDGET_FOLDER}ask-box.js"
# Loads the other one, on a page of a disk too.
OFFLINE_SCRIPT = f"{WIDGET_FOLDER}offline.js"
# What the ask box runs in a worker where the browser answers.
ENGINE_SCRIPT = "site_index.js"

_TAGS = re.compile(
    # What all begin with stands first: a page is searched for it quickly.
    r'<(?:link rel="answerable" href="[^"]*">\n<)?'
    rf'script [^>]*"[^"]*{WIDGET_FOLDER}(?:ask-box|offline)\.js"[^>]*></script>\n'
)
_EXPORTS = re.compile(r"\bexport ?\{([^}]*)\};?\s*$")


@cache
def read_widget_files() -> Mapping[str, str]:
    """Read what every site publishes of the widget, by path: its scripts and its texts."""
    folder = files("answerable") / "widget"
    paths = {"ask-box.js": folder / "dist" / "ask-box.js", "offline.js": folder / "offline.js"}
    for file in sorted((folder / "strings").iterdir(), key=lambda file: file.name):
        # The script has the English texts in it.
        if file.name != "en.json":
            paths[f"strings/{file.name}"] = file
    return {WIDGET_FOLDER + path: file.read_text("utf-8") for path, file in paths.items()}


def read_engine_script() -> tuple[str, bytes]:
    """Read the engine as one script, and where it lies: in a folder whose name changes with it."""
    data = (files("answerable") / "widget" / "dist" / ENGINE_SCRIPT).read_bytes()
    return f"engine/{hash_files({ENGINE_SCRIPT: data})}/{ENGINE_SCRIPT}", data


def write_tags(
    script_url: str, endpoint: str | None, placement: str, shortcut: str | None = None
) -> str:
    """Write the tags that load the widget.

    placement: what the script places by itself, "" for the header in Material and else a floating
    button, "none" for nothing. shortcut: None for the element's own.
    """
    link = f'<link rel="answerable" href="{escape(endpoint)}">\n' if endpoint else ""
    kind = "defer" if script_url.endswith(OFFLINE_SCRIPT) else 'type="module"'
    place = "" if placement == "none" else f' data-placement="{placement}"'
    keys = f' data-shortcut="{escape(shortcut)}"' if shortcut and place else ""
    return f'{link}<script {kind} src="{escape(script_url)}"{place}{keys}></script>\n'


def inject_tags(html: str, tags: str) -> str:
    """Put the widget's tags before the end of a page's body, in place of those of an earlier run.

    What has no such end is no page, and unchanged.
    """
    start, end, rest = _TAGS.sub("", html).rpartition("</body>")
    return f"{start}{tags}{end}{rest}" if end else html


def write_offline_scripts(home: Path, paths: list[Path]) -> None:
    """Write a classic script for each file of the widget, since a page of a disk loads no other.

    home: the widget's folder in the site.
    """
    scripts = {path: _wrap_file(path) for path in paths if path.is_file()}
    shutil.rmtree(home / "offline", ignore_errors=True)
    for path, script in scripts.items():
        name = f"{path.relative_to(home).as_posix()}.js"
        write_file(home / "offline" / name, f"document.currentScript.file = {script};\n".encode())


def _wrap_file(path: Path) -> str:
    """Write a file as an expression: a module as a function, all else in base64.

    ``widget/offline.js`` calls the function with the module's address and what imports and fetches
    for it.
    """
    if path.suffix != ".js":
        return f'"{b64encode(path.read_bytes()).decode()}"'
    body = path.read_text("utf-8").replace("import.meta.url", "$url").replace("import(", "$import(")
    exported = _EXPORTS.search(body)
    names = re.sub(r"(\w+) as (\w+)", r"\2:\1", exported[1]) if exported else ""
    return f'($url, $import, fetch) => {{\n"use strict";\n{_EXPORTS.sub("", body)}\n' + (
        f"return {{{names}}};\n}}"
    )
