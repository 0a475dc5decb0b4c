"""The dev server's ask route: MkDocs' own WSGI app, wrapped."""

import ipaddress
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from ...engine import Engine
from ...errors import EmbedderError, ProviderError
from ...limits.policy import Policy
from ..messages import Request
from ..refusal_log import LogRefusal
from ..service import Service
from . import wsgi
from .wsgi import Environ, StartResponse, WsgiApp, decode_path

# Under the site's path; the widget asks there unless an endpoint is configured.
ASK_BASE = "_answerable/"

# An author asks as often as they like, and wants to see what they have just written.
_DEV_POLICY = Policy(
    rate="1000/second",
    rate_all="1000/second",
    cache_seconds=0,
    in_flight=64,
    tokens_per_day=None,
    deadline=600.0,
)


def mount_ask_route(
    app: WsgiApp,
    base: str,
    host: str,
    current: Callable[[], Engine | None],
    refused: LogRefusal | None = None,
    tell: Callable[[str], object] | None = None,
) -> WsgiApp:
    """An app that answers under a base path and leaves every other request to the inner app.

    host: the one the server listens on. current: the engine of the last good build. refused: keeps
    refused questions. tell: gets what is wrong with a model's server, and how to mend it.
    """

    def is_own(request: Request) -> bool:
        return _is_same_origin(request, host)

    def failed(error: Exception) -> None:
        # Only these are for the author, and repeat neither the question nor what a server said.
        if tell and isinstance(error, ProviderError | EmbedderError):
            tell(f"A question was not answered: {error}")

    service = Service(current, _DEV_POLICY, keep=refused, may_ask=is_own, base=base, tell=failed)
    answering = wsgi.application(service, base)

    def wrapped(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        ours = decode_path(environ).startswith(base)
        return (answering if ours else app)(environ, start_response)

    return wrapped


def _is_same_origin(request: Request, host: str) -> bool:
    """Whether a request comes from a page of this server, not from a site elsewhere.

    A name that an attacker points at this machine (DNS rebinding) is neither localhost, nor the
    configured host, nor an address.
    """
    authority = request.headers.get("host", "")
    try:
        name = urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return False
    if name not in ("localhost", host) and not _is_address(name):
        return False
    origin = request.headers.get("origin")
    return origin is None or origin == f"http://{authority}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
