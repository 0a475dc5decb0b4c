"""The endpoint /v1/chat/completions."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from . import stub_messages
from .answer_requests import (
    AnswerRequest,
    ModelOutput,
    estimate_tokens,
    parse_messages,
    parse_strict_schema,
    reject_unsupported_sampling,
    unsupported_parameter,
)
from .model_table import refuses_reasoning_effort, takes_reasoning_effort
from .request_fields import (
    optional_field,
    reject_unknown_fields,
    require_choice,
    require_type,
    required_field,
)
from .scripted_models import parse_prompt
from .stub_messages import OpenAIError, encode_event, split_into_deltas

CHAT_PATH = "/v1/chat/completions"

_PARAMETERS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split()
)
_PARTS = ("text", "refusal")
_FORMATS = ("text", "json_object", "json_schema")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")

Json = dict[str, Any]


def parse_chat_request(values: Mapping[str, Any], model: str) -> AnswerRequest:
    """The request, checked; ApiError where OpenAI refuses it. model: without a fault's suffix."""
    reject_unknown_fields(values, _PARAMETERS)
    given = require_type(required_field(values, "messages"), list, "messages")
    if not given:
        raise OpenAIError(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got "
            "an empty array instead.",
            param="messages",
            code="empty_array",
        )
    said = parse_messages(given, "messages", _PARTS)
    for name in ("store", "stream"):
        optional_field(values, name, bool)
    if values.get("n") not in (None, 1):
        raise OpenAIError("Invalid 'n': this server gives one choice.", param="n")
    reject_unsupported_sampling(values, model)
    if values.get("reasoning_effort") is not None:
        require_choice(values["reasoning_effort"], _EFFORTS, "reasoning_effort")
        if refuses_reasoning_effort(model):
            raise unsupported_parameter("reasoning_effort")
    if values.get("max_tokens") is not None and takes_reasoning_effort(model):
        raise unsupported_parameter("max_tokens", instead="max_completion_tokens")
    limits = [optional_field(values, k, int) for k in ("max_completion_tokens", "max_tokens")]
    prompt = parse_prompt((text for role, text in said if role == "user"), _schema(values))
    return AnswerRequest(
        model,
        prompt,
        values,
        estimate_tokens("".join(text for _, text in said)),
        next((limit for limit in limits if limit is not None), None),
        stream=values.get("stream") is True,
    )


def chat_completion(ask: AnswerRequest, output: ModelOutput) -> Json:
    """The completion object of an output."""
    message = {"role": "assistant", "annotations": [], **_written(output, output.text)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(output)}
    return {
        **_head(ask, "chat.completion"), "choices": [choice], "usage": _usage(ask, output)
    }  # fmt: skip


def stream_chat_completion(ask: AnswerRequest, output: ModelOutput) -> Iterator[bytes]:
    """The chunks of a streamed completion, the usage last if it was asked for."""
    head = _head(ask, "chat.completion.chunk")
    options = optional_field(ask.asked, "stream_options", dict) or {}
    with_usage = options.get("include_usage") is True
    usage: Json = {"usage": None} if with_usage else {}
    first = {"role": "assistant", "content": None if output.refused else "", "refusal": None}
    deltas: list[Json] = [first]
    deltas += [_delta(output, piece) for piece in split_into_deltas(output.text or "")]
    for delta in deltas:
        yield encode_event({**head, "choices": [_choice(delta, None)], **usage})
    yield encode_event({**head, "choices": [_choice({}, _reason(output))], **usage})
    if with_usage:
        yield encode_event({**head, "choices": [], "usage": _usage(ask, output)})
    yield stub_messages.STREAM_END


def chat_error_event(_: int) -> bytes:
    """The event that ends a stream when the server fails in the middle of it."""
    error = {"message": "The server had an error.", "type": "server_error", "code": None}
    return encode_event({"error": {**error, "param": None}})


def _schema(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = optional_field(values, "response_format", dict)
    if wanted is None:
        return None
    kind = required_field(wanted, "type", "response_format.")
    if require_choice(kind, _FORMATS, "response_format.type") != "json_schema":
        return None
    where = "response_format.json_schema"
    inner = require_type(required_field(wanted, "json_schema", "response_format."), dict, where)
    return parse_strict_schema(inner, f"{where}.", "response_format", None)


def _head(ask: AnswerRequest, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": ask.asked["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_stub",
    }


def _written(output: ModelOutput, text: str | None) -> Json:
    return {
        "content": None if output.refused else text,
        "refusal": text if output.refused else None,
    }


def _delta(output: ModelOutput, piece: str) -> Json:
    return {"refusal" if output.refused else "content": piece}


def _choice(delta: Json, reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _reason(output: ModelOutput) -> str:
    return "stop" if output.complete else "length"


def _usage(ask: AnswerRequest, output: ModelOutput) -> Json:
    written = estimate_tokens(output.text or "")
    return {
        "prompt_tokens": ask.input_tokens,
        "completion_tokens": written,
        "total_tokens": ask.input_tokens + written,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
