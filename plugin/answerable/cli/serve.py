"""``answerable serve``: a site with a live ask box, built again when its sources change."""

import mimetypes
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import quote, unquote

import click

from ..indexing.answer_place import choose_answer_place
from ..indexing.caches import ProcessPool
from ..indexing.generators import Project, read_project, run_generator, serve_by_mkdocs
from ..indexing.widget import injection
from ..indexing.widget.injection import read_widget_files
from ..mkdocs.built_sites import (
    BuiltPages,
    BuiltSiteConfig,
    load_built_site_config,
    read_built_pages,
)
from ..mkdocs.options import AnswerableConfig, list_input_files
from ..mkdocs.publish import list_function_needs, preview_build
from ..mkdocs.site_config import find_plugin
from ..mkdocs.widget import append_inline_widget_to_page, place_widget
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.http import logs
from ..serve.http.adapters.asgi import AsgiApp, serve_until_signal
from ..serve.http.adapters.wsgi import ASK_BASE, format_agent_command, make_dev_service
from ..serve.http.logs import make_line_appender, make_refusal_logger
from ..serve.http.messages import Headers, Request, Response, strip_base_path
from ..serve.request_context import RequestContext
from .build import echo_log, find_site
from .context import SiteLocation

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


# Asks for the number of the build every second, and loads the page again when it has changed.
_RELOAD_SCRIPT = """<script>
(() => {{
  let seen;
  setInterval(async () => {{
    if (document.visibilityState !== "visible") return;
    const reply = await fetch("{path}", {{ cache: "no-store" }}).catch(() => null);
    const build = reply?.ok ? await reply.text() : seen;
    if (seen !== undefined && build !== seen) location.reload();
    seen = build;
  }}, 1000);
}})();
</script>
"""
_RELOAD_PATH = "_answerable-build"


def make_static_site(
    folder: Path, base: str, endpoint: str, current: "LiveIndex"
) -> Callable[[Request], Response]:
    """Make what responds with the files of a folder under a base path.

    base: decoded, with a slash at both ends. endpoint: where the widget of its pages asks, "" where
    the browser answers.
    """

    def respond(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _respond(405, (("Allow", "GET, HEAD"),))
        path, query = f"/{request.path}", request.query
        if path in ("/", base.rstrip("/")) and path != base:
            return _redirect_to(base, query)
        if path == base + _RELOAD_PATH:
            return _respond(200, _content_type(PurePath("a.txt")), str(current.builds).encode())
        with current.building:
            # A page that the generator is writing is not sent by half.
            pass
        if path.startswith(base):
            inner = path.removeprefix(base)
            # Files of an index that is gone may still lie there.
            is_asset = current.engine is not None and inner.startswith(injection.WIDGET_FOLDER)
            file = _find_file(current.output, inner) if is_asset else None
            asset = None if file else read_widget_files().get(inner)
            if asset is not None:
                return _respond(200, _content_type(PurePosixPath(path)), asset.encode())
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
        html = current.place_widget(html, quote(base) + injection.WIDGET_SCRIPT, endpoint)
        script = _RELOAD_SCRIPT.format(path=quote(base + _RELOAD_PATH))
        before, end, after = html.rpartition("</body>")
        html = f"{before}{script}{end}{after}" if end else html
        return html.encode("utf-8", errors="surrogateescape")

    return respond


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
FileStates = tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class LiveIndex:
    """Hold the engine of the last good index, and make the next.

    ``command``: what builds the site, in place of its generator's own. ``is_built_here``: whether
    its sources are watched and built here, or what another program has built is watched. ``base``:
    the path that it is served under. ``builds`` counts them. ``building`` is held by the generator.
    """

    project: Project
    command: str | None = None
    is_built_here: bool = False
    base: str = "/"
    builds: int = 0
    engine: Engine | None = None
    building: threading.Lock = field(default_factory=threading.Lock)
    config: BuiltSiteConfig = field(init=False)

    def __post_init__(self) -> None:
        self.config = load_built_site_config(self.project)

    @property
    def options(self) -> AnswerableConfig:
        """Return the plugin's options, as they were last read."""
        return find_plugin(self.config).config

    @property
    def output(self) -> Path:
        """Return the folder of files for readers: the site's own folder is only read."""
        return Path(self.options.cache) / "browser"

    def start(self) -> None:
        """Build and read the site, or raise SiteError. No index of it is an error printed."""
        self._generate()
        with closing(ProcessPool()) as pool:
            pages = self._read_pages(pool)
            self.base = unquote(pages.base)
            self._attempt(lambda: self._preview(pages))

    def rebuild(self) -> None:
        """Build and index the site again, where an error is printed and leaves the last engine."""
        self._attempt(self._rebuild)
        self.builds += 1

    def place_widget(self, html: str, script_url: str, endpoint: str) -> str:
        """Put the widget into a page as the options say."""
        html = append_inline_widget_to_page(html, self.options)
        return place_widget(html, script_url, endpoint, self.options)[0]

    def list_watched(self) -> list[Path]:
        """List the folders and files that the site and its index are made from."""
        config, project = self.config, self.project
        paths = [*list_input_files(self.options), project.file]
        if not self.is_built_here:
            return [*paths, Path(config.site_dir)]
        return [*paths, Path(config.docs_dir) if config.docs_dir else project.folder]

    def _rebuild(self) -> None:
        project = self.project
        if self.is_built_here and project.file.is_file():
            # Where the site is written stays as it is: its pages are served from there.
            edited = read_project(project.file, project.generator)
            settings = {**edited.settings, "site_dir": str(project.site_dir)}
            self.project = replace(edited, settings=settings)
            self.config = load_built_site_config(self.project)
        self._generate()
        with closing(ProcessPool()) as pool:
            self._preview(self._read_pages(pool))

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (AnswerableError, OSError) as error:
            self._print(str(error))
        except Exception as error:
            # Its own text may hold words of a note.
            self._print(f"the site could not be indexed: {type(error).__name__}; please report it")

    def _print(self, message: str) -> None:
        state = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{message} ({state})", err=True)

    def _generate(self) -> None:
        if self.is_built_here:
            with self.building:
                run_generator(self.project, self.command)

    def _read_pages(self, pool: ProcessPool) -> BuiltPages:
        plugin = find_plugin(self.config)
        return read_built_pages(self.config, plugin, pool, output=self.output)

    def _preview(self, pages: BuiltPages) -> None:
        self.engine = preview_build(pages.build, click.echo)


@click.command("serve")
@click.argument("site_dir", required=False, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option("--command", help="What builds the site, as you type it. Default: its generator's.")
@click.pass_obj
def command(
    location: SiteLocation, site_dir: Path | None, host: str, port: int, command: str | None
) -> None:
    """Serve the site with a live ask box, and build it again when its sources change.

    SITE_DIR alone is served as it is: a folder that a generator builds elsewhere.
    """
    project = find_site(location[1], site_dir)
    is_built_here = command is not None or (site_dir is None and project.has_generator)
    serve_site(project, host, port, command, is_built_here=is_built_here)


def serve_site(
    project: Project, host: str, port: int, command: str | None, *, is_built_here: bool
) -> None:
    """Serve until a signal; SiteError if the site cannot be built or read, or the port is taken."""
    if is_built_here and project.generator == "mkdocs" and command is None:
        # The plugin does all of it.
        serve_by_mkdocs(project, f"{host}:{port}")
    try:
        listening = socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    with listening, echo_log():
        current = LiveIndex(project, command, is_built_here)
        # Before the site is read, so that a change while it is read is seen as one.
        states = snapshot_files(current)
        current.start()
        base, options = current.base, current.options
        needs = list_function_needs(options)
        place = choose_answer_place(options.answers_in or "function", needs)
        endpoint = "" if place == "browser" else base + ASK_BASE
        read_file = make_static_site(Path(current.config.site_dir), base, endpoint, current)
        append_line = make_line_appender(
            Path(options.cache) / logs.REFUSAL_LOG_FILE,
            lambda message: click.echo(message, err=True),
        )
        log_refusal = make_refusal_logger(
            lambda: current.options.log_refusals, append_line, os.urandom(32)
        )
        service = make_dev_service(base + ASK_BASE, host, lambda: current.engine, log_refusal)

        def respond(request: Request, context: RequestContext) -> Response:
            path = f"/{request.path}"
            if not path.startswith(service.base):
                return read_file(request)
            inner = replace(request, path=strip_base_path(path, service.base))
            return service.handle(inner, context)

        address = f"http://{host}:{listening.getsockname()[1]}{base}"

        def announce() -> None:
            click.echo(f"Serving at {address} (Ctrl-C stops)")
            click.echo(f"A coding agent asks after: {format_agent_command(address + ASK_BASE)}")

        with rebuild_on_change(current, states):
            app = AsgiApp(respond, close=service.close)
            serve_until_signal(app, listening, announce, _DRAIN_SECONDS)


@contextmanager
def rebuild_on_change(current: LiveIndex, indexed: FileStates) -> Iterator[None]:
    """Build again whenever the files of the site have changed, in a thread of its own.

    indexed: the states of the files that the first index was made from.
    """
    stopped = threading.Event()
    # A generator whose sources nobody names may write beside them.
    is_mixed = current.is_built_here and not current.config.docs_dir
    indexed = snapshot_files(current) if is_mixed else indexed

    def follow() -> None:
        nonlocal indexed
        previous = indexed
        pause = _SCAN_SECONDS
        while not stopped.wait(pause):
            began = time.monotonic()
            states = snapshot_files(current)
            pause = max(_SCAN_SECONDS, _PAUSE_FACTOR * (time.monotonic() - began))
            # Built once the files have stopped changing: a generator may still be writing.
            if states == previous and states != indexed:
                current.rebuild()
                indexed = states = snapshot_files(current) if is_mixed else states
            previous = states

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def snapshot_files(current: LiveIndex) -> FileStates:
    """Snapshot the files that an index is made from, each with its time and size."""
    options, config = current.options, current.config
    built = {Path(options.cache), Path(options.function)}
    if current.is_built_here:
        built.add(Path(config.site_dir))
    paths = current.list_watched()
    return tuple(sorted(entry for path in paths for entry in _stat_files(path, built)))


def _stat_files(top: Path, built: Container[Path]) -> Iterator[tuple[str, int, int]]:
    """List the files at a path, but for those in folders that are built or hidden."""
    walked = [(str(top.parent), [], [top.name])] if top.is_file() else os.walk(top)
    for here, folders, names in walked:
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name != "node_modules" and Path(here, name) not in built
        ]
        for name in names:
            path = os.path.join(here, name)  # noqa: PTH118 - ten thousand paths are slow to make
            try:
                status = os.stat(path)  # noqa: PTH116 - as above
            except OSError:
                # It was removed meanwhile.
                continue
            if stat.S_ISREG(status.st_mode):
                yield path, status.st_mtime_ns, status.st_size
