"""From a request to the reply it gets, the faults that were asked for included."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import asks, chat, embeddings, faults, fields, models, responses
from .asks import Ask, Output
from .errors import ApiError
from .recording import Recorded
from .reply import Reply, of_error, of_events, of_json

MODELS_PATH = "/v1/models"
ANSWERS = (responses.PATH, chat.PATH)
PATHS = (*ANSWERS, embeddings.PATH)


@dataclass(frozen=True, slots=True)
class _Api:
    """What an answering endpoint does with a request and with what a model has written."""

    read: Callable[[Mapping[str, Any], str], Ask]
    reply: Callable[[Ask, Output], dict[str, Any]]
    events: Callable[[Ask, Output], Iterator[bytes]]
    error_event: Callable[[int], bytes]


_APIS = {
    responses.PATH: _Api(responses.read, responses.reply, responses.events, responses.error_event),
    chat.PATH: _Api(chat.read, chat.reply, chat.events, chat.error_event),
}
_REFUSAL = "I'm sorry, but I cannot help with that."


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server behaves. ``take`` gives the planned fault of an endpoint, counted down."""

    take: Callable[[str], str | None]
    retry_after: float = 1.0
    no_responses: bool = False


def respond(request: Recorded, authorization: str | None, settings: Settings) -> Reply:
    """The reply to a request; whatever is wrong with the request is a reply too."""
    try:
        found = _respond(request, authorization, settings)
    except ApiError as error:
        found = of_error(error)
    return replace(found, headers={"x-request-id": f"req_{uuid.uuid4().hex}", **found.headers})


def _respond(request: Recorded, authorization: str | None, settings: Settings) -> Reply:
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise ApiError(
            "You didn't provide an API key. You need to provide your API key in an Authorization "
            "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    path = request.endpoint
    if path == MODELS_PATH or path.startswith(f"{MODELS_PATH}/"):
        _method(request, "GET")
        planned = _planned(request, settings)
        return _finish(lambda _: of_json(_models(path)), planned, settings)
    if path not in PATHS:
        raise ApiError(f"Invalid URL ({request.method} {path})", status=404)
    _method(request, "POST")
    fault = _planned(request, settings)
    if path == responses.PATH and settings.no_responses:
        fault = "no-responses"
    fault = fault or _asked(request)
    if fault == "no-responses" and path != responses.PATH:
        fault = None
    return _finish(lambda fault: _post(request, path, fault), fault, settings)


def _method(request: Recorded, method: str) -> None:
    if request.method != method:
        raise ApiError(
            f"Not allowed to {request.method} on {request.endpoint}.",
            status=405,
            code="method_not_supported",
        )


def _planned(request: Recorded, settings: Settings) -> str | None:
    wanted = request.headers.get(faults.HEADER)
    return faults.checked(wanted) if wanted else settings.take(request.endpoint)


def _asked(request: Recorded) -> str | None:
    """The fault that a request's model asks for."""
    model = fields.body(request.body).get("model")
    return faults.split(model)[1] if isinstance(model, str) else None


def _finish(usual: Callable[[str | None], Reply], fault: str | None, settings: Settings) -> Reply:
    instead = faults.reply(fault, settings.retry_after)
    return instead or replace(usual(fault), delivery=faults.delivery(fault))


def _post(request: Recorded, path: str, fault: str | None) -> Reply:
    values = fields.body(request.body)
    name = values.get("model")
    if name is None or name == "":
        raise ApiError("you must provide a model parameter")
    model, _ = faults.split(fields.typed(name, str, "model"))
    if path == embeddings.PATH:
        return _result(embeddings.reply(values, model, fault), fault)
    return _answer(_APIS[path], values, model, fault)


def _answer(api: _Api, values: dict[str, Any], model: str, fault: str | None) -> Reply:
    ask = api.read(values, model)
    output = asks.limited(_output(model, ask, fault), ask.limit)
    if not ask.stream:
        return _result(api.reply(ask, output), fault)
    events = list(api.events(ask, output))
    if fault == "stream-error":
        middle = len(events) // 2
        events = [*events[:middle], api.error_event(middle)]
    return of_events(events)


def _result(value: dict[str, Any], fault: str | None) -> Reply:
    if fault == "no-usage":
        del value["usage"]
    return of_json(value)


def _output(model: str, ask: Ask, fault: str | None) -> Output:
    match fault:
        case "refusal":
            return Output(_REFUSAL, refused=True)
        case "empty":
            return Output(None)
        case "incomplete":
            text = models.text(model, ask.prompt)
            return Output(text[: len(text) // 2], complete=False)
        case _:
            return Output(models.text(model, ask.prompt))


def _models(path: str) -> dict[str, Any]:
    listed = {
        name: {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "answerable"}
        for name in models.names()
    }
    if path == MODELS_PATH:
        return {"object": "list", "data": list(listed.values())}
    name = path.removeprefix(f"{MODELS_PATH}/")
    if name not in listed:
        raise ApiError(
            f"The model '{name}' does not exist", status=404, param="model", code="model_not_found"
        )
    return listed[name]
