"""The endpoint /v1/chat/completions."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from . import asks, fields, models, prompts, streaming
from .asks import Ask, Output
from .errors import ApiError

PATH = "/v1/chat/completions"

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


def read(values: Mapping[str, Any], model: str) -> Ask:
    """The request, checked; ApiError where OpenAI refuses it. model: without a fault's suffix."""
    fields.known(values, _PARAMETERS)
    given = fields.typed(fields.required(values, "messages"), list, "messages")
    if not given:
        raise ApiError(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got "
            "an empty array instead.",
            param="messages",
            code="empty_array",
        )
    said = asks.messages(given, "messages", _PARTS)
    for name in ("store", "stream"):
        fields.optional(values, name, bool)
    if values.get("n") not in (None, 1):
        raise ApiError("Invalid 'n': this server gives one choice.", param="n")
    asks.check_sampling(values, model)
    if values.get("reasoning_effort") is not None:
        fields.one_of(values["reasoning_effort"], _EFFORTS, "reasoning_effort")
        if models.takes_no_effort(model):
            raise asks.unsupported("reasoning_effort")
    if values.get("max_tokens") is not None and models.reasons(model):
        raise asks.unsupported("max_tokens", instead="max_completion_tokens")
    limits = [fields.optional(values, k, int) for k in ("max_completion_tokens", "max_tokens")]
    prompt = prompts.read((text for role, text in said if role == "user"), _schema(values))
    return Ask(
        model,
        prompt,
        values,
        asks.tokens("".join(text for _, text in said)),
        next((limit for limit in limits if limit is not None), None),
        stream=values.get("stream") is True,
    )


def reply(ask: Ask, output: Output) -> Json:
    """The completion object of an output."""
    message = {"role": "assistant", "annotations": [], **_written(output, output.text)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(output)}
    return {
        **_head(ask, "chat.completion"), "choices": [choice], "usage": _usage(ask, output)
    }  # fmt: skip


def events(ask: Ask, output: Output) -> Iterator[bytes]:
    """The chunks of a streamed completion, the usage last if it was asked for."""
    head = _head(ask, "chat.completion.chunk")
    options = fields.optional(ask.asked, "stream_options", dict) or {}
    with_usage = options.get("include_usage") is True
    usage: Json = {"usage": None} if with_usage else {}
    first = {"role": "assistant", "content": None if output.refused else "", "refusal": None}
    deltas: list[Json] = [first]
    deltas += [_delta(output, piece) for piece in streaming.pieces(output.text or "")]
    for delta in deltas:
        yield streaming.event({**head, "choices": [_choice(delta, None)], **usage})
    yield streaming.event({**head, "choices": [_choice({}, _reason(output))], **usage})
    if with_usage:
        yield streaming.event({**head, "choices": [], "usage": _usage(ask, output)})
    yield streaming.DONE


def error_event(_: int) -> bytes:
    """The event that ends a stream when the server fails in the middle of it."""
    error = {"message": "The server had an error.", "type": "server_error", "code": None}
    return streaming.event({"error": {**error, "param": None}})


def _schema(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = fields.optional(values, "response_format", dict)
    if wanted is None:
        return None
    kind = fields.required(wanted, "type", "response_format.")
    if fields.one_of(kind, _FORMATS, "response_format.type") != "json_schema":
        return None
    where = "response_format.json_schema"
    inner = fields.typed(fields.required(wanted, "json_schema", "response_format."), dict, where)
    return asks.strict_schema(inner, f"{where}.", "response_format", None)


def _head(ask: Ask, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": ask.asked["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_stub",
    }


def _written(output: Output, text: str | None) -> Json:
    return {
        "content": None if output.refused else text,
        "refusal": text if output.refused else None,
    }


def _delta(output: Output, piece: str) -> Json:
    return {"refusal" if output.refused else "content": piece}


def _choice(delta: Json, reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _reason(output: Output) -> str:
    return "stop" if output.complete else "length"


def _usage(ask: Ask, output: Output) -> Json:
    written = asks.tokens(output.text or "")
    return {
        "prompt_tokens": ask.input_tokens,
        "completion_tokens": written,
        "total_tokens": ask.input_tokens + written,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
