"""Excerpts as the wire gives them: claims with blocks, each of one section of a page."""

from __future__ import annotations

from typing import Any

from support.widget_site import Json, answer


def span(text: str, **fields: Any) -> Json:
    return {"text": text, **fields}


def text(*spans: Json | str) -> Json:
    return {"kind": "text", "spans": [span(s) if isinstance(s, str) else s for s in spans]}


def label(words: str, kind: str = "tab") -> Json:
    return {"kind": "label", "label": kind, "spans": [span(words)]}


def code(lines: str, language: str = "") -> Json:
    return {"kind": "code", "language": language, "text": lines}


def item(words: str, level: int = 0, number: str = "") -> Json:
    return {"level": level, "number": number, "spans": [span(words)]}


LONG_LINE = "client = httpx.Client(timeout=None)  # " + "a long line " * 20
CODE = [
    text(
        "To disable timeouts of a client, pass ",
        span("timeout=None", code=True),
        " as in ",
        span("the guide", href="/guide/timeouts/"),
        ":",
    ),
    code(f"import httpx\n\n{LONG_LINE}", "python"),
]
STEPS = [
    text("Three steps:"),
    {
        "kind": "list",
        "items": [
            item("Upload the folder.", number="1"),
            item("All files.", level=1),
            item("No others.", level=1),
            item("Set the variables.", number="2"),
        ],
    },
]
OPTIONS = [
    label("Options", "caption"),
    {
        "kind": "table",
        "columns": [[span("option")], [span("effect")]],
        "rows": [
            [[span("timeout", code=True)], [span("seconds | of a request")]],
            [[span("retries", code=True)], []],
        ],
    },
]
TABS = [label("pip"), code("pip install httpx"), label("uv"), code("uv add httpx")]


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
        "start": 0,
        "href": f"/part{number}/#use:~:text=To%20disable",
    }


def excerpts(*drawn: list[Json], **fields: Any) -> Json:
    """An answer of one excerpt for each list of blocks, each of a section of its own."""
    claims = [
        {"text": f"Excerpt {number}", "citations": [number], "blocks": blocks}
        for number, blocks in enumerate(drawn, start=1)
    ]
    citations = [section(number) for number in range(1, len(drawn) + 1)]
    keyless = {"claims": claims, "citations": citations, "written": False, "complete": False}
    return answer("partial", **{**keyless, **fields})
