"""A built site's files as a WSGI application, with the widget put into its pages."""

import mimetypes
import os
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import quote

from ..indexing.widget import injection, widget_config
from ..indexing.widget.injection import inject_widget, read_widget_file
from ..indexing.widget.widget_config import WidgetConfig, format_widget_config
from ..serve.http.adapters.wsgi import Environ, StartResponse, WsgiApp, decode_path

# The machine's own table of types is not the same everywhere.
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


def make_static_app(
    folder: Path, base: str, endpoint: str, bundle: Callable[[], str | None]
) -> WsgiApp:
    """An application that serves a folder under a base path.

    base: decoded, with a slash at both ends. endpoint: where the widget of its pages asks. bundle:
    the id of the index that answers, None before there is one.
    """

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        if method not in ("GET", "HEAD"):
            status, headers, body = 405, [("Allow", "GET, HEAD")], b""
        else:
            status, headers, body = respond(decode_path(environ), environ.get("QUERY_STRING", ""))
        sent = [*headers, ("Content-Length", str(len(body))), ("Cache-Control", "no-cache")]
        start_response(f"{status} {HTTPStatus(status).phrase}", sent)
        return [] if method == "HEAD" else [body]

    def respond(path: str, query: str) -> tuple[int, list[tuple[str, str]], bytes]:
        if path in ("/", base.rstrip("/")) and path != base:
            return _redirect_to(base, query)
        inner = path.removeprefix(base) if path.startswith(base) else None
        if (asset := _widget_asset(inner, bundle())) is not None:
            return 200, _content_type(PurePosixPath(path)), asset
        file = _find_file(folder, inner) if inner is not None else None
        if file is not None and file.is_dir():
            return _redirect_to(f"{path}/", query)
        if file is not None:
            return 200, _content_type(file), content(file)
        missing = folder / "404.html"
        if missing.is_file():
            return 404, _content_type(missing), content(missing)
        return 404, [("Content-Type", _CONTENT_TYPES[".txt"])], b"There is nothing at this path.\n"

    def content(file: Path) -> bytes:
        data = file.read_bytes()
        if file.suffix != ".html":
            return data
        html = data.decode("utf-8", errors="surrogateescape")
        url = quote(base) + injection.WIDGET_SCRIPT
        html = inject_widget(html, url, endpoint=endpoint)
        return html.encode("utf-8", errors="surrogateescape")

    return app


def _widget_asset(inner: str | None, bundle: str | None) -> bytes | None:
    """A file of the widget at a path in the site; None if it is none."""
    if inner is None or not inner.startswith(injection.WIDGET_FOLDER):
        return None
    if inner == widget_config.WIDGET_CONFIG_PATH and bundle:
        return format_widget_config(WidgetConfig(), bundle)
    text = read_widget_file(inner)
    return None if text is None else text.encode()


def _redirect_to(path: str, query: str) -> tuple[int, list[tuple[str, str]], bytes]:
    location = quote(path) + (f"?{query}" if query else "")
    return 301, [("Location", location)], b""


def _find_file(folder: Path, inner: str) -> Path | None:
    """The file at a path, or a folder that is asked for without its slash; None if there is none.

    What lies outside the folder, by its path or by a link, is not there, nor is what is hidden.
    """
    *parents, last = inner.split("/")
    parts = [*parents, last or "index.html"]
    if any(not part or "\0" in part or "\\" in part or _is_hidden(part) for part in parts):
        return None
    try:
        return _resolve_file(folder, folder.joinpath(*parts))
    except OSError:
        # A name may be longer than a file's can be.
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


def _content_type(file: PurePath) -> list[tuple[str, str]]:
    guessed, encoding = mimetypes.guess_type(file.name)
    known = _CONTENT_TYPES.get(file.suffix.lower()) or (None if encoding else guessed)
    return [("Content-Type", known or "application/octet-stream")]
