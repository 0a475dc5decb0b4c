"""A line to a server that is slow, whatever is asked of it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class SlowLine:
    """Passes one command at a time to a server, and each reply after ``seconds``.

    For clients that send a command only after the reply to the one before.
    """

    server: int
    seconds: float = 0.0
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def pass_on(self, client: socket.socket) -> None:
        with (
            suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self.server)) as server,
        ):
            while command := client.recv(65_536):
                server.sendall(command)
                reply = server.recv(65_536)
                self.over.wait(self.seconds)
                client.sendall(reply)


@contextmanager
def slow_line(server: int) -> Iterator[SlowLine]:
    """A line to a port of loopback, as fast as any until its ``seconds`` are set."""
    line = SlowLine(server)
    listening = socket.create_server(("127.0.0.1", 0))
    line.port = listening.getsockname()[1]
    clients: list[socket.socket] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                clients.append(listening.accept()[0])
                threading.Thread(target=line.pass_on, args=(clients[-1],), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield line
    finally:
        line.over.set()
        for each in (listening, *clients):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        thread.join(10)
