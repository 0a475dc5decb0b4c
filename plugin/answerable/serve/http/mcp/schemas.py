"""Build the JSON Schemas of what the MCP tools return, that of an answer from the wire's own."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_WIRE_SCHEMAS = Path(__file__).parent.with_name("openapi.json")
_SCHEMA_PREFIX = "#/components/schemas/"
# A keyword of OpenAPI that JSON Schema does not know.
_OPENAPI_KEYWORD = "discriminator"

_URL_SCHEMA = {"type": "string", "description": "Where the words are published: cite it."}
_PASSAGE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Of the section, for the tool read."},
        "url": _URL_SCHEMA,
        "title": {"type": "string"},
        "text": {"type": "string"},
    },
    "required": ["id", "url", "title", "text"],
}


@cache
def build_answer_schema() -> Mapping[str, Any]:
    """Build the schema of an answer with all that it refers to; a refusal is one too."""
    schemas = json.loads(_WIRE_SCHEMAS.read_bytes())["components"]["schemas"]
    answer: dict[str, Any] = _localize_references(schemas["Answer"])
    names: list[str] = []
    pending = _list_references(answer)
    while pending:
        name = pending.pop()
        if name not in names:
            names.append(name)
            pending += _list_references(_localize_references(schemas[name]))
    return answer | {"$defs": {name: _localize_references(schemas[name]) for name in sorted(names)}}


def build_search_schema() -> Mapping[str, Any]:
    """Build the schema of found passages."""
    return {
        "type": "object",
        "properties": {"passages": {"type": "array", "items": _PASSAGE_SCHEMA}},
        "required": ["passages"],
    }


def build_page_schema() -> Mapping[str, Any]:
    """Build the schema of a page's text."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "url": _URL_SCHEMA,
            "title": {"type": "string"},
            "sections": {"type": "array", "items": _PASSAGE_SCHEMA},
            "is_cut": {"type": "boolean", "description": "The section ends early: too long."},
            "left_out_count": {"type": "integer", "minimum": 0},
            "left_out": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of sections that there is no room for, or the first of them.",
            },
        },
        "required": ["id", "url", "title", "sections", "is_cut", "left_out_count", "left_out"],
    }


def _localize_references(schema: Any) -> Any:
    """Let a schema refer to ``$defs`` of its own in place of OpenAPI's components."""
    if isinstance(schema, dict):
        return {
            key: value.replace(_SCHEMA_PREFIX, "#/$defs/")
            if key == "$ref"
            else _localize_references(value)
            for key, value in schema.items()
            if key != _OPENAPI_KEYWORD
        }
    return list(map(_localize_references, schema)) if isinstance(schema, list) else schema


def _list_references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for value in schema.values() for name in _list_references(value)]
    if isinstance(schema, list):
        return [name for value in schema for name in _list_references(value)]
    return []
