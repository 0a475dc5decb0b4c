"""From a request to the reply it gets, the faults that were asked for included."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import chat_endpoint, embeddings_endpoint, faults, responses_endpoint
from .answer_requests import AnswerRequest, ModelOutput, truncate_output
from .chat_endpoint import (
    chat_completion,
    chat_error_event,
    parse_chat_request,
    stream_chat_completion,
)
from .embeddings_endpoint import embeddings_response
from .faults import fault_delivery, fault_reply, require_fault, split_fault_suffix
from .model_table import list_model_names, write_model_text
from .request_fields import parse_json_object, require_type
from .responses_endpoint import (
    parse_responses_request,
    response_object,
    responses_error_event,
    stream_response,
)
from .stub_messages import (
    OpenAIError,
    RecordedRequest,
    StubReply,
    error_reply,
    event_stream_reply,
    json_reply,
)

MODEL_LIST_PATH = "/v1/models"
ANSWER_PATHS = (responses_endpoint.RESPONSES_PATH, chat_endpoint.CHAT_PATH)
MODEL_PATHS = (*ANSWER_PATHS, embeddings_endpoint.EMBEDDINGS_PATH)


@dataclass(frozen=True, slots=True)
class _AnswerEndpoint:
    """What an answering endpoint does with a request and with what a model has written."""

    read: Callable[[Mapping[str, Any], str], AnswerRequest]
    reply: Callable[[AnswerRequest, ModelOutput], dict[str, Any]]
    events: Callable[[AnswerRequest, ModelOutput], Iterator[bytes]]
    error_event: Callable[[int], bytes]


_ANSWER_ENDPOINTS = {
    responses_endpoint.RESPONSES_PATH: _AnswerEndpoint(
        parse_responses_request, response_object, stream_response, responses_error_event
    ),
    chat_endpoint.CHAT_PATH: _AnswerEndpoint(
        parse_chat_request, chat_completion, stream_chat_completion, chat_error_event
    ),
}
_REFUSAL = "I'm sorry, but I cannot help with that."


@dataclass(frozen=True, slots=True)
class StubSettings:
    """How a server behaves. ``take`` gives the planned fault of an endpoint, counted down."""

    take: Callable[[str], str | None]
    retry_after: float = 1.0
    no_responses: bool = False


def route_request(
    request: RecordedRequest, authorization: str | None, settings: StubSettings
) -> StubReply:
    """The reply to a request; whatever is wrong with the request is a reply too."""
    try:
        found = _respond(request, authorization, settings)
    except OpenAIError as error:
        found = error_reply(error)
    return replace(found, headers={"x-request-id": f"req_{uuid.uuid4().hex}", **found.headers})


def _respond(
    request: RecordedRequest, authorization: str | None, settings: StubSettings
) -> StubReply:
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise OpenAIError(
            "You didn't provide an API key. You need to provide your API key in an Authorization "
            "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    path = request.endpoint
    if path == MODEL_LIST_PATH or path.startswith(f"{MODEL_LIST_PATH}/"):
        _method(request, "GET")
        planned = _planned(request, settings)
        return _finish(lambda _: json_reply(_models(path)), planned, settings)
    if path not in MODEL_PATHS:
        raise OpenAIError(f"Invalid URL ({request.method} {path})", status=404)
    _method(request, "POST")
    fault = _planned(request, settings)
    if path == responses_endpoint.RESPONSES_PATH and settings.no_responses:
        fault = "no-responses"
    fault = fault or _asked(request)
    if fault == "no-responses" and path != responses_endpoint.RESPONSES_PATH:
        fault = None
    return _finish(lambda fault: _post(request, path, fault), fault, settings)


def _method(request: RecordedRequest, method: str) -> None:
    if request.method != method:
        raise OpenAIError(
            f"Not allowed to {request.method} on {request.endpoint}.",
            status=405,
            code="method_not_supported",
        )


def _planned(request: RecordedRequest, settings: StubSettings) -> str | None:
    wanted = request.headers.get(faults.FAULT_HEADER)
    return require_fault(wanted) if wanted else settings.take(request.endpoint)


def _asked(request: RecordedRequest) -> str | None:
    """The fault that a request's model asks for."""
    model = parse_json_object(request.body).get("model")
    return split_fault_suffix(model)[1] if isinstance(model, str) else None


def _finish(
    usual: Callable[[str | None], StubReply], fault: str | None, settings: StubSettings
) -> StubReply:
    instead = fault_reply(fault, settings.retry_after)
    return instead or replace(usual(fault), delivery=fault_delivery(fault))


def _post(request: RecordedRequest, path: str, fault: str | None) -> StubReply:
    values = parse_json_object(request.body)
    name = values.get("model")
    if name is None or name == "":
        raise OpenAIError("you must provide a model parameter")
    model, _ = split_fault_suffix(require_type(name, str, "model"))
    if path == embeddings_endpoint.EMBEDDINGS_PATH:
        return _result(embeddings_response(values, model, fault), fault)
    return _answer(_ANSWER_ENDPOINTS[path], values, model, fault)


def _answer(
    api: _AnswerEndpoint, values: dict[str, Any], model: str, fault: str | None
) -> StubReply:
    ask = api.read(values, model)
    output = truncate_output(_output(model, ask, fault), ask.limit)
    if not ask.stream:
        return _result(api.reply(ask, output), fault)
    events = list(api.events(ask, output))
    if fault == "stream-error":
        middle = len(events) // 2
        events = [*events[:middle], api.error_event(middle)]
    return event_stream_reply(events)


def _result(value: dict[str, Any], fault: str | None) -> StubReply:
    if fault == "no-usage":
        del value["usage"]
    return json_reply(value)


def _output(model: str, ask: AnswerRequest, fault: str | None) -> ModelOutput:
    match fault:
        case "refusal":
            return ModelOutput(_REFUSAL, refused=True)
        case "empty":
            return ModelOutput(None)
        case "incomplete":
            text = write_model_text(model, ask.prompt)
            return ModelOutput(text[: len(text) // 2], complete=False)
        case _:
            return ModelOutput(write_model_text(model, ask.prompt))


def _models(path: str) -> dict[str, Any]:
    listed = {
        name: {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "answerable"}
        for name in list_model_names()
    }
    if path == MODEL_LIST_PATH:
        return {"object": "list", "data": list(listed.values())}
    name = path.removeprefix(f"{MODEL_LIST_PATH}/")
    if name not in listed:
        raise OpenAIError(
            f"The model '{name}' does not exist", status=404, param="model", code="model_not_found"
        )
    return listed[name]
