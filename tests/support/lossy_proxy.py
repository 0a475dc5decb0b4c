"""A line to a server on which replies get lost."""

import socket
import threading
from types import TracebackType


class LossyLine:
    """Passes one command at a time to a server; while ``loses``, it hangs up before the reply.

    For clients that send a command only after the reply to the one before.
    """

    def __init__(self, port: int) -> None:
        self.loses = False
        self._server = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> "LossyLine":
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        del kind, error, at
        for each in (self._listening, *self._open):
            _hang_up(each)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            self._threads.append(threading.Thread(target=self._pass, args=(client,)))
            self._threads[-1].start()

    def _pass(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._server)) as server:
            while command := _received(client):
                server.sendall(command)
                reply = _received(server)
                if self.loses:
                    self.loses = False
                    return
                client.sendall(reply)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except OSError:
        return b""


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    finally:
        connection.close()
