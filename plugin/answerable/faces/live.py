"""The dev server's ask route: MkDocs' own WSGI app, wrapped."""

import ipaddress
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from ..serve import wsgi
from ..serve.api import handle, problem_response
from ..serve.engine import Engine
from ..serve.refusals import Keep
from ..serve.wsgi import Environ, StartResponse, WsgiApp

# Under the site's path; the widget asks there unless an endpoint is configured.
BASE = "_answerable/"


def wrap(
    app: WsgiApp,
    base: str,
    host: str,
    current: Callable[[], Engine | None],
    refused: Keep | None = None,
) -> WsgiApp:
    """An app that answers under a base path and leaves every other request to the inner app.

    host: the one the server listens on. current: the engine of the last good build. refused: keeps
    refused questions.
    """

    def wrapped(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = wsgi.path_of(environ)
        if not path.startswith(base):
            return app(environ, start_response)
        if not _is_own(environ, host):
            response = problem_response(403, "Ask from the page that this server serves.")
        elif (engine := current()) is None:
            response = problem_response(503, "There is no index yet; the terminal says why.")
        else:
            response = handle(engine, wsgi.read(environ, path.removeprefix(base)), refused)
        return wsgi.send(response, start_response)

    return wrapped


def _is_own(environ: Environ, host: str) -> bool:
    """Whether a request comes from a page of this server, not from a site elsewhere.

    A name that an attacker points at this machine (DNS rebinding) is neither localhost, nor the
    configured host, nor an address.
    """
    authority = environ.get("HTTP_HOST", "")
    try:
        name = urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return False
    if name not in ("localhost", host) and not _is_address(name):
        return False
    origin = environ.get("HTTP_ORIGIN")
    return origin is None or origin == f"http://{authority}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
