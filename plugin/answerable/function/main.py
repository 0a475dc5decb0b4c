"""A function's entry points: ``app`` (ASGI), ``handler`` (AWS Lambda) and ``python -I main.py``.

The script serves on HOST (default 127.0.0.1) and PORT (default 8799) until a signal. All read the
variables of the policy. This file is copied to the function's folder, and so imports by absolute
names.
"""

import gc
import os
import signal
import socket
import sys
from functools import partial
from pathlib import Path

# A twentieth of a start is garbage collection.
gc.disable()
FUNCTION_FOLDER = Path(__file__).resolve().parent
# `python -I` leaves the script's own folder out of the path, and a platform may too.
sys.path.insert(0, str(FUNCTION_FOLDER))

from answerable.engine.errors import AnswerableError  # noqa: E402
from answerable.function.app import open_app  # noqa: E402
from answerable.function.lambda_ import make_lambda_handler  # noqa: E402

# Lines go out at once, and each by one write: a buffer may be frozen with the function.
out, err = partial(os.write, 1), partial(os.write, 2)
try:
    app = open_app(FUNCTION_FOLDER, os.environ, out, err)
except AnswerableError as error:
    # A platform reports the error that an import ends in.
    if __name__ != "__main__":
        raise
    sys.exit(str(error))
# From here on it never looks at the objects that exist already.
gc.freeze()
gc.enable()
handler = make_lambda_handler(app)


def main() -> None:
    """Serve until interrupted or terminated; exit with one sentence if that is not possible."""
    import uvicorn

    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8799")
    try:
        listening = socket.create_server((host, int(port)))
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f"Cannot listen on {host}:{port} ({error}): set HOST or PORT")
    # asyncio sets it for sockets that name TCP as their protocol only. Without it a body waits
    # for a client's delayed acknowledgment of the headers, some 40 ms on a kept connection.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        # Nothing is logged: a request line may hold a question.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        # The policy names the header of a trusted proxy.
        proxy_headers=False,
        # Connections at once; what comes above is told to come back.
        limit_concurrency=256,
        timeout_graceful_shutdown=int(float(os.environ.get("ANSWERABLE_DEADLINE") or 30)) + 1,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn hands the signal on when it has closed.
        signal.signal(number, lambda *_: sys.exit(0))
    path = app.url_path_for("answer")
    out(f"Answering at http://{host}:{listening.getsockname()[1]}{path}\n".encode())
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
