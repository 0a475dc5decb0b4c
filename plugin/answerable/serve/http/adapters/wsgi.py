"""The service under WSGI, and beside MkDocs' own development server."""

import ipaddress
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from ...engine import Engine
from ...errors import EmbedderError, ProviderError
from ...limits.policy import Policy
from ..logs import LogRefusal
from ..messages import MAX_BODY_BYTES, Request, Response, parse_content_length, strip_base_path
from ..service import Service

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def make_wsgi_app(service: "Service", base: str = "/") -> WsgiApp:
    """Make a WSGI application that answers under a base path."""

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = read_limited_body(
            environ.get("wsgi.input"),
            parse_content_length(str(environ.get("CONTENT_LENGTH") or "0")) or 0,
        )
        request = convert_environ(environ, base, body)
        response = service.handle(request)
        return send_wsgi_response(response, start_response, with_body=request.method != "HEAD")

    return app


def decode_path(environ: Environ) -> str:
    """Decode the path of a WSGI environment."""
    return _decode_utf8(environ.get("PATH_INFO") or "/")


def convert_environ(environ: Environ, base: str, body: bytes) -> Request:
    """Convert a WSGI environment, and the body that was read from it, to a request."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    return Request(
        method=str(environ.get("REQUEST_METHOD", "")),
        path=strip_base_path(decode_path(environ), base),
        query=_decode_utf8(environ.get("QUERY_STRING") or ""),
        headers=headers,
        body=body,
        client_address=str(environ.get("REMOTE_ADDR") or ""),
        can_stream=True,
    )


def read_limited_body(stream: Any, length: int = MAX_BODY_BYTES + 1) -> bytes:
    """Read a body up to one byte more than is allowed; empty if its sender goes away.

    length: of the body, where a stream may not be read beyond it.
    """
    limit, body = min(length, MAX_BODY_BYTES + 1), b""
    try:
        while len(body) < limit and (part := stream.read(limit - len(body))):
            body += part
    except Exception:
        # Each server has errors of its own for a client that goes while it sends.
        return b""
    return body


def send_wsgi_response(
    response: Response, start_response: StartResponse, *, with_body: bool = True
) -> Iterable[bytes]:
    """Start a response and return its body; a server closes what it does not read to its end."""
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    if response.events is not None:
        start_response(status, list(response.headers))
        return response.events
    start_response(status, list(response.sized_headers))
    return [response.body] if with_body and response.body else []


def _decode_utf8(text: object) -> str:
    """Decode a text whose bytes WSGI passes on as Latin-1."""
    return str(text).encode("latin-1", "replace").decode("utf-8", "replace")


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
