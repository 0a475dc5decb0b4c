"""Script of a function's folder (``python -I main.py``): serve it on HOST:PORT until a signal.

PORT (default 8799) and HOST (default 127.0.0.1) come from the environment, as do the variables of
its policy. This file is copied to the function's folder, and so imports by absolute names.
"""

import os
import sys
from pathlib import Path

FUNCTION_FOLDER = Path(__file__).resolve().parent
# `python -I` leaves the script's own folder out of the path.
sys.path.insert(0, str(FUNCTION_FOLDER))

from answerable.serve.errors import AnswerableError  # noqa: E402
from answerable.serve.http.adapters.app_factory import (  # noqa: E402
    open_service,
    write_stderr,
    write_stdout,
)

# Seconds that a signal waits at most until the server notices.
_POLL_SECONDS = 0.1
# Seconds in which the responses of cancelled questions have to be sent.
_LAST_SECONDS = 1.0


def main() -> None:
    """Serve until interrupted or terminated; exit with one sentence if that is not possible."""
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8799")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        sys.exit(f"PORT: {port!r} is not a port; set it to a number from 0 to 65535")
    try:
        serve_until_signal(host, int(port))
    except AnswerableError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"Cannot listen on {host}:{port} ({error.strerror}): set HOST or PORT")


def serve_until_signal(host: str, port: int) -> None:
    """Answer requests on an address until a signal, then finish those in flight.

    Port 0 takes any free one.
    """
    service = open_service(FUNCTION_FOLDER, os.environ, write_stdout, write_stderr)
    from answerable.serve.http.adapters.standalone import StandaloneServer
    from answerable.serve.http.shutdown import stop_on_signal

    per_address = service.policy.connections_per_address
    with (
        StandaloneServer(
            host, port, service.handle, service.base, per_address=per_address
        ) as server,
        stop_on_signal(server.shutdown),
    ):
        write_stdout(f"Answering at http://{host}:{server.port}{service.base}answer\n".encode())
        server.serve_forever(_POLL_SECONDS)
        server.drain(service.policy.deadline)
        service.close()
        server.drain(_LAST_SECONDS)


if __name__ == "__main__":
    main()
