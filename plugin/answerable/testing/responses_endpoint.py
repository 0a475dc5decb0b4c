"""The endpoint /v1/responses."""

import time
import uuid
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

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
from .stub_messages import OpenAIError, encode_named_event, split_into_deltas

RESPONSES_PATH = "/v1/responses"

_PARAMETERS = frozenset(
    """background context_management conversation include input instructions max_output_tokens
    max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store
    stream stream_options temperature text tool_choice tools top_logprobs top_p truncation
    user""".split()
)
_PARTS = ("input_text", "output_text", "refusal")
_FORMATS = ("text", "json_object", "json_schema")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_MIN_OUTPUT_TOKENS = 16

Json = dict[str, Any]


def parse_responses_request(values: Mapping[str, Any], model: str) -> AnswerRequest:
    """The request, checked; ApiError where OpenAI refuses it. model: without a fault's suffix."""
    if "response_format" in values:
        raise OpenAIError(
            "Unsupported parameter: 'response_format'. In the Responses API, this parameter has "
            "moved to 'text.format'. Try again with the new parameter.",
            param="response_format",
            code="unsupported_parameter",
        )
    reject_unknown_fields(values, _PARAMETERS)
    said = _messages(required_field(values, "input"))
    instructions = optional_field(values, "instructions", str)
    for name in ("store", "stream", "background"):
        optional_field(values, name, bool)
    reject_unsupported_sampling(values, model)
    effort = optional_field(values, "reasoning", dict)
    if effort and effort.get("effort") is not None:
        require_choice(effort["effort"], _EFFORTS, "reasoning.effort")
        if refuses_reasoning_effort(model):
            raise unsupported_parameter("reasoning.effort")
    limit = optional_field(values, "max_output_tokens", int)
    if limit is not None and limit < _MIN_OUTPUT_TOKENS:
        raise OpenAIError(
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= "
            f"{_MIN_OUTPUT_TOKENS}, but got {limit} instead.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    prompt = parse_prompt((text for role, text in said if role == "user"), _schema(values))
    everything = "".join([instructions or "", *(text for _, text in said)])
    return AnswerRequest(
        model,
        prompt,
        values,
        estimate_tokens(everything),
        limit,
        stream=values.get("stream") is True,
    )


def response_object(ask: AnswerRequest, output: ModelOutput) -> Json:
    """The response object of an output."""
    return _finished(_response(ask), _items(ask, output), ask, output)


def stream_response(ask: AnswerRequest, output: ModelOutput) -> Iterator[bytes]:
    """The events of a streamed response, in OpenAI's order."""
    numbers = count()
    response = _response(ask)
    items = _items(ask, output)
    for kind in ("response.created", "response.in_progress"):
        yield encode_named_event(kind, next(numbers), {"response": response})
    for index, item in enumerate(items):
        yield encode_named_event(
            "response.output_item.added", next(numbers),
            {"output_index": index, "item": _begun(item)},
        )  # fmt: skip
        if item["type"] == "message":
            for kind, more in _part_events(item["content"][0]):
                place = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield encode_named_event(kind, next(numbers), {**place, **more})
        yield encode_named_event(
            "response.output_item.done", next(numbers), {"output_index": index, "item": item}
        )
    last = "response.completed" if output.complete else "response.incomplete"
    finished = _finished(response, items, ask, output)
    yield encode_named_event(last, next(numbers), {"response": finished})


def responses_error_event(number: int) -> bytes:
    """The event that ends a stream when the server fails in the middle of it."""
    return encode_named_event(
        "error", number,
        {"code": "server_error", "message": "The server had an error.", "param": None},
    )  # fmt: skip


def _messages(value: object) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [("user", value)]
    items = require_type(value, (str, list), "input")
    given = [item for item in items if not isinstance(item, dict) or _is_message(item)]
    return parse_messages(given, "input", _PARTS)


def _is_message(item: Mapping[str, Any]) -> bool:
    """Whether an item is a message; what a client hands back of a model's reasoning is not."""
    return bool(item.get("type", "message") != "reasoning")


def _schema(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    text = optional_field(values, "text", dict) or {}
    wanted = text.get("format")
    if wanted is None:
        return None
    kind = required_field(require_type(wanted, dict, "text.format"), "type", "text.format.")
    if require_choice(kind, _FORMATS, "text.format.type") != "json_schema":
        return None
    return parse_strict_schema(wanted, "text.format.", "text.format.schema", "invalid_json_schema")


def _response(ask: AnswerRequest) -> Json:
    asked = ask.asked
    reasons = takes_reasoning_effort(ask.model)
    effort = asked.get("reasoning") or {"effort": "medium" if reasons else None}
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": ask.limit,
        "metadata": asked.get("metadata") or {},
        "model": asked["model"],
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": asked.get("previous_response_id"),
        "reasoning": {"summary": None, **effort},
        "service_tier": "default",
        "store": asked.get("store") is not False,
        "temperature": 1.0 if asked.get("temperature") is None else asked["temperature"],
        "text": {"format": {"type": "text"}, **(asked.get("text") or {})},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0 if asked.get("top_p") is None else asked["top_p"],
        "truncation": "disabled",
        "usage": None,
        "user": asked.get("user"),
    }


def _items(ask: AnswerRequest, output: ModelOutput) -> list[Json]:
    items: list[Json] = []
    if takes_reasoning_effort(ask.model):
        items.append({"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": []})
    if output.text is None:
        return items
    part: Json = {"type": "output_text", "text": output.text, "annotations": [], "logprobs": []}
    if output.refused:
        part = {"type": "refusal", "refusal": output.text}
    status = "completed" if output.complete else "incomplete"
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "status": status}
    return [*items, {**message, "role": "assistant", "content": [part]}]


def _begun(item: Json) -> Json:
    """An item as it is before anything has been written."""
    if item["type"] == "message":
        return {**item, "status": "in_progress", "content": []}
    return item


def _part_events(part: Json) -> Iterator[tuple[str, Json]]:
    refused = part["type"] == "refusal"
    key, name = ("refusal", "refusal") if refused else ("text", "output_text")
    extra: Json = {} if refused else {"logprobs": []}
    yield "response.content_part.added", {"part": {**part, key: ""}}
    for piece in split_into_deltas(part[key]):
        yield f"response.{name}.delta", {"delta": piece, **extra}
    yield f"response.{name}.done", {key: part[key], **extra}
    yield "response.content_part.done", {"part": part}


def _finished(response: Json, items: list[Json], ask: AnswerRequest, output: ModelOutput) -> Json:
    written = estimate_tokens(output.text or "")
    return {
        **response,
        "status": "completed" if output.complete else "incomplete",
        "incomplete_details": None if output.complete else {"reason": "max_output_tokens"},
        "output": items,
        "usage": {
            "input_tokens": ask.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": ask.input_tokens + written,
        },
    }
