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
from urllib.parse import unquote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click

from ..build import built_site, site
from ..mkdocs import live
from ..serve import local_embedder, providers
from ..serve.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, SiteError
from ..serve.profile import LOCAL
from . import indexing, static_files
from .indexing import Options

_SECONDS = 1.0
# How many times as long as a look at a big site the pause after it lasts.
_SHARE = 20
_State = tuple[tuple[str, int, int], ...]


class _Server(ThreadingMixIn, WSGIServer):
    """A server whose requests do not wait for one another, nor it for them when it stops."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    """Requests are not logged: the terminal tells of indexing only."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


@dataclass(slots=True)
class _Current:
    """The engine of the last good index."""

    embedder: Embedder
    engine: Engine | None = None

    def index(self, options: Options) -> None:
        """Index a site anew; a mistake is printed and leaves the last engine in place."""
        try:
            self._index(options)
        except (AnswerableError, OSError) as error:
            self._tell(str(error))
        except Exception as error:
            # Its own text may hold words of a note.
            self._tell(f"the site could not be indexed: {type(error).__name__}; please report it")

    def _tell(self, mistake: str) -> None:
        kept = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{mistake} ({kept})", err=True)

    def _index(self, options: Options) -> None:
        read = built_site.read(options.folder, options.reading)
        notes = indexing.read_notes(options, read)
        made = indexing.indexed(options, read, notes, self.embedder)
        folder = options.cache / "built"
        identity = local_embedder.IDENTITY
        audited = indexing.auditor(options, read, notes)
        bundle = site.preview(made, folder, identity, LOCAL, indexing.now(), audited)
        self.engine = providers.engine(bundle, self.embedder)
        click.echo(site.summary(bundle.manifest, made, folder))


def serve(options: Options, host: str, port: int) -> None:
    """Serve until interrupted; SiteError if the site cannot be read or the port is taken."""
    indexing.check(options, None)
    base = unquote(built_site.read(options.folder, options.reading).base)
    current = _Current(indexing.embedder())
    app = static_files.application(options.folder, base, base + live.BASE)
    app = live.wrap(app, base + live.BASE, host, lambda: current.engine)
    try:
        server = make_server(host, port, app, _Server, _Quiet)
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    with server, _following(options, current):
        click.echo(f"Serving at http://{host}:{server.server_port}{base} (Ctrl-C stops)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo()


@contextmanager
def _following(options: Options, current: _Current) -> Iterator[None]:
    """Index now, and again whenever what was indexed has changed, in a thread of its own."""
    stopped = threading.Event()
    done = _state(options)
    current.index(options)

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
