"""A folder served as a static host serves it, on a port of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    # Node opens a connection for each file at once, and one that is refused waits for a second.
    request_queue_size = 256


@contextmanager
def serving(folder: Path, handler: type[Quiet] = Quiet) -> Iterator[str]:
    """Serve a folder; the origin."""
    handler_of_folder = partial(handler, directory=str(folder))
    with _Server(("127.0.0.1", 0), handler_of_folder) as server:
        # A browser keeps its connections open.
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
