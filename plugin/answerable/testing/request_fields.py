"""A request's fields, checked as OpenAI checks them."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from .stub_messages import OpenAIError

_TYPE_NAMES: Mapping[type, str] = {
    str: "a string", bool: "a boolean", int: "an integer", float: "a decimal", list: "an array",
    dict: "an object", type(None): "null",
}  # fmt: skip


def parse_json_object(data: bytes) -> dict[str, Any]:
    """A request's JSON object; ApiError if it is anything else."""
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
    """A parameter that must be there. where: the path of the object it is in."""
    if values.get(name) is None:
        raise OpenAIError(
            f"Missing required parameter: '{where}{name}'.",
            param=f"{where}{name}",
            code="missing_required_parameter",
        )
    return values[name]


def require_type(value: object, kinds: type | tuple[type, ...], name: str) -> Any:
    """A value of one of the types; a boolean is no number."""
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        expected = " or ".join(_TYPE_NAMES[kind] for kind in wanted)
        raise OpenAIError(
            f"Invalid type for '{name}': expected {expected}, but got "
            f"{_TYPE_NAMES.get(type(value), 'something else')} instead.",
            param=name,
            code="invalid_type",
        )
    return value


def optional_field(values: Mapping[str, Any], name: str, kinds: type | tuple[type, ...]) -> Any:
    """A parameter of one of the types, or None if it is absent or null."""
    return None if values.get(name) is None else require_type(values[name], kinds, name)


def number_field(
    values: Mapping[str, Any], name: str, lowest: float, highest: float
) -> float | None:
    """A number between two bounds, or None if it is absent or null."""
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
    """One of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    listed = ", ".join(f"'{word}'" for word in allowed)
    raise OpenAIError(
        f"Invalid value: '{value}'. Supported values are: {listed}.",
        param=name,
        code="invalid_value",
    )
