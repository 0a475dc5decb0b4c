"""The answer function on loopback: ``python -I main.py`` serves ``POST /answer``.

PORT (default 8799) and HOST (default 127.0.0.1) come from the environment. With
ANSWERABLE_SKIP_HASHES=1 the sizes of its data are compared, their hashes are not. Refused questions
that are kept go to the file ANSWERABLE_REFUSALS, else to standard output, hashed with
ANSWERABLE_SECRET, else with a secret of this process.
"""

import os
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

HERE = Path(__file__).resolve().parent
# `python -I` leaves the script's own folder out of the path.
sys.path.insert(0, str(HERE))

from answerable.serve import starting  # noqa: E402

VERIFY = os.environ.get("ANSWERABLE_SKIP_HASHES", "0") in ("", "0")
# While numpy is imported, which is most of a cold start.
AHEAD = starting.begin(HERE, verify=VERIFY)

from answerable.serve import providers, refusals, settings  # noqa: E402
from answerable.serve.engine import Engine  # noqa: E402
from answerable.serve.errors import AnswerableError  # noqa: E402
from answerable.serve.refusals import Keep  # noqa: E402
from answerable.serve.wsgi import application  # noqa: E402

# Fewer characters could be guessed, and with them every hash.
LEAST_SECRET = 16


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """No access log: a query string may hold a question."""


def main() -> None:
    """Serve until interrupted; one sentence if that cannot be done."""
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8799")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        sys.exit(f"PORT: {port!r} is not a port; set it to a number from 0 to 65535")
    try:
        engine = providers.open_function(HERE, verify=VERIFY, ahead=AHEAD)
        refused = keeper()
        starting.end()
        serve(engine, host, int(port), refused)
    except AnswerableError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"Cannot listen on {host}:{port} ({error.strerror}): set HOST or PORT")


def keeper() -> Keep | None:
    """What keeps refused questions, as the settings and the environment say."""
    chosen = settings.read(HERE).log_refusals
    if chosen == "none":
        return None
    secret = os.environ.get("ANSWERABLE_SECRET", "").encode()
    if 0 < len(secret) < LEAST_SECRET:
        sys.exit(f"ANSWERABLE_SECRET: it needs {LEAST_SECRET} characters; set a longer one")
    path = os.environ.get("ANSWERABLE_REFUSALS")
    write = refusals.appender(Path(path), _complain) if path else _print
    return refusals.keeper(lambda: chosen, write, secret or os.urandom(32))


def _print(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _complain(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


def serve(engine: Engine, host: str, port: int, refused: Keep | None = None) -> None:
    """Answer requests on an address; port 0 takes any free one. refused: keeps what is refused."""
    app = application(engine, refused=refused)
    with make_server(host, port, app, _Server, _Quiet) as server:
        sys.stdout.write(f"Answering at http://{host}:{server.server_port}/answer\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
