"""``answerable serve``: a built site with a live ask box, indexed again when it changes."""

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import unquote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click

from ..indexing.html_site.built_site import BuiltSite, read_built_site
from ..indexing.pipeline import preview_site
from ..indexing.process_pool import ProcessPool
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.http import refusal_log
from ..serve.http.adapters import dev_route
from ..serve.http.adapters.dev_route import mount_ask_route
from ..serve.http.refusal_log import make_line_appender, make_refusal_logger
from ..serve.http.shutdown import InFlight, stop_on_signal
from ..serve.providers import make_engine
from ..serve.settings import LOG_REFUSALS_CHOICES, LogRefusals
from .index import (
    IndexOptions,
    check_folders,
    describe_site,
    open_local_embedder,
    read_notes,
    site_options,
)
from .static_site import make_static_app

_SCAN_SECONDS = 1.0
# Seconds that a signal waits at most until the server notices, and then for requests under way.
_SHUTDOWN_POLL, _DRAIN_SECONDS = 0.1, 5.0
# How many times as long as a look at a big site the pause after it lasts.
_PAUSE_FACTOR = 20
_FileStates = tuple[tuple[str, int, int], ...]


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    """A server whose requests do not wait for one another."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        self.in_flight = InFlight[_SilentHandler]()
        super().__init__(*args)


class _SilentHandler(WSGIRequestHandler):
    """Requests are not logged: the terminal tells of indexing only.

    One is in flight from its first line on: a browser also opens connections that it never uses.
    """

    def parse_request(self) -> bool:
        assert isinstance(self.server, _ThreadingServer)
        self.server.in_flight.add(self)
        return super().parse_request()

    def finish(self) -> None:
        assert isinstance(self.server, _ThreadingServer)
        try:
            super().finish()
        finally:
            self.server.in_flight.discard(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


@dataclass(slots=True)
class _LiveIndex:
    """The engine of the last good index."""

    embedder: Embedder
    engine: Engine | None = None

    def index(self, options: IndexOptions, read: BuiltSite | None = None) -> None:
        """Index a site anew; a mistake is printed and leaves the last engine in place.

        read: the site, if it has just been read.
        """
        try:
            self._index(options, read)
        except (AnswerableError, OSError) as error:
            self._tell(str(error))
        except Exception as error:
            # Its own text may hold words of a note.
            self._tell(f"the site could not be indexed: {type(error).__name__}; please report it")

    def bundle(self) -> str | None:
        """The id of the last good index, None before there is one."""
        return self.engine.store.manifest.id if self.engine else None

    def _tell(self, mistake: str) -> None:
        kept = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{mistake} ({kept})", err=True)

    def _index(self, options: IndexOptions, built: BuiltSite | None) -> None:
        built = built or read_built_site(options.folder, options.reading)
        with closing(ProcessPool()) as pool:
            site = describe_site(options, built, self.embedder, pool)
            notebook = read_notes(options, site)
            bundle = preview_site(site, notebook, options.cache / "built", click.echo)
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
def command(options: IndexOptions, host: str, port: int, log_refusals: LogRefusals) -> None:
    """Serve SITE_DIR, a site that any generator has built, with a live ask box."""
    serve_built_site(options, host, port, log_refusals)


def serve_built_site(
    options: IndexOptions, host: str, port: int, log_refusals: LogRefusals = "none"
) -> None:
    """Serve until a signal; SiteError if the site cannot be read or the port is taken.

    log_refusals: what is kept of refused questions, in the cache.
    """
    check_folders(options, None)
    # Taken first: what changes while the site is read has changed since.
    state = _snapshot_files(options)
    read = read_built_site(options.folder, options.reading)
    base = unquote(read.base)
    current = _LiveIndex(open_local_embedder())
    app = make_static_app(options.folder, base, base + dev_route.ASK_BASE, current.bundle)
    kept = make_refusal_logger(
        lambda: log_refusals,
        make_line_appender(
            options.cache / refusal_log.REFUSAL_LOG_FILE, lambda told: click.echo(told, err=True)
        ),
        os.urandom(32),
    )
    app = mount_ask_route(app, base + dev_route.ASK_BASE, host, lambda: current.engine, kept)
    try:
        server = make_server(host, port, app, _ThreadingServer, _SilentHandler)
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    with server:
        current.index(options, read)
        with _reindex_on_change(options, current, state):
            click.echo(f"Serving at http://{host}:{server.server_port}{base} (Ctrl-C stops)")
            with stop_on_signal(server.shutdown):
                server.serve_forever(_SHUTDOWN_POLL)
                # Nothing new is taken, and the answers under way are sent.
                server.server_close()
                server.in_flight.wait(_DRAIN_SECONDS)
            click.echo()


@contextmanager
def _reindex_on_change(
    options: IndexOptions, current: _LiveIndex, done: _FileStates
) -> Iterator[None]:
    """Index again whenever what was indexed has changed, in a thread of its own.

    done: what the first index was made from.
    """
    stopped = threading.Event()

    def follow() -> None:
        nonlocal done
        last = done
        pause = _SCAN_SECONDS
        while not stopped.wait(pause):
            began = time.monotonic()
            now = _snapshot_files(options)
            pause = max(_SCAN_SECONDS, _PAUSE_FACTOR * (time.monotonic() - began))
            # A generator that is still writing has not stopped changing its files.
            if now == last and now != done:
                done = now
                current.index(options)
            last = now

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _snapshot_files(options: IndexOptions) -> _FileStates:
    """What an index is made from: every page, search index and note, by size and time."""
    folders = [options.folder, *([options.notebook] if options.notebook else [])]
    return tuple(sorted(entry for folder in folders for entry in _stat_files(folder)))


def _stat_files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)  # noqa: PTH118 - ten thousand paths are slow to make
            try:
                found = os.stat(path)  # noqa: PTH116 - as above
            except OSError:
                # It went away while it was looked at.
                continue
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_mtime_ns, found.st_size
