"""What both answering endpoints have in common: the messages, the schema, the model's limits."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import fields, models, schemas
from .errors import ApiError
from .prompts import Prompt

ROLES = ("user", "assistant", "system", "developer")

# A token is about four bytes of English.
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for an answer. ``asked`` are its parameters, ``limit`` the most output tokens."""

    model: str
    prompt: Prompt
    asked: Mapping[str, Any]
    input_tokens: int
    limit: int | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What a model has written: a text, a refusal (``refused``) or, if ``text`` is None, nothing.

    ``complete`` is False where the output limit cut it short.
    """

    text: str | None
    refused: bool = False
    complete: bool = True


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def limited(output: Output, limit: int | None) -> Output:
    """The output as far as the limit lets it go."""
    if limit is None or output.text is None or tokens(output.text) <= limit:
        return output
    return Output(output.text[: limit * _BYTES_PER_TOKEN], output.refused, complete=False)


def messages(values: Iterable[object], where: str, parts: Collection[str]) -> list[tuple[str, str]]:
    """(role, text) of every message. parts: the types that a part of a content may have."""
    found = []
    for index, value in enumerate(values):
        path = f"{where}[{index}]"
        message = fields.typed(value, dict, path)
        role = fields.one_of(fields.required(message, "role", f"{path}."), ROLES, f"{path}.role")
        found.append((role, _content(message.get("content"), f"{path}.content", parts)))
    return found


def strict_schema(
    wrapper: Mapping[str, Any], where: str, param: str, code: str | None
) -> Mapping[str, Any] | None:
    """The schema of a response format if it is strict, else None; ApiError if it will not do.

    where: the path of the object that holds name and schema; param, code: of a schema's error.
    """
    name = fields.typed(fields.required(wrapper, "name", where), str, f"{where}name")
    if not schemas.is_name(name):
        raise ApiError(
            f"Invalid '{where}name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'.",
            param=f"{where}name",
            code="invalid_value",
        )
    schema = fields.typed(fields.required(wrapper, "schema", where), dict, f"{where}schema")
    if fields.optional(wrapper, "strict", bool) is not True:
        return None
    why = schemas.fault(schema)
    if why:
        raise ApiError(
            f"Invalid schema for response_format '{name}': {why}", param=param, code=code
        )
    checked: Mapping[str, Any] = schema
    return checked


def check_sampling(values: Mapping[str, Any], model: str) -> None:
    """Refuse a temperature or a top_p that the model does not take."""
    for name, highest in (("temperature", 2), ("top_p", 1)):
        value = fields.number(values, name, 0, highest)
        if value is not None and models.reasons(model):
            raise unsupported(name)


def unsupported(name: str, instead: str | None = None) -> ApiError:
    """The error of a parameter that a model does not take."""
    hint = f" Use '{instead}' instead." if instead else ""
    return ApiError(
        f"Unsupported parameter: '{name}' is not supported with this model.{hint}",
        param=name,
        code="unsupported_parameter",
    )


def _content(value: object, path: str, parts: Collection[str]) -> str:
    if isinstance(value, str):
        return value
    texts = []
    for index, item in enumerate(fields.typed(value, (str, list), path)):
        part = fields.typed(item, dict, f"{path}[{index}]")
        kind = fields.required(part, "type", f"{path}[{index}].")
        fields.one_of(kind, parts, f"{path}[{index}].type")
        name = "refusal" if kind == "refusal" else "text"
        text = fields.required(part, name, f"{path}[{index}].")
        texts.append(fields.typed(text, str, f"{path}[{index}].{name}"))
    return "\n".join(texts)
