"""A site of one page with the widget, served from a folder that a test may change."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

import sites

WIDGET = sites.ROOT / "plugin" / "answerable" / "widget"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Put the widget into a folder and serve it; the origin."""
    shutil.copytree(WIDGET, folder / "assets" / "answerable")
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


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
