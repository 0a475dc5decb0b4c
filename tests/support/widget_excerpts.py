"""Excerpts as the wire gives them: claims of Markdown, each of one section of a page."""

from __future__ import annotations

from typing import Any

from support.widget_site import Json, answer

LONG_LINE = "client = httpx.Client(timeout=None)  # " + "a long line " * 20
CODE = (
    "To disable timeouts of a client, pass `timeout=None` as in [the guide](/guide/timeouts/):\n\n"
    f"```python\nimport httpx\n\n{LONG_LINE}\n```"
)
STEPS = (
    "Three steps:\n\n1. Upload the folder.\n    - All files.\n    - No others.\n"
    "2. Set the variables."
)
OPTIONS = (
    "Options\n\n| option | effect |\n| --- | --- |\n"
    "| `timeout` | seconds \\| of a request |\n| `retries` |  |"
)
TABS = (
    '=== "pip"\n\n    ```\n    pip install httpx\n    ```\n\n'
    '=== "uv"\n\n    ```\n    uv add httpx\n    ```'
)


def code(lines: str, language: str = "") -> str:
    """A block of code."""
    return f"```{language}\n{lines}\n```"


def join(*parts: str) -> str:
    """Join blocks."""
    return "\n\n".join(parts)


def section(number: int) -> Json:
    """The citation of a section of its own."""
    return {
        "n": number,
        "kind": "record",
        "id": f"part{number}#use",
        "url": f"/part{number}/#use",
        "title": f"Part {number} › Use",
        "date": None,
        "language": None,
        "quote": "To disable",
        "href": f"/part{number}/#use:~:text=To%20disable",
    }


def excerpts(*drawn: str, **fields: Any) -> Json:
    """An answer of one excerpt for each text, each of a section of its own."""
    claims = [{"markdown": text, "citations": [n]} for n, text in enumerate(drawn, start=1)]
    citations = [section(number) for number in range(1, len(drawn) + 1)]
    keyless = {"claims": claims, "citations": citations, "written": False, "complete": False}
    return answer("partial", **{**keyless, **fields})
