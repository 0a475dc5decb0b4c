"""Mount the answer function below _answerable/ of a dev server; refuse pages of other sites."""

import ipaddress
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from ...engine import Engine
from ...errors import EmbedderError, ProviderError
from ...limits.policy import Policy
from ..messages import Request
from ..refusal_log import LogRefusal
from ..service import Service
from .wsgi import Environ, StartResponse, WsgiApp, decode_path, make_wsgi_app

# Below the site's path; the widget asks there unless an endpoint is configured.
ASK_BASE = "_answerable/"

# What an agent calls the site while it is being written.
_AGENT_NAME = "draft"
# An author asks as often as they like, and wants to see what they have just written.
_DEV_POLICY = Policy(
    rate="1000/second",
    rate_all="1000/second",
    cache_seconds=0,
    in_flight=64,
    tokens_per_day=None,
    deadline=600.0,
)


def make_dev_service(
    base: str,
    host: str,
    find_engine: Callable[[], Engine | None],
    log_refusal: LogRefusal | None = None,
    report: Callable[[str], object] | None = None,
) -> Service:
    """Make the service that answers the author under a base path.

    host: the one the server listens on. find_engine: returns the engine of the last good build.
    report: takes a sentence about what is wrong with a model's server, and how to mend it.
    """

    def is_allowed(request: Request) -> bool:
        return _is_same_origin(request, host)

    def report_error(error: Exception) -> None:
        # Only these are for the author, and repeat neither the question nor what a server said.
        if report and isinstance(error, ProviderError | EmbedderError):
            report(f"A question was not answered: {error}")

    return Service(
        find_engine,
        _DEV_POLICY,
        log_refusal=log_refusal,
        is_allowed=is_allowed,
        base=base,
        is_site_host=True,
        report_error=report_error,
    )


def mount_ask_route(app: WsgiApp, service: Service) -> WsgiApp:
    """Answer under a service's base path and pass every other request on to the application."""
    ask_app = make_wsgi_app(service, service.base)

    def mounted_app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        is_below = decode_path(environ).startswith(service.base)
        return (ask_app if is_below else app)(environ, start_response)

    return mounted_app


def format_agent_command(url: str) -> str:
    """Format the line to paste into a terminal that adds the route at a url to Claude Code."""
    return f"claude mcp add --transport http {_AGENT_NAME} {url}mcp"


def _is_same_origin(request: Request, host: str) -> bool:
    """Tell whether a request comes from a page of this server, and not from a site elsewhere.

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
