"""Helpers that check and parse a stub request's fields as OpenAI does; cut a reply to its limit."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .scripted_models import ParsedPrompt, refuses_reasoning_effort, takes_reasoning_effort
from .stub_messages import OpenAIError

# Tells why strict mode refuses a schema, None if it takes it.
SchemaCheck = Callable[[object], str | None]

MESSAGE_ROLES = ("user", "assistant", "system", "developer")

# A token is about four bytes of English.
_BYTES_PER_TOKEN = 4
_FORMATS = ("text", "json_object", "json_schema")
_FORMAT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_TYPE_NAMES: Mapping[type, str] = {
    str: "a string", bool: "a boolean", int: "an integer", float: "a decimal", list: "an array",
    dict: "an object", type(None): "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A checked request for an answer. limit: the most output tokens, None for no limit."""

    model: str
    prompt: ParsedPrompt
    parameters: Mapping[str, Any]
    input_tokens: int
    limit: int | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The text of a model, a refusal (``refused``) or, if ``text`` is None, nothing.

    ``complete`` is False where the output limit cut it short.
    """

    text: str | None
    refused: bool = False
    complete: bool = True


def parse_json_object(data: bytes) -> dict[str, Any]:
    """Parse a request's JSON object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise OpenAIError(
            "We could not parse the JSON body of your request. (HINT: This likely means you "
            "aren't using your HTTP library correctly.)"
        ) from None
    if not isinstance(value, dict):
        raise OpenAIError("Invalid type for request body: expected an object.", code="invalid_type")
    return value


def reject_unknown_fields(values: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse a parameter that the endpoint does not have."""
    for name in values:
        if name not in names:
            raise OpenAIError(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")


def required_field(values: Mapping[str, Any], name: str, where: str = "") -> Any:
    """Return a parameter that must be present. where: the path of the object it is in."""
    if values.get(name) is None:
        raise OpenAIError(
            f"Missing required parameter: '{where}{name}'.",
            param=f"{where}{name}",
            code="missing_required_parameter",
        )
    return values[name]


def require_type(value: object, kinds: type | tuple[type, ...], name: str) -> Any:
    """Return a value of one of the types; a boolean is no number."""
    types = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        expected = " or ".join(_TYPE_NAMES[kind] for kind in types)
        raise OpenAIError(
            f"Invalid type for '{name}': expected {expected}, but got "
            f"{_TYPE_NAMES.get(type(value), 'something else')} instead.",
            param=name,
            code="invalid_type",
        )
    return value


def optional_field(values: Mapping[str, Any], name: str, kinds: type | tuple[type, ...]) -> Any:
    """Return a parameter of one of the types, or None if it is absent or null."""
    return None if values.get(name) is None else require_type(values[name], kinds, name)


def number_field(
    values: Mapping[str, Any], name: str, lowest: float, highest: float
) -> float | None:
    """Return a number between two bounds, or None if it is absent or null."""
    value: float | None = optional_field(values, name, (int, float))
    if value is None or lowest <= value <= highest:
        return value
    low = value < lowest
    bound = f"{'>=' if low else '<='} {lowest if low else highest:g}"
    raise OpenAIError(
        f"Invalid '{name}': {'decimal' if isinstance(value, float) else 'integer'} "
        f"{'below minimum' if low else 'above maximum'} value. Expected a value {bound}, but got "
        f"{value:g} instead.",
        param=name,
        code=f"decimal_{'below_min' if low else 'above_max'}_value",
    )


def require_choice(value: object, allowed: Collection[str], name: str) -> str:
    """Return a value that is one of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    listed = ", ".join(f"'{word}'" for word in allowed)
    raise OpenAIError(
        f"Invalid value: '{value}'. Supported values are: {listed}.",
        param=name,
        code="invalid_value",
    )


def parse_messages(
    values: Iterable[object], where: str, parts: Collection[str]
) -> list[tuple[str, str]]:
    """Read the (role, text) of every message. parts: the types that a part of one may have."""
    messages = []
    for index, value in enumerate(values):
        path = f"{where}[{index}]"
        message = require_type(value, dict, path)
        role = required_field(message, "role", f"{path}.")
        text = _message_text(message.get("content"), f"{path}.content", parts)
        messages.append((require_choice(role, MESSAGE_ROLES, f"{path}.role"), text))
    return messages


def parse_response_format(
    value: Mapping[str, Any] | None, where: str, check_schema: SchemaCheck
) -> Mapping[str, Any] | None:
    """Return the schema of a response format that is strict, else None.

    where: ``text.format`` of the Responses API, whose schema is in the format itself, or
    ``response_format`` of chat completions, whose schema is one level below.
    """
    if value is None:
        return None
    kind = required_field(value, "type", f"{where}.")
    if require_choice(kind, _FORMATS, f"{where}.type") != "json_schema":
        return None
    param = f"{where}.schema"
    code: str | None = "invalid_json_schema"
    if where == "response_format":
        value = require_type(
            required_field(value, "json_schema", f"{where}."), dict, f"{where}.json_schema"
        )
        param, code, where = where, None, f"{where}.json_schema"
    name = require_type(required_field(value, "name", f"{where}."), str, f"{where}.name")
    if not _FORMAT_NAME.fullmatch(name):
        raise OpenAIError(
            f"Invalid '{where}.name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'.",
            param=f"{where}.name",
            code="invalid_value",
        )
    schema: Mapping[str, Any] = require_type(
        required_field(value, "schema", f"{where}."), dict, f"{where}.schema"
    )
    if optional_field(value, "strict", bool) is not True:
        return None
    fault = check_schema(schema)
    if fault:
        raise OpenAIError(
            f"Invalid schema for response_format '{name}': {fault}", param=param, code=code
        )
    return schema


def reject_unsupported_sampling(values: Mapping[str, Any], model: str) -> None:
    """Refuse a temperature or a top_p that the model does not take."""
    for name, highest in (("temperature", 2), ("top_p", 1)):
        value = number_field(values, name, 0, highest)
        if value is not None and takes_reasoning_effort(model):
            raise unsupported_parameter(name)


def reject_unsupported_effort(effort: object, name: str, model: str) -> None:
    """Refuse a reasoning effort that does not exist or that the model does not take."""
    if effort is not None:
        require_choice(effort, _EFFORTS, name)
        if refuses_reasoning_effort(model):
            raise unsupported_parameter(name)


def unsupported_parameter(name: str, instead: str | None = None) -> OpenAIError:
    """Make the error of a parameter that a model does not take."""
    hint = f" Use '{instead}' instead." if instead else ""
    return OpenAIError(
        f"Unsupported parameter: '{name}' is not supported with this model.{hint}",
        param=name,
        code="unsupported_parameter",
    )


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from its bytes."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def truncate_output(output: ModelOutput, limit: int | None) -> ModelOutput:
    """Cut an output at its limit of tokens."""
    if limit is None or output.text is None or estimate_tokens(output.text) <= limit:
        return output
    return ModelOutput(output.text[: limit * _BYTES_PER_TOKEN], output.refused, complete=False)


def _message_text(value: object, path: str, parts: Collection[str]) -> str:
    if isinstance(value, str):
        return value
    texts = []
    for index, item in enumerate(require_type(value, (str, list), path)):
        part = require_type(item, dict, f"{path}[{index}]")
        kind = required_field(part, "type", f"{path}[{index}].")
        require_choice(kind, parts, f"{path}[{index}].type")
        name = "refusal" if kind == "refusal" else "text"
        text = required_field(part, name, f"{path}[{index}].")
        texts.append(require_type(text, str, f"{path}[{index}].{name}"))
    return "\n".join(texts)
