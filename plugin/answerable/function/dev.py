"""The ask route of the development servers: the function's app beside MkDocs' own WSGI app."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from a2wsgi import ASGIMiddleware
from starlette.applications import Starlette

from ..engine.engine import Engine
from .app import create_app
from .exchange import Function
from .logs import RefusalLog
from .policy import UNLIMITED

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]

# Below the site's path; the widget asks there unless an endpoint is configured.
ASK_BASE = "_answerable/"


def create_dev_app(
    base: str,
    host: str,
    find_engine: Callable[[], Engine | None],
    refusals: RefusalLog | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Starlette:
    """Create the app that answers the author under a base path.

    host: the one the server listens on. find_engine: returns the engine of the last good build.
    report: takes a sentence about what is wrong with a model's server, and how to mend it.
    """
    policy = msgspec.structs.replace(UNLIMITED, base=base)
    function = Function(
        find_engine, policy, refusals=refusals, report_failure=report, dev_host=host
    )
    return create_app(function)


def mount_ask_route(app: WsgiApp, ask_app: Starlette, base: str) -> WsgiApp:
    """Answer under a base path and pass every other request on to the application."""
    asgi_app: Any = ask_app
    ask_wsgi_app: WsgiApp = ASGIMiddleware(asgi_app)  # type: ignore[assignment]

    def mounted_app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = decode_path(environ)
        if not path.startswith(base):
            return app(environ, start_response)
        # The adapter fails on a path that is not UTF-8.
        decoded = {**environ, "PATH_INFO": path.encode().decode("latin-1")}
        return ask_wsgi_app(decoded, start_response)

    return mounted_app


def decode_path(environ: Environ) -> str:
    """Decode the path of a WSGI environment, whose bytes it passes on as Latin-1."""
    path = str(environ.get("PATH_INFO") or "/")
    return path.encode("latin-1", "replace").decode("utf-8", "replace")


def format_agent_command(url: str) -> str:
    """Format the line to paste into a terminal that adds the route at a url to Claude Code."""
    return f"claude mcp add --transport http draft {url}mcp"
