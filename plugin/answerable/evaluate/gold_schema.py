"""The JSON Schema of a gold file, by which an editor checks and completes one.

`python -m answerable.evaluate.gold_schema > docs/gold.schema.json` writes it anew. All that the
loader takes, it takes; what needs the whole file, the site or Python is left to the loader.
"""

import json
import sys
from typing import Any

from ..serve import languages
from .gold_fields import FIELDS, REQUIRED, RULES, Field, Rule
from .gold_file import KEY

URL = "https://mkdocs-answerable.github.io/mkdocs-answerable/gold.schema.json"

_TEXT = {"type": "string", "pattern": r"\S"}


def schema() -> dict[str, Any]:
    """The schema, in the dialect of 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": URL,
        "title": "Gold set of mkdocs-answerable",
        "description": "Questions with the behaviour that each of them requires.",
        "type": ["object", "array"],
        "properties": {KEY: {"$ref": "#/$defs/queries"}},
        "required": [KEY],
        "additionalProperties": False,
        "items": {"$ref": "#/$defs/query"},
        "minItems": 1,
        "$defs": {
            "queries": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/query"}},
            "query": {
                "type": "object",
                "properties": {name: _property(field) for name, field in FIELDS.items()},
                "required": list(REQUIRED),
                "additionalProperties": False,
                "allOf": [_implication(rule) for rule in RULES],
            },
        },
    }


def text() -> str:
    """The schema as its file holds it."""
    return f"{json.dumps(schema(), indent=2, ensure_ascii=False)}\n"


def _property(field: Field) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "name": {"type": "string", "pattern": r"^[^,]*[^,\s][^,]*$"},
        "text": _TEXT,
        "texts": {"type": "array", "items": _TEXT},
        "flag": {"type": "boolean"},
        "choice": {"enum": list(field.choices)},
        "language": {"type": "string", "minLength": 2, "maxLength": languages.MAX},
    }
    return {"description": field.about, **kinds[field.kind]}


def _implication(rule: Rule) -> dict[str, Any]:
    """A rule as the schema says it; a list that is empty counts as absent."""
    if rule.allowed:
        other: dict[str, Any] | bool = {"enum": list(rule.allowed)}
    else:
        other = {"maxItems": 0} if FIELDS[rule.other].kind == "texts" else False
    return {
        "if": {
            "properties": {rule.field: {"enum": list(rule.values)}},
            "required": [rule.field],
        },
        "then": {
            "properties": {rule.other: other},
            **({"required": [rule.other]} if rule.is_needed else {}),
        },
    }


if __name__ == "__main__":
    sys.stdout.write(text())
