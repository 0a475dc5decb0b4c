"""The answer function on loopback: ``python -I main.py`` serves ``POST /answer``.

PORT (default 8799) and HOST (default 127.0.0.1) come from the environment.
"""

import os
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

HERE = Path(__file__).resolve().parent
# `python -I` leaves the script's own folder out of the path.
sys.path.insert(0, str(HERE))

from answerable.serve import providers  # noqa: E402
from answerable.serve.wsgi import application  # noqa: E402


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """No access log: a query string may hold a question."""


def main() -> None:
    """Serve until interrupted."""
    engine = providers.open_function(HERE)
    host = os.environ.get("HOST", "127.0.0.1")
    port = int(os.environ.get("PORT", "8799"))
    with make_server(host, port, application(engine), _Server, _Quiet) as server:
        sys.stdout.write(f"Answering at http://{host}:{server.server_port}/answer\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
