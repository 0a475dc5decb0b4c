"""Stub of /v1/chat/completions: check a request as OpenAI does, build its completion or chunks."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from .request_fields import (
    AnswerRequest,
    ModelOutput,
    SchemaCheck,
    estimate_tokens,
    optional_field,
    parse_messages,
    parse_response_format,
    reject_unknown_fields,
    reject_unsupported_effort,
    reject_unsupported_sampling,
    require_type,
    required_field,
    unsupported_parameter,
)
from .scripted_models import parse_prompt, takes_reasoning_effort
from .stub_messages import STREAM_END, OpenAIError, encode_event, split_into_deltas

CHAT_PATH = "/v1/chat/completions"

_PARAMETERS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split()
)
_PARTS = ("text", "refusal")

Json = dict[str, Any]


def parse_chat_request(
    values: Mapping[str, Any], model: str, check_schema: SchemaCheck
) -> AnswerRequest:
    """Check a request; OpenAIError where OpenAI refuses it. model: without a fault's suffix."""
    reject_unknown_fields(values, _PARAMETERS)
    items = require_type(required_field(values, "messages"), list, "messages")
    if not items:
        raise OpenAIError(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got "
            "an empty array instead.",
            param="messages",
            code="empty_array",
        )
    messages = parse_messages(items, "messages", _PARTS)
    for name in ("store", "stream"):
        optional_field(values, name, bool)
    if values.get("n") not in (None, 1):
        raise OpenAIError("Invalid 'n': this server gives one choice.", param="n")
    reject_unsupported_sampling(values, model)
    reject_unsupported_effort(values.get("reasoning_effort"), "reasoning_effort", model)
    if values.get("max_tokens") is not None and takes_reasoning_effort(model):
        raise unsupported_parameter("max_tokens", instead="max_completion_tokens")
    limits = [optional_field(values, k, int) for k in ("max_completion_tokens", "max_tokens")]
    schema = parse_response_format(
        optional_field(values, "response_format", dict), "response_format", check_schema
    )
    return AnswerRequest(
        model,
        parse_prompt((text for role, text in messages if role == "user"), schema),
        values,
        estimate_tokens("".join(text for _, text in messages)),
        next((limit for limit in limits if limit is not None), None),
        stream=values.get("stream") is True,
    )


def chat_completion(request: AnswerRequest, output: ModelOutput) -> Json:
    """Build the completion object of an output."""
    key, other = _content_keys(output)
    message: Json = {"role": "assistant", "annotations": [], key: output.text, other: None}
    return {
        **_head(request, "chat.completion"),
        "choices": [_choice("message", message, output)],
        "usage": _usage(request, output),
    }


def stream_chat_completion(request: AnswerRequest, output: ModelOutput) -> Iterator[bytes]:
    """Yield the chunks of a streamed completion, the usage last if it was asked for."""
    options = optional_field(request.parameters, "stream_options", dict) or {}
    with_usage = options.get("include_usage") is True
    head = {
        **_head(request, "chat.completion.chunk"),
        **({"usage": None} if with_usage else {}),
    }
    key, _ = _content_keys(output)
    role: Json = {"role": "assistant", "content": None if output.refused else "", "refusal": None}
    deltas: list[Json] = [{key: piece} for piece in split_into_deltas(output.text or "")]
    for delta in (role, *deltas):
        yield encode_event({**head, "choices": [_choice("delta", delta)]})
    yield encode_event({**head, "choices": [_choice("delta", {}, output)]})
    if with_usage:
        yield encode_event({**head, "choices": [], "usage": _usage(request, output)})
    yield STREAM_END


def chat_error_event(_: int) -> bytes:
    """Build the event that ends a stream when the server fails in the middle of it."""
    error = {"message": "The server had an error.", "type": "server_error", "code": None}
    return encode_event({"error": {**error, "param": None}})


def _head(request: AnswerRequest, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": request.parameters["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_stub",
    }


def _content_keys(output: ModelOutput) -> tuple[str, str]:
    """Return the key of an output's text, then the one that stays empty."""
    return ("refusal", "content") if output.refused else ("content", "refusal")


def _choice(key: str, content: Mapping[str, Any], finished: ModelOutput | None = None) -> Json:
    """Build the only choice. finished: the output that it ends, None while it is being sent."""
    reason = None if finished is None else "stop" if finished.complete else "length"
    return {"index": 0, key: content, "logprobs": None, "finish_reason": reason}


def _usage(request: AnswerRequest, output: ModelOutput) -> Json:
    output_tokens = estimate_tokens(output.text or "")
    return {
        "prompt_tokens": request.input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": request.input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
