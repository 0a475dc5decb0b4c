"""What both answering endpoints have in common: the messages, the schema, the model's limits."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .model_table import takes_reasoning_effort
from .request_fields import (
    number_field,
    optional_field,
    require_choice,
    require_type,
    required_field,
)
from .scripted_models import ParsedPrompt
from .strict_schema import find_schema_fault, is_format_name
from .stub_messages import OpenAIError

MESSAGE_ROLES = ("user", "assistant", "system", "developer")

# A token is about four bytes of English.
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A request for an answer. ``asked`` are its parameters, ``limit`` the most output tokens."""

    model: str
    prompt: ParsedPrompt
    asked: Mapping[str, Any]
    input_tokens: int
    limit: int | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """What a model has written: a text, a refusal (``refused``) or, if ``text`` is None, nothing.

    ``complete`` is False where the output limit cut it short.
    """

    text: str | None
    refused: bool = False
    complete: bool = True


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def truncate_output(output: ModelOutput, limit: int | None) -> ModelOutput:
    """The output as far as the limit lets it go."""
    if limit is None or output.text is None or estimate_tokens(output.text) <= limit:
        return output
    return ModelOutput(output.text[: limit * _BYTES_PER_TOKEN], output.refused, complete=False)


def parse_messages(
    values: Iterable[object], where: str, parts: Collection[str]
) -> list[tuple[str, str]]:
    """(role, text) of every message. parts: the types that a part of a content may have."""
    found = []
    for index, value in enumerate(values):
        path = f"{where}[{index}]"
        message = require_type(value, dict, path)
        role = require_choice(
            required_field(message, "role", f"{path}."), MESSAGE_ROLES, f"{path}.role"
        )
        found.append((role, _message_text(message.get("content"), f"{path}.content", parts)))
    return found


def parse_strict_schema(
    wrapper: Mapping[str, Any], where: str, param: str, code: str | None
) -> Mapping[str, Any] | None:
    """The schema of a response format if it is strict, else None; ApiError if it will not do.

    where: the path of the object that holds name and schema; param, code: of a schema's error.
    """
    name = require_type(required_field(wrapper, "name", where), str, f"{where}name")
    if not is_format_name(name):
        raise OpenAIError(
            f"Invalid '{where}name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'.",
            param=f"{where}name",
            code="invalid_value",
        )
    schema = require_type(required_field(wrapper, "schema", where), dict, f"{where}schema")
    if optional_field(wrapper, "strict", bool) is not True:
        return None
    why = find_schema_fault(schema)
    if why:
        raise OpenAIError(
            f"Invalid schema for response_format '{name}': {why}", param=param, code=code
        )
    checked: Mapping[str, Any] = schema
    return checked


def reject_unsupported_sampling(values: Mapping[str, Any], model: str) -> None:
    """Refuse a temperature or a top_p that the model does not take."""
    for name, highest in (("temperature", 2), ("top_p", 1)):
        value = number_field(values, name, 0, highest)
        if value is not None and takes_reasoning_effort(model):
            raise unsupported_parameter(name)


def unsupported_parameter(name: str, instead: str | None = None) -> OpenAIError:
    """The error of a parameter that a model does not take."""
    hint = f" Use '{instead}' instead." if instead else ""
    return OpenAIError(
        f"Unsupported parameter: '{name}' is not supported with this model.{hint}",
        param=name,
        code="unsupported_parameter",
    )


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
