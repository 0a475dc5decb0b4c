"""The tables of the widget's interface in the manual, written from its manifest.

A page has a table between ``<!-- widget:NAME -->`` and ``<!-- /widget:NAME -->``. Run as a script,
this writes the tables of all pages anew.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from answerable.indexing.files import write_file
from support import sites

Json = dict[str, Any]

DOCS = sites.ROOT / "docs"
MANIFEST = sites.ROOT / "plugin" / "answerable" / "widget" / "custom-elements.json"
_MARKED = re.compile(r"(<!-- widget:([\w-]+) -->\n)(.*?)(<!-- /widget:\2 -->)", re.S)
_NONE = "—"


def read_manifest() -> Json:
    """The manifest."""
    manifest: Json = json.loads(MANIFEST.read_text("utf-8"))
    return manifest


def element(manifest: Json) -> Json:
    """The only element that a manifest declares."""
    (declared,) = (each for module in manifest["modules"] for each in module["declarations"])
    declaration: Json = declared
    return declaration


def tables(manifest: Json) -> dict[str, str]:
    """Markdown tables by their names."""
    box = element(manifest)
    members = sorted(box["members"], key=lambda each: each["kind"] == "field")
    return {
        "attributes": table(
            ("attribute", "value", "default", "effect"),
            (
                (_name(each), _values(each), _default(each), _describe(each))
                for each in box["attributes"]
            ),
        ),
        "members": table(
            ("method or property", "effect"), ((_call(each), _describe(each)) for each in members)
        ),
        "events": table(
            ("event", "when", "`detail`"),
            ((_name(each), _describe(each), _detail(each)) for each in box["events"]),
        ),
        "slots": table(
            ("slot", "holds"), ((_name(each), _describe(each)) for each in box["slots"])
        ),
        "properties": table(
            ("property", "sets", "default"),
            ((_name(each), _describe(each), _default(each)) for each in box["cssProperties"]),
        ),
        "parts": table(
            ("part", "names"), ((_name(each), _describe(each)) for each in box["cssParts"])
        ),
    }


def updated(text: str, written: dict[str, str]) -> str:
    """A page with its tables as they are written."""
    return _MARKED.sub(lambda mark: f"{mark[1]}{written[mark[2]]}{mark[4]}", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; blank lines around it, since a comment before it would take it for its own."""
    first, *lines = ("| " + " | ".join(line) + " |" for line in (head, *rows))
    return "\n".join(("", first, "|" + "---|" * len(head), *lines, "", ""))


def main() -> None:
    """Write the tables of every page that has any."""
    written = tables(read_manifest())
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        if text != (new := updated(text, written)):
            write_file(page, new.encode())


def _name(each: Json) -> str:
    return f"`{each['name']}`"


def _describe(each: Json) -> str:
    return str(each["description"]).replace("|", "\\|")


def _values(each: Json) -> str:
    """Describe the values of an attribute: its choices where there are any."""
    text = str(each["type"]["text"])
    return ", ".join(f"`{choice}`" for choice in re.findall(r'"([^"]+)"', text)) or text


def _default(each: Json) -> str:
    """A value as code, and words as words."""
    text = str(each.get("default", _NONE))
    return text if " " in text or text == _NONE else f"`{text}`"


def _call(each: Json) -> str:
    if each["kind"] == "field":
        return _name(each)
    parameters = [p["name"] + "?" * bool(p.get("optional")) for p in each.get("parameters", ())]
    return f"`{each['name']}({', '.join(parameters)})`"


def _detail(each: Json) -> str:
    """The names of what an event tells, or what it tells."""
    (text,) = re.findall(r"^CustomEvent<(.*)>$", each["type"]["text"], re.S)
    names = ", ".join(re.findall(r"(\w+): ", text))
    return f"`{{{names}}}`" if text.startswith("{") else f"the {text.lower()}"


if __name__ == "__main__":
    main()
