"""A function's entry points: ``app`` (ASGI), ``handler`` (AWS Lambda) and ``python -I main.py``.

The script serves on HOST (default 127.0.0.1) and PORT (default 8799) until a signal. All read the
variables of the policy. This file is copied to the function's folder, and so imports by absolute
names.
"""

import os
import socket
import sys
from pathlib import Path

FUNCTION_FOLDER = Path(__file__).resolve().parent
# `python -I` leaves the script's own folder out of the path, and a platform may too.
sys.path.insert(0, str(FUNCTION_FOLDER))

from answerable.serve.errors import AnswerableError  # noqa: E402
from answerable.serve.http.adapters.app_factory import (  # noqa: E402
    open_service,
    write_stderr,
    write_stdout,
)
from answerable.serve.http.adapters.asgi import AsgiApp, serve_until_signal  # noqa: E402
from answerable.serve.http.adapters.aws_lambda import make_lambda_handler  # noqa: E402

try:
    service = open_service(FUNCTION_FOLDER, os.environ, write_stdout, write_stderr)
except AnswerableError as error:
    # A platform reports the error that an import ends in.
    if __name__ != "__main__":
        raise
    sys.exit(str(error))

handler = make_lambda_handler(service, service.base)
app = AsgiApp(service.handle, service.base, service.close)


def main() -> None:
    """Serve until interrupted or terminated; exit with one sentence if that is not possible."""
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8799")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        sys.exit(f"PORT: {port!r} is not a port; set it to a number from 0 to 65535")
    try:
        listening = socket.create_server((host, int(port)))
    except OSError as error:
        sys.exit(f"Cannot listen on {host}:{port} ({error.strerror}): set HOST or PORT")
    address = f"http://{host}:{listening.getsockname()[1]}{service.base}answer"
    serve_until_signal(
        app,
        listening,
        lambda: write_stdout(f"Answering at {address}\n".encode()),
        service.policy.deadline,
    )


if __name__ == "__main__":
    main()
