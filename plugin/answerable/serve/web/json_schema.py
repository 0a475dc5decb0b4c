"""The parts that JSON Schemas are made of."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
# Root-relative or absolute, and nothing in it that could make a browser read another url.
URL: Schema = {"type": "string", "pattern": r"^(https?://|/(?!/))[^\s\\]*$"}


def ref(name: str) -> Schema:
    """A reference to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(**properties: Schema) -> Schema:
    """An object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def list_of(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


def nonempty(schema: Schema) -> Schema:
    return {**schema, "minLength": 1}
