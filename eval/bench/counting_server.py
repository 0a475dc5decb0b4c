"""A server of a folder, with gzip as static hosts have it, that counts all bytes that it sends."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

# What static hosts such as GitHub Pages compress, by the end of its name.
_PACKED = (".css", ".html", ".js", ".json", ".svg", ".txt", ".xml")
_TYPES = {".js": "text/javascript", ".json": "application/json", ".html": "text/html"}


@dataclass
class Traffic:
    """The responses since the last reset: each path and the bytes of its body."""

    origin: str
    responses: list[tuple[str, int]] = field(default_factory=list)

    def reset(self) -> None:
        """Forget the responses."""
        self.responses = []

    @property
    def kilobytes(self) -> float:
        """Sum the bodies, in units of 1,000 bytes."""
        return sum(size for _, size in self.responses) / 1000


@cache
def read_packed(path: Path) -> bytes:
    """Read a file as it is sent, compressed as nginx and GitHub Pages do where its name says so."""
    data = path.read_bytes()
    return gzip.compress(data, 6, mtime=0) if path.name.endswith(_PACKED) else data


@contextmanager
def serve_counted(folder: Path) -> Iterator[Traffic]:
    """Serve a folder on a port of its own."""
    traffic = Traffic("")

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            """Send a file, and count it."""
            path = folder / self.path.partition("?")[0].lstrip("/")
            if not path.is_file():
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body, ranged = read_packed(path), self.headers["Range"]
            if ranged:
                first, last = map(int, ranged.removeprefix("bytes=").split("-"))
                size, body = len(body), body[first : last + 1]
            # Counted before it is sent: who has received it may look at once.
            traffic.responses.append((self.path, len(body)))
            self.send_response(HTTPStatus.PARTIAL_CONTENT if ranged else HTTPStatus.OK)
            self.send_header("Accept-Ranges", "bytes")
            if ranged:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.send_header("Content-Type", _TYPES.get(path.suffix, "application/octet-stream"))
            if path.name.endswith(_PACKED):
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Cache-Control", "max-age=600")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        traffic.origin = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield traffic
        finally:
            server.shutdown()
            thread.join()
