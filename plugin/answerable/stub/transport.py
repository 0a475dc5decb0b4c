"""How a reply becomes bytes on a connection, whole or not."""

import socket
import threading
from collections.abc import Iterator
from http import HTTPStatus
from io import BufferedIOBase

from .reply import Reply

# How often a reply that hangs looks whether its client is still there, in seconds.
_LOOK = 0.02


def send(
    reply: Reply, out: BufferedIOBase, to: socket.socket, stopping: threading.Event, pause: float
) -> bool:
    """Write a reply to a connection; whether that can go on. pause: seconds between dripped bytes.

    OSError if the client has hung up before the reply was whole.
    """
    if reply.delivery == "hang":
        while not stopping.wait(_LOOK):
            _check(to)
    if reply.delivery in ("hang", "drop"):
        return False
    if reply.delivery == "truncated":
        reply = Reply(
            _half(reply.chunks), reply.status, reply.content_type, reply.headers, reply.stream
        )
    frames = list(_frames(reply))
    out.write(_head(reply))
    if reply.delivery == "drip":
        out.flush()
        return _drip(b"".join(frames), out, to, stopping, pause)
    cut = reply.delivery == "cut"
    for frame in _half(tuple(frames)) if cut else frames:
        out.write(frame)
    out.flush()
    return not cut


def _head(reply: Reply) -> bytes:
    size = sum(len(chunk) for chunk in reply.chunks)
    framing = "Transfer-Encoding: chunked" if reply.stream else f"Content-Length: {size}"
    lines = [
        f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
        f"Content-Type: {reply.content_type}",
        framing,
        *(f"{name}: {value}" for name, value in reply.headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _frames(reply: Reply) -> Iterator[bytes]:
    if not reply.stream:
        yield from reply.chunks
        return
    for chunk in reply.chunks:
        yield b"%x\r\n%s\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"


def _half(chunks: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The first half of what there is to send; it ends within a chunk."""
    left = sum(len(chunk) for chunk in chunks) // 2
    kept = []
    for chunk in chunks:
        if left <= 0:
            break
        kept.append(chunk[:left])
        left -= len(chunk)
    return tuple(kept)


def _check(to: socket.socket) -> None:
    """ConnectionAbortedError if there is an end to read where there is no request."""
    waits = to.gettimeout()
    to.setblocking(False)
    try:
        if not to.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError
    except BlockingIOError:
        return
    finally:
        to.settimeout(waits)


def _drip(
    data: bytes, out: BufferedIOBase, to: socket.socket, stopping: threading.Event, pause: float
) -> bool:
    for index in range(len(data)):
        if stopping.wait(pause):
            return False
        _check(to)
        out.write(data[index : index + 1])
        out.flush()
    return True
