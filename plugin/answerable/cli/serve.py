"""``answerable serve`` and ``stub-openai``: serve a built site, or the stub of OpenAI's API."""

import mimetypes
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import click

from ..indexing.answer_place import (
    ANSWER_PLACES,
    NOTEBOOK_REASON,
    AnswerPlace,
    choose_answer_place,
    need_of_option,
)
from ..indexing.caches import ProcessPool
from ..indexing.html_site.built_site import BuiltSite, read_built_site
from ..indexing.local_model import open_local_embedder
from ..indexing.pipeline import preview_site
from ..indexing.widget import injection, site_files
from ..indexing.widget.injection import inject_widget, read_widget_files
from ..indexing.widget.site_files import (
    PublishedIndex,
    WidgetConfig,
    format_widget_config,
    write_widget_files,
)
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.http import logs
from ..serve.http.adapters.asgi import AsgiApp, serve_until_signal
from ..serve.http.adapters.wsgi import ASK_BASE, format_agent_command, make_dev_service
from ..serve.http.logs import make_line_appender, make_refusal_logger
from ..serve.http.messages import Headers, Request, Response, strip_base_path
from ..serve.providers import make_engine
from ..serve.request_context import RequestContext
from ..serve.settings import LOG_REFUSALS_CHOICES, LogRefusals
from ..testing.openai_stub import OpenAIStub
from .index import IndexOptions, check_folders, describe_site, read_notes, site_options

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
    if inner == site_files.WIDGET_CONFIG_PATH and bundle:
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
    hidden = {part for part in parts if part.startswith(".")} - {".well-known"}
    if hidden or any(not part or "\0" in part or "\\" in part for part in parts):
        return None
    path = folder.joinpath(*parts)
    try:
        if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
            return None
        if path.is_file() or (path.is_dir() and (path / "index.html").is_file()):
            return path
        # Docusaurus and others link to pages without the suffix, and hosts add it.
        page = path.with_name(f"{path.name}.html")
        return page if page.is_file() else None
    except OSError:
        # Such as a name that is too long for a file.
        return None


def _content_type(file: PurePath) -> Headers:
    guessed, encoding = mimetypes.guess_type(file.name)
    usual = _CONTENT_TYPES.get(file.suffix.lower()) or (None if encoding else guessed)
    return (("Content-Type", usual or "application/octet-stream"),)


_SCAN_SECONDS = 1.0
# Seconds to finish requests under way.
_DRAIN_SECONDS = 5.0
# Connections that the kernel queues: a browser opens many.
_BACKLOG = 128
# The pause after a scan lasts this many times as long as the scan of a big site.
_PAUSE_FACTOR = 20
_FileStates = tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class _LiveIndex:
    """Hold the engine of the last good index.

    ``browser_folder``: where the same index is written for browsers, None where none answers.
    """

    embedder: Embedder
    browser_folder: Path | None = None
    engine: Engine | None = None

    def index(self, options: IndexOptions, built: BuiltSite | None = None) -> None:
        """Index a site anew; an error is printed and leaves the last engine in place.

        built: the site, if it has just been read.
        """
        try:
            self._index(options, built)
        except (AnswerableError, OSError) as error:
            self._print(str(error))
        except Exception as error:
            # Its own text may hold words of a note.
            self._print(f"the site could not be indexed: {type(error).__name__}; please report it")

    def bundle(self) -> str | None:
        """Return the bundle id of the last good index, None before there is one."""
        return self.engine.store.manifest.id if self.engine else None

    def _print(self, message: str) -> None:
        state = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{message} ({state})", err=True)

    def _index(self, options: IndexOptions, built: BuiltSite | None) -> None:
        built = built or read_built_site(options.folder, options.reading)
        with closing(ProcessPool()) as pool:
            site = describe_site(options, built, self.embedder, pool)
            if self.browser_folder:
                site = replace(site, browser_folder=self.browser_folder)
            notebook = read_notes(options, site)
            bundle, index = preview_site(site, notebook, options.cache / "built", click.echo)
        if self.browser_folder:
            manifest = bundle.manifest
            published = PublishedIndex(manifest.id, manifest.built_at, index)
            indexes = {built.language: published}
            write_widget_files(self.browser_folder, WidgetConfig(), indexes)
        self.engine = make_engine(bundle, self.embedder)


@click.command("serve")
@site_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--log-refusals",
    type=click.Choice(LOG_REFUSALS_CHOICES),
    default="none",
    show_default=True,
    help="What is kept of refused questions, in the cache.",
)
@click.option(
    "--answers-in",
    type=click.Choice(ANSWER_PLACES),
    default="function",
    show_default=True,
    help="Whether this server answers, or the browser, as it would on a static host.",
)
def serve_command(options: IndexOptions, /, **values: Any) -> None:
    """Serve SITE_DIR, a site that any generator has built, with a live ask box."""
    serve_built_site(options, **values)


def serve_built_site(
    options: IndexOptions,
    host: str,
    port: int,
    log_refusals: LogRefusals = "none",
    answers_in: AnswerPlace = "function",
) -> None:
    """Serve until a signal; SiteError if the site cannot be read or the port is taken.

    log_refusals: what is kept of refused questions, in the cache.
    """
    check_folders(options, None)
    needs = [need_of_option("--notebook", NOTEBOOK_REASON)] if options.notebook else []
    is_browser = choose_answer_place(answers_in, needs, "--answers-in") == "browser"
    # The site's own folder is only read.
    browser_folder = options.cache / "browser" if is_browser else None
    # Before the site is read, so that a change while it is read is seen as one.
    state = _snapshot_files(options)
    built = read_built_site(options.folder, options.reading)
    base = unquote(built.base)
    current = _LiveIndex(open_local_embedder(), browser_folder)
    endpoint = "" if is_browser else base + ASK_BASE
    read_file = make_static_site(options.folder, base, endpoint, current.bundle, browser_folder)
    append_line = make_line_appender(
        options.cache / logs.REFUSAL_LOG_FILE, lambda message: click.echo(message, err=True)
    )
    log_refusal = make_refusal_logger(lambda: log_refusals, append_line, os.urandom(32))
    service = make_dev_service(base + ASK_BASE, host, lambda: current.engine, log_refusal)

    def respond(request: Request, context: RequestContext) -> Response:
        path = f"/{request.path}"
        if not path.startswith(service.base):
            return read_file(request)
        return service.handle(replace(request, path=strip_base_path(path, service.base)), context)

    try:
        listening = socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    address = f"http://{host}:{listening.getsockname()[1]}{base}"

    def announce() -> None:
        click.echo(f"Serving at {address} (Ctrl-C stops)")
        click.echo(f"A coding agent asks after: {format_agent_command(address + ASK_BASE)}")

    with listening:
        current.index(options, built)
        with _reindex_on_change(options, current, state):
            app = AsgiApp(respond, close=service.close)
            serve_until_signal(app, listening, announce, _DRAIN_SECONDS)


@contextmanager
def _reindex_on_change(
    options: IndexOptions, current: _LiveIndex, indexed: _FileStates
) -> Iterator[None]:
    """Index again whenever the files of the index have changed, in a thread of its own.

    indexed: the states of the files that the first index was made from.
    """
    stopped = threading.Event()

    def follow() -> None:
        nonlocal indexed
        previous = indexed
        pause = _SCAN_SECONDS
        while not stopped.wait(pause):
            began = time.monotonic()
            states = _snapshot_files(options)
            pause = max(_SCAN_SECONDS, _PAUSE_FACTOR * (time.monotonic() - began))
            # Indexed once the files have stopped changing: a generator may still be writing.
            if states == previous and states != indexed:
                indexed = states
                current.index(options)
            previous = states

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _snapshot_files(options: IndexOptions) -> _FileStates:
    """Snapshot the files that an index is made from, each with its time and size."""
    folders = [options.folder, *([options.notebook] if options.notebook else [])]
    return tuple(sorted(entry for folder in folders for entry in _stat_files(folder)))


def _stat_files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)  # noqa: PTH118 - ten thousand paths are slow to make
            try:
                status = os.stat(path)  # noqa: PTH116 - as above
            except OSError:
                # It was removed meanwhile.
                continue
            if stat.S_ISREG(status.st_mode):
                yield path, status.st_mtime_ns, status.st_size


@click.command("stub-openai")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8899,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
def stub_openai_command(port: int) -> None:
    """Serve the OpenAI protocol on loopback, to try the whole flow without a key."""
    with OpenAIStub(port) as stub:
        click.echo(f"Serving the OpenAI protocol at {stub.base_url} (Ctrl-C stops)")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo()
