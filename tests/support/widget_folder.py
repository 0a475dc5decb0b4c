"""A site of one page with the widget, served from a folder that a test may change."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page

from answerable.indexing.widget.injection import WIDGET_SCRIPT, read_widget_files
from support import sites, static_server

WIDGET = sites.ROOT / "plugin" / "answerable" / "widget"
# The script as a build publishes it.
SCRIPT = read_widget_files()[WIDGET_SCRIPT]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Put the widget into a folder and serve it; the origin."""
    for path, text in read_widget_files().items():
        sites.put(folder / path, text)
    with static_server.serving(folder) as origin:
        yield origin


def visit(
    page: Page, folder: Path, origin: str, language: str = "en", element: str = ""
) -> Locator:
    """Open a page in a language, its element with these attributes; gives the ask box."""
    sites.put(
        folder / "index.html",
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Docs</title>'
        f"<answerable-ask {element}></answerable-ask>"
        '<script type="module" src="assets/answerable/ask-box.js"></script>',
    )
    page.goto(f"{origin}/index.html")
    return page.locator("answerable-ask")
