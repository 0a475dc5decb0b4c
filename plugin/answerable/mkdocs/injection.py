"""The widget in built pages: its script, its element and where it asks."""

from html import escape
from importlib.resources import files

SCRIPT = "assets/answerable/ask-box.js"
ELEMENT = "<answerable-ask></answerable-ask>"


def script() -> str:
    """The widget's source."""
    return (files("answerable") / "widget" / "ask-box.js").read_text(encoding="utf-8")


def inject(html: str, script_url: str, *, endpoint: str | None, element: bool) -> str:
    """A page with the widget; an element that an author has placed is left as the only one."""
    body_end = html.rfind("</body>")
    if body_end < 0:
        return html
    tail = f'<script type="module" src="{escape(script_url)}"></script>\n'
    if element and "<answerable-ask" not in html:
        tail = f"{ELEMENT}\n{tail}"
    html = f"{html[:body_end]}{tail}{html[body_end:]}"
    head_end = html.find("</head>")
    if endpoint and head_end >= 0:
        link = f'<link rel="answerable" href="{escape(endpoint)}">\n'
        html = f"{html[:head_end]}{link}{html[head_end:]}"
    return html
