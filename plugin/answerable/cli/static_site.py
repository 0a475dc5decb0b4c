"""Respond with a built site's files, with the widget put into its pages."""

import mimetypes
import os
from collections.abc import Callable
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import quote

from ..indexing.widget import injection, widget_config
from ..indexing.widget.injection import inject_widget, read_widget_files
from ..indexing.widget.widget_config import WidgetConfig, format_widget_config
from ..serve.http.messages import Headers, Request, Response

# The type table of the operating system differs between machines.
_CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".xml": "application/xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}


def make_static_site(
    folder: Path,
    base: str,
    endpoint: str,
    bundle: Callable[[], str | None],
    browser_folder: Path | None = None,
) -> Callable[[Request], Response]:
    """Make what responds with the files of a folder under a base path.

    base: decoded, with a slash at both ends. endpoint: where the widget of its pages asks, "" where
    the browser answers, from files of ``browser_folder``. bundle: returns the id of the index that
    answers, None before there is one.
    """

    def respond(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _respond(405, (("Allow", "GET, HEAD"),))
        path, query = f"/{request.path}", request.query
        if path in ("/", base.rstrip("/")) and path != base:
            return _redirect_to(base, query)
        if path.startswith(base):
            inner = path.removeprefix(base)
            # Files of an index that is gone may still lie there.
            is_asset = bundle() is not None and inner.startswith(injection.WIDGET_FOLDER)
            file = _find_file(browser_folder, inner) if browser_folder and is_asset else None
            asset = None if file else _read_widget_asset(inner, bundle())
            if asset is not None:
                return _respond(200, _content_type(PurePosixPath(path)), asset)
            file = file or _find_file(folder, inner)
            if file is not None and file.is_dir():
                return _redirect_to(f"{path}/", query)
            if file is not None:
                return _respond(200, _content_type(file), read_page(file))
        missing = folder / "404.html"
        if missing.is_file():
            return _respond(404, _content_type(missing), read_page(missing))
        return _respond(404, _content_type(PurePath("a.txt")), b"There is nothing at this path.\n")

    def read_page(file: Path) -> bytes:
        data = file.read_bytes()
        if file.suffix != ".html":
            return data
        html = data.decode("utf-8", errors="surrogateescape")
        html = inject_widget(html, quote(base) + injection.WIDGET_SCRIPT, endpoint=endpoint)
        return html.encode("utf-8", errors="surrogateescape")

    return respond


def _read_widget_asset(inner: str, bundle: str | None) -> bytes | None:
    """Read a file of the widget by its path in the site; None for another path."""
    if not inner.startswith(injection.WIDGET_FOLDER):
        return None
    if inner == widget_config.WIDGET_CONFIG_PATH and bundle:
        return format_widget_config(WidgetConfig(), bundle)
    text = read_widget_files().get(inner)
    return None if text is None else text.encode()


def _redirect_to(path: str, query: str) -> Response:
    location = quote(path) + (f"?{query}" if query else "")
    return _respond(301, (("Location", location),))


def _respond(status: int, headers: Headers, body: bytes = b"") -> Response:
    return Response(status, body, (*headers, ("Cache-Control", "no-cache")))


def _find_file(folder: Path, inner: str) -> Path | None:
    """Find the file at a path, or the folder at a path without its slash; None for neither.

    Hidden files and what lies outside the folder, by its path or by a link, are not served.
    """
    *parents, last = inner.split("/")
    parts = [*parents, last or "index.html"]
    if any(not part or "\0" in part or "\\" in part or _is_hidden(part) for part in parts):
        return None
    try:
        return _resolve_file(folder, folder.joinpath(*parts))
    except OSError:
        # Such as a name that is too long for a file.
        return None


def _is_hidden(part: str) -> bool:
    return part.startswith(".") and part != ".well-known"


def _resolve_file(folder: Path, path: Path) -> Path | None:
    if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
        return None
    if path.is_file() or (path.is_dir() and (path / "index.html").is_file()):
        return path
    # Docusaurus and others link to pages without the suffix, and hosts add it.
    page = path.with_name(f"{path.name}.html")
    return page if page.is_file() else None


def _content_type(file: PurePath) -> Headers:
    guessed, encoding = mimetypes.guess_type(file.name)
    usual = _CONTENT_TYPES.get(file.suffix.lower()) or (None if encoding else guessed)
    return (("Content-Type", usual or "application/octet-stream"),)
