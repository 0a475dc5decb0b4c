"""``answerable serve``: a built site with a live ask box, indexed again when it changes."""

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import unquote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click

from ..build import built_site, site
from ..build.built_site import BuiltSite
from ..faces import clock, live
from ..serve import local_embedder, providers, refusals
from ..serve.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.profile import LOCAL
from ..serve.settings import LogRefusals
from ..serve.web import shutdown
from ..serve.web.in_flight import InFlight
from . import indexing, static_files
from .indexing import Options

_SECONDS = 1.0
# Seconds that a signal waits at most until the server notices, and then for requests under way.
_POLL, _LAST = 0.1, 5.0
# How many times as long as a look at a big site the pause after it lasts.
_SHARE = 20
_State = tuple[tuple[str, int, int], ...]


class _Server(ThreadingMixIn, WSGIServer):
    """A server whose requests do not wait for one another."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        self.in_flight = InFlight[_Quiet]()
        super().__init__(*args)


class _Quiet(WSGIRequestHandler):
    """Requests are not logged: the terminal tells of indexing only.

    One is in flight from its first line on: a browser also opens connections that it never uses.
    """

    def parse_request(self) -> bool:
        assert isinstance(self.server, _Server)
        self.server.in_flight.add(self)
        return super().parse_request()

    def finish(self) -> None:
        assert isinstance(self.server, _Server)
        try:
            super().finish()
        finally:
            self.server.in_flight.discard(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


@dataclass(slots=True)
class _Current:
    """The engine of the last good index."""

    embedder: Embedder
    engine: Engine | None = None

    def index(self, options: Options, read: BuiltSite | None = None) -> None:
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
        return self.engine.bundle.manifest.id if self.engine else None

    def _tell(self, mistake: str) -> None:
        kept = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{mistake} ({kept})", err=True)

    def _index(self, options: Options, read: BuiltSite | None) -> None:
        read = read or built_site.read(options.folder, options.reading)
        private = indexing.read_notes(options, read)
        made = indexing.indexed(options, read, private, self.embedder)
        folder = options.cache / "built"
        identity = local_embedder.IDENTITY
        audited = indexing.auditor(options, read, private)
        bundle = site.preview(
            made, folder, identity, LOCAL, indexing.ENCODING, clock.now(), audited
        )
        self.engine = providers.engine(bundle, self.embedder)
        click.echo(site.summary(bundle.manifest, made, folder))


def serve(options: Options, host: str, port: int, log_refusals: LogRefusals = "none") -> None:
    """Serve until a signal; SiteError if the site cannot be read or the port is taken.

    log_refusals: what is kept of refused questions, in the cache.
    """
    indexing.check(options, None)
    # Taken first: what changes while the site is read has changed since.
    state = _state(options)
    read = built_site.read(options.folder, options.reading)
    base = unquote(read.base)
    current = _Current(indexing.embedder())
    app = static_files.application(options.folder, base, base + live.BASE, current.bundle)
    kept = refusals.keeper(
        lambda: log_refusals,
        refusals.appender(options.cache / refusals.FILE, lambda told: click.echo(told, err=True)),
        os.urandom(32),
    )
    app = live.wrap(app, base + live.BASE, host, lambda: current.engine, kept)
    try:
        server = make_server(host, port, app, _Server, _Quiet)
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    with server:
        current.index(options, read)
        with _following(options, current, state):
            click.echo(f"Serving at http://{host}:{server.server_port}{base} (Ctrl-C stops)")
            with shutdown.on_signal(server.shutdown):
                server.serve_forever(_POLL)
                # Nothing new is taken, and the answers under way are sent.
                server.server_close()
                server.in_flight.wait(_LAST)
            click.echo()


@contextmanager
def _following(options: Options, current: _Current, done: _State) -> Iterator[None]:
    """Index again whenever what was indexed has changed, in a thread of its own.

    done: what the first index was made from.
    """
    stopped = threading.Event()

    def follow() -> None:
        nonlocal done
        last = done
        pause = _SECONDS
        while not stopped.wait(pause):
            began = time.monotonic()
            now = _state(options)
            pause = max(_SECONDS, _SHARE * (time.monotonic() - began))
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


def _state(options: Options) -> _State:
    """What an index is made from: every page, search index and note, by size and time."""
    folders = [options.folder, *([options.notebook] if options.notebook else [])]
    return tuple(sorted(entry for folder in folders for entry in _entries(folder)))


def _entries(folder: Path) -> Iterator[tuple[str, int, int]]:
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
