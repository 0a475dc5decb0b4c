"""``answerable serve``: serve a built HTML site with a live ask box; index it again on changes."""

import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

import click

from ..indexing.answer_place import (
    ANSWER_PLACES,
    NOTEBOOK_REASON,
    AnswerPlace,
    choose_answer_place,
    list_language_needs,
    list_page_languages,
    need_of_option,
)
from ..indexing.html_site.built_site import BuiltSite, read_built_site
from ..indexing.local_model import open_local_embedder
from ..indexing.pipeline import preview_site
from ..indexing.process_pool import ProcessPool
from ..indexing.widget.site_files import PublishedIndex, write_widget_files
from ..indexing.widget.widget_config import WidgetConfig
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.http import refusal_log
from ..serve.http.adapters.asgi import AsgiApp, serve_until_signal
from ..serve.http.adapters.dev_route import ASK_BASE, format_agent_command, make_dev_service
from ..serve.http.messages import Request, Response, strip_base_path
from ..serve.http.refusal_log import make_line_appender, make_refusal_logger
from ..serve.providers import make_engine
from ..serve.request_context import RequestContext
from ..serve.settings import LOG_REFUSALS_CHOICES, LogRefusals
from .index import (
    IndexOptions,
    check_folders,
    describe_site,
    read_notes,
    site_options,
)
from .static_site import make_static_site

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
            languages = list_page_languages(site.pages, built.language)
            if self.browser_folder:
                choose_answer_place("browser", list_language_needs(languages), "--answers-in")
                site = replace(site, browser_folder=self.browser_folder)
            notebook = read_notes(options, site)
            bundle, index = preview_site(site, notebook, options.cache / "built", click.echo)
        if self.browser_folder:
            indexes = {built.language: PublishedIndex(bundle.manifest.id, index)}
            write_widget_files(self.browser_folder, WidgetConfig(), indexes, languages)
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
def command(
    options: IndexOptions, host: str, port: int, log_refusals: LogRefusals, answers_in: AnswerPlace
) -> None:
    """Serve SITE_DIR, a site that any generator has built, with a live ask box."""
    serve_built_site(options, host, port, log_refusals, answers_in)


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
        options.cache / refusal_log.REFUSAL_LOG_FILE, lambda message: click.echo(message, err=True)
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
