"""Route a request to the stub server: check key and path, reply with a fault or an answer."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .chat_endpoint import (
    CHAT_PATH,
    chat_completion,
    chat_error_event,
    parse_chat_request,
    stream_chat_completion,
)
from .embeddings_endpoint import EMBEDDING_MODELS, EMBEDDINGS_PATH, embeddings_response
from .faults import FAULT_HEADER, fault_delivery, fault_reply, require_fault, split_fault_suffix
from .request_fields import (
    AnswerRequest,
    ModelOutput,
    SchemaCheck,
    parse_json_object,
    require_type,
    truncate_output,
)
from .responses_endpoint import (
    RESPONSES_PATH,
    parse_responses_request,
    response_object,
    responses_error_event,
    stream_response,
)
from .scripted_models import ScriptedModel
from .stub_messages import (
    OpenAIError,
    RecordedRequest,
    StubReply,
    error_reply,
    event_stream_reply,
    json_reply,
)

MODEL_LIST_PATH = "/v1/models"
ANSWER_PATHS = (RESPONSES_PATH, CHAT_PATH)
MODEL_PATHS = (*ANSWER_PATHS, EMBEDDINGS_PATH)

_REFUSAL = "I'm sorry, but I cannot help with that."


@dataclass(frozen=True, slots=True)
class _AnswerEndpoint:
    """The functions of an answering endpoint, from the request to the body of the reply."""

    parse: Callable[[Mapping[str, Any], str, SchemaCheck], AnswerRequest]
    reply: Callable[[AnswerRequest, ModelOutput], dict[str, Any]]
    events: Callable[[AnswerRequest, ModelOutput], Iterator[bytes]]
    error_event: Callable[[int], bytes]


_ANSWER_ENDPOINTS = {
    RESPONSES_PATH: _AnswerEndpoint(
        parse_responses_request, response_object, stream_response, responses_error_event
    ),
    CHAT_PATH: _AnswerEndpoint(
        parse_chat_request, chat_completion, stream_chat_completion, chat_error_event
    ),
}


@dataclass(frozen=True, slots=True)
class StubSettings:
    """The settings of a server. ``take_fault`` returns the planned fault of an endpoint."""

    take_fault: Callable[[str], str | None]
    models: Mapping[str, ScriptedModel]
    check_schema: SchemaCheck
    retry_after: float
    no_responses: bool

    def model(self, name: str) -> ScriptedModel:
        """Find a model; any other name than a hostile one's is the honest model's."""
        if name.startswith("hostile-") and name not in self.models:
            raise _unknown_model(name)
        return self.models.get(name, self.models["honest"])


def route_request(
    request: RecordedRequest, authorization: str | None, settings: StubSettings
) -> StubReply:
    """Reply to a request; a mistake in the request is replied to as OpenAI does."""
    try:
        reply = _reply(request, authorization, settings)
    except OpenAIError as error:
        reply = error_reply(error)
    return replace(reply, headers={"x-request-id": f"req_{uuid.uuid4().hex}", **reply.headers})


def _reply(
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
    is_model_list = path == MODEL_LIST_PATH or path.startswith(f"{MODEL_LIST_PATH}/")
    if not is_model_list and path not in MODEL_PATHS:
        raise OpenAIError(f"Invalid URL ({request.method} {path})", status=404)
    if request.method != ("GET" if is_model_list else "POST"):
        raise OpenAIError(
            f"Not allowed to {request.method} on {path}.", status=405, code="method_not_supported"
        )
    header = request.headers.get(FAULT_HEADER)
    fault = require_fault(header) if header else settings.take_fault(path)
    if not is_model_list:
        if path == RESPONSES_PATH and settings.no_responses:
            fault = "no-responses"
        fault = fault or _fault_of_model(request)
        if fault == "no-responses" and path != RESPONSES_PATH:
            fault = None
    instead = fault_reply(fault, settings.retry_after)
    if instead is not None:
        return instead
    if is_model_list:
        reply = json_reply(_describe_models(path, settings))
    else:
        reply = _post(request, path, fault, settings)
    return replace(reply, delivery=fault_delivery(fault))


def _fault_of_model(request: RecordedRequest) -> str | None:
    """Return the fault that the suffix of a request's model asks for."""
    model = parse_json_object(request.body).get("model")
    return split_fault_suffix(model)[1] if isinstance(model, str) else None


def _post(
    request: RecordedRequest, path: str, fault: str | None, settings: StubSettings
) -> StubReply:
    values = parse_json_object(request.body)
    name = values.get("model")
    if name is None or name == "":
        raise OpenAIError("you must provide a model parameter")
    model, _ = split_fault_suffix(require_type(name, str, "model"))
    if path == EMBEDDINGS_PATH:
        return _json_result(embeddings_response(values, model, fault), fault)
    endpoint = _ANSWER_ENDPOINTS[path]
    answer_request = endpoint.parse(values, model, settings.check_schema)
    output = _write_output(settings.model(model), answer_request, fault)
    if not answer_request.stream:
        return _json_result(endpoint.reply(answer_request, output), fault)
    events = list(endpoint.events(answer_request, output))
    if fault == "stream-error":
        middle = len(events) // 2
        events = [*events[:middle], endpoint.error_event(middle)]
    return event_stream_reply(events)


def _json_result(value: dict[str, Any], fault: str | None) -> StubReply:
    if fault == "no-usage":
        del value["usage"]
    return json_reply(value)


def _write_output(model: ScriptedModel, request: AnswerRequest, fault: str | None) -> ModelOutput:
    if fault == "empty":
        return ModelOutput(None)
    if fault == "refusal":
        output = ModelOutput(_REFUSAL, refused=True)
    else:
        text = model(request.prompt)
        is_half = fault == "incomplete"
        output = ModelOutput(text[: len(text) // 2] if is_half else text, complete=not is_half)
    return truncate_output(output, request.limit)


def _describe_models(path: str, settings: StubSettings) -> dict[str, Any]:
    """Describe all models, or the one that the path names."""
    names = [*settings.models, "gpt-4o-mini", "gpt-5-mini", *EMBEDDING_MODELS]
    models = {
        name: {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "answerable"}
        for name in names
    }
    if path == MODEL_LIST_PATH:
        return {"object": "list", "data": list(models.values())}
    name = path.removeprefix(f"{MODEL_LIST_PATH}/")
    if name not in models:
        raise _unknown_model(name)
    return models[name]


def _unknown_model(name: str) -> OpenAIError:
    return OpenAIError(
        f"The model '{name}' does not exist", status=404, param="model", code="model_not_found"
    )
