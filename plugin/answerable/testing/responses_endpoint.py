"""Stub of /v1/responses: check a request as OpenAI does, build its response object or events."""

import time
import uuid
from collections.abc import Iterator, Mapping
from itertools import count
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
)
from .scripted_models import parse_prompt, takes_reasoning_effort
from .stub_messages import OpenAIError, encode_event, split_into_deltas

RESPONSES_PATH = "/v1/responses"

_PARAMETERS = frozenset(
    """background context_management conversation include input instructions max_output_tokens
    max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store
    stream stream_options temperature text tool_choice tools top_logprobs top_p truncation
    user""".split()
)
_PARTS = ("input_text", "output_text", "refusal")
_MIN_OUTPUT_TOKENS = 16

Json = dict[str, Any]


def parse_responses_request(
    values: Mapping[str, Any], model: str, check_schema: SchemaCheck
) -> AnswerRequest:
    """Check a request; OpenAIError where OpenAI refuses it. model: without a fault's suffix."""
    if "response_format" in values:
        raise OpenAIError(
            "Unsupported parameter: 'response_format'. In the Responses API, this parameter has "
            "moved to 'text.format'. Try again with the new parameter.",
            param="response_format",
            code="unsupported_parameter",
        )
    reject_unknown_fields(values, _PARAMETERS)
    messages = _parse_input(required_field(values, "input"))
    instructions = optional_field(values, "instructions", str)
    for name in ("store", "stream", "background"):
        optional_field(values, name, bool)
    reject_unsupported_sampling(values, model)
    reasoning = optional_field(values, "reasoning", dict) or {}
    reject_unsupported_effort(reasoning.get("effort"), "reasoning.effort", model)
    limit = optional_field(values, "max_output_tokens", int)
    if limit is not None and limit < _MIN_OUTPUT_TOKENS:
        raise OpenAIError(
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= "
            f"{_MIN_OUTPUT_TOKENS}, but got {limit} instead.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    text_format = (optional_field(values, "text", dict) or {}).get("format")
    if text_format is not None:
        require_type(text_format, dict, "text.format")
    schema = parse_response_format(text_format, "text.format", check_schema)
    prompt = parse_prompt((text for role, text in messages if role == "user"), schema)
    tokens = estimate_tokens("".join([instructions or "", *(text for _, text in messages)]))
    return AnswerRequest(model, prompt, values, tokens, limit, stream=values.get("stream") is True)


def response_object(request: AnswerRequest, output: ModelOutput) -> Json:
    """Build the finished response object of an output."""
    return _finish(_begin(request), _output_items(request, output), request, output)


def stream_response(request: AnswerRequest, output: ModelOutput) -> Iterator[bytes]:
    """Yield the events of a streamed response, in OpenAI's order."""
    numbers = count()
    response = _begin(request)
    items = _output_items(request, output)
    for kind in ("response.created", "response.in_progress"):
        yield _encode(kind, next(numbers), {"response": response})
    for index, item in enumerate(items):
        is_message = item["type"] == "message"
        begun = {**item, "status": "in_progress", "content": []} if is_message else item
        yield _encode(
            "response.output_item.added", next(numbers), {"output_index": index, "item": begun}
        )
        if is_message:
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            for kind, fields in _part_events(item["content"][0]):
                yield _encode(kind, next(numbers), {**place, **fields})
        yield _encode(
            "response.output_item.done", next(numbers), {"output_index": index, "item": item}
        )
    kind = "response.completed" if output.complete else "response.incomplete"
    yield _encode(kind, next(numbers), {"response": _finish(response, items, request, output)})


def responses_error_event(number: int) -> bytes:
    """Build the event that ends a stream when the server fails in the middle of it."""
    error = {"code": "server_error", "message": "The server had an error.", "param": None}
    return _encode("error", number, error)


def _encode(kind: str, number: int, fields: Mapping[str, Any]) -> bytes:
    """Encode an event: its type is its name too, and its sequence number is in its data."""
    return encode_event({"type": kind, "sequence_number": number, **fields}, kind)


def _parse_input(value: object) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [("user", value)]
    items = require_type(value, (str, list), "input")
    # A client hands back a model's reasoning; it is no message.
    messages = [
        item for item in items if not isinstance(item, dict) or item.get("type") != "reasoning"
    ]
    return parse_messages(messages, "input", _PARTS)


def _begin(request: AnswerRequest) -> Json:
    """Build the response object before anything is written."""
    values = request.parameters
    default_effort = "medium" if takes_reasoning_effort(request.model) else None
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": values.get("instructions"),
        "max_output_tokens": request.limit,
        "metadata": values.get("metadata") or {},
        "model": values["model"],
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": values.get("previous_response_id"),
        "reasoning": {"summary": None, **(values.get("reasoning") or {"effort": default_effort})},
        "service_tier": "default",
        "store": values.get("store") is not False,
        "temperature": 1.0 if values.get("temperature") is None else values["temperature"],
        "text": {"format": {"type": "text"}, **(values.get("text") or {})},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0 if values.get("top_p") is None else values["top_p"],
        "truncation": "disabled",
        "usage": None,
        "user": values.get("user"),
    }


def _output_items(request: AnswerRequest, output: ModelOutput) -> list[Json]:
    items: list[Json] = []
    if takes_reasoning_effort(request.model):
        items.append({"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": []})
    if output.text is None:
        return items
    part: Json = {"type": "output_text", "text": output.text, "annotations": [], "logprobs": []}
    if output.refused:
        part = {"type": "refusal", "refusal": output.text}
    status = "completed" if output.complete else "incomplete"
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "status": status}
    return [*items, {**message, "role": "assistant", "content": [part]}]


def _part_events(part: Json) -> Iterator[tuple[str, Json]]:
    """Yield the type and the fields of the events of a message's only part."""
    is_refusal = part["type"] == "refusal"
    key, name = ("refusal", "refusal") if is_refusal else ("text", "output_text")
    extra: Json = {} if is_refusal else {"logprobs": []}
    yield "response.content_part.added", {"part": {**part, key: ""}}
    for piece in split_into_deltas(part[key]):
        yield f"response.{name}.delta", {"delta": piece, **extra}
    yield f"response.{name}.done", {key: part[key], **extra}
    yield "response.content_part.done", {"part": part}


def _finish(response: Json, items: list[Json], request: AnswerRequest, output: ModelOutput) -> Json:
    output_tokens = estimate_tokens(output.text or "")
    return {
        **response,
        "status": "completed" if output.complete else "incomplete",
        "incomplete_details": None if output.complete else {"reason": "max_output_tokens"},
        "output": items,
        "usage": {
            "input_tokens": request.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": request.input_tokens + output_tokens,
        },
    }
