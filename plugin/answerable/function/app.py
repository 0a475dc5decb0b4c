"""The app of a function: its routes, a handler for each, and the opener of a published folder."""

import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..engine.answers.wire import Json, serialize_section
from ..engine.errors import PolicyError, ProviderError
from ..engine.index.manifest import WIRE_VERSION
from ..engine.providers import (
    DATABASE_URL_VARIABLE,
    find_database_opener,
    list_missing_keys,
    open_function,
)
from ..engine.settings import read_settings
from .exchange import Exchange, Function, Handler, make_endpoint
from .logs import METRICS_TYPE, LineFile, RefusalLog, WriteLine
from .policy import read_policy
from .requests import (
    NOTHING_HERE,
    Problem,
    Question,
    check_bearer,
    check_body,
    make_json_response,
    parse_question,
)


def create_app(function: Function) -> Starlette:
    """Create the app that answers under the base path of a function."""

    def route(path: str, handle: Handler, method: str = "GET", *, is_open: bool = False) -> Route:
        endpoint = make_endpoint(function, path, handle, is_open=is_open)
        return Route(f"{function.policy.base}{path}", endpoint, methods=[method], name=path)

    async def refuse_route(request: Request, error: Exception) -> Response:
        """Refuse a path that there is not, and a method that a path does not take."""
        exchange = Exchange(function, request, "other")
        response = exchange.refuse(error).make_response()
        exchange.report(response.status_code)
        return response

    cors = Middleware(
        CORSMiddleware,
        allow_origins=function.policy.allowed_origins,
        allow_methods=["GET", "POST"],
        # An agent repeats parts of its message in headers.
        allow_headers=["Authorization", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version"],
        expose_headers=["Retry-After"],
        max_age=86_400,
    )
    app = Starlette(
        routes=[
            route("answer", Exchange.answer, "POST"),
            route("search", search),
            route("places", list_places, "POST"),
            route("section", read_section),
            route("mcp", answer_agent, "POST"),
            route("health", report_health, is_open=True),
            route("ready", report_readiness, is_open=True),
            route("openapi.json", describe_routes),
            route("metrics", render_metrics, is_open=True),
        ],
        middleware=[cors] if function.policy.allowed_origins else [],
        exception_handlers={HTTPException: refuse_route},
    )
    app.router.redirect_slashes = False
    return app


def search(exchange: Exchange) -> Json:
    """Find public passages for the query of a url."""
    query = exchange.request.query_params.get("q")
    if query is None:
        raise Problem("bad-request", "Search needs a query: ?q=words.")
    rows = exchange.search(Question(query), "search")
    for row in rows.values():
        del row["is_cut"]
    return rows


def list_places(exchange: Exchange) -> Json:
    """List where to look for the question of a body: what the search finds, without texts.

    An ask box sends it after each question, so it counts for itself, and the question of the body
    is in no address and no line of the log a second time.
    """
    rows = exchange.search(parse_question(exchange.request, exchange.body), "places")
    for row in rows.values():
        del row["markdown"], row["is_cut"]
    return rows


def read_section(exchange: Exchange) -> Json:
    """Read the whole section of a passage, for the card of an answer that cites it."""
    passage_id = exchange.request.query_params.get("id", "")
    with exchange.reading("places"):
        section = serialize_section(exchange.engine.store, passage_id)
    if section is None:
        raise Problem("not-found", NOTHING_HERE)
    return section


def answer_agent(exchange: Exchange) -> Response:
    """Reply to one MCP message; its tools meet the same guards as the other routes."""
    # Imported by the first agent: most functions are asked by readers alone.
    from .mcp.protocol import reply_to_message

    check_body(exchange.request)
    status, body = reply_to_message(exchange.body, exchange)
    if body is None:
        return Response(status_code=status, headers={"Cache-Control": "no-store"})
    return make_json_response(body, status)


def report_health(exchange: Exchange) -> Json:
    """Say which index is served."""
    manifest = exchange.engine.store.manifest
    return {
        "status": "ok",
        "wire": WIRE_VERSION,
        "bundle": manifest.id,
        "built_at": manifest.built_at,
        "generator": manifest.generator,
    }


def report_readiness(exchange: Exchange) -> Json:
    """Check that a question would be answered now: no key is missing, stores are reachable."""
    function = exchange.function
    if function.missing_keys:
        raise ProviderError("a key is not set: set it in the environment", cause="key")
    # It fails where a database is out of reach.
    exchange.engine.store.rows_of_page("")
    function.check_not_paused()
    # It fails where Redis is out of reach.
    function.cache.read("ready")
    return {"status": "ready"}


def describe_routes(exchange: Exchange) -> Json:
    """Describe the routes as OpenAPI does."""
    policy, version = exchange.function.policy, exchange.engine.store.manifest.generator
    tokens = {"metrics": bool(policy.metrics_token), "bearer": bool(policy.bearer)}
    return make_document(version, policy.base, **tokens)


def make_document(
    version: str, base: str = "/", *, metrics: bool = False, bearer: bool = False
) -> Json:
    """Fill in the OpenAPI document. version: of what serves it; base: where its paths begin.

    metrics, bearer: what is configured; a path that is not configured is a 404.
    """
    document: Json = json.loads(Path(__file__).with_name("openapi.json").read_bytes())
    paths, components = document["paths"], document["components"]
    document["info"]["version"] = version
    document["servers"] = [{"url": base.rstrip("/") or "/"}]
    if not bearer:
        # The metrics have a token of their own.
        for item in (item for path, item in paths.items() if path != "/metrics"):
            for operation in item.values():
                operation.pop("security", None)
                operation["responses"].pop("401", None)
    if not metrics:
        del paths["/metrics"]
    if not (bearer or metrics):
        del components["securitySchemes"]
    return document


def render_metrics(exchange: Exchange) -> Response:
    """Format the counters for Prometheus, for who has their token."""
    metrics, token = exchange.function.metrics, exchange.function.policy.metrics_token
    if metrics is None or token is None:
        raise Problem("not-found", NOTHING_HERE)
    check_bearer(exchange.request, (token,))
    headers = {"Content-Type": METRICS_TYPE, "Cache-Control": "no-store"}
    return Response(metrics.render(), headers=headers)


def open_app(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> Starlette:
    """Open a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` and
    ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for each request and, without that file, for
    each refusal that is logged. err: takes sentences for whoever runs the function.
    """
    settings = read_settings(folder)
    verify = environment.get("ANSWERABLE_SKIP_HASHES", "").strip() != "1"
    if open_database := find_database_opener(environment):
        find_engine = open_database(folder, environment, verify=verify)
    elif settings.store:
        raise PolicyError(
            f"{DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build without `store`"
        )
    else:
        # A bundle is opened once.
        find_engine = cache(partial(open_function, folder, verify=verify))
    engine = find_engine()
    policy = read_policy(environment, engine.store.index.site.url)
    missing_keys = list_missing_keys(engine.embedder.identity.provider, settings)
    if missing_keys:
        sentence = f"{', '.join(missing_keys)} is not set: no model is called until it is; set it"
        err(f"{sentence} where the function runs\n".encode())
    write = out
    if path := environment.get("ANSWERABLE_REFUSALS"):
        write = LineFile(Path(path), lambda text: err(f"{text}\n".encode())).append
    refusals = RefusalLog(lambda: settings.log_refusals, write, policy.secret)
    return create_app(Function(find_engine, policy, out, refusals, missing_keys=missing_keys))
