"""Script of a function's folder (``python -I main.py``): serve it on HOST:PORT until a signal.

PORT (default 8799) and HOST (default 127.0.0.1) come from the environment, as do the variables of
its policy. This file is copied to the function's folder, and so imports by absolute names.
"""

import os
import socket
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


def main() -> None:
    """Serve until interrupted or terminated; exit with one sentence if that is not possible."""
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8799")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        sys.exit(f"PORT: {port!r} is not a port; set it to a number from 0 to 65535")
    try:
        service = open_service(FUNCTION_FOLDER, os.environ, write_stdout, write_stderr)
        listening = socket.create_server((host, int(port)))
    except AnswerableError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"Cannot listen on {host}:{port} ({error.strerror}): set HOST or PORT")
    from answerable.serve.http.adapters.asgi import AsgiApp, serve_until_signal

    address = f"http://{host}:{listening.getsockname()[1]}{service.base}answer"
    try:
        serve_until_signal(
            AsgiApp(service.handle, service.base, service.close),
            listening,
            lambda: write_stdout(f"Answering at {address}\n".encode()),
            service.policy.deadline,
        )
    except ImportError:
        sys.exit("main.py needs uvicorn: run `pip install 'uvicorn>=0.38,<1'` where it runs")


if __name__ == "__main__":
    main()
