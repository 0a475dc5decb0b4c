"""Define a gold query's fields and rules, and build the JSON Schema that editors check a file by.

`python -m answerable.evaluate.gold_schema > docs/gold.schema.json` writes the schema anew. The
schema accepts all that the loader accepts; it cannot express what depends on the whole file, on the
site or on Python's regular expressions.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..serve.text import languages
from ..serve.types import MODES, REASONS

FieldKind = Literal["name", "text", "texts", "flag", "choice", "language"]

GOLD_SCHEMA_URL = "https://mkdocs-answerable.github.io/mkdocs-answerable/gold.schema.json"
QUERIES_KEY = "queries"

_TEXT_SCHEMA = {"type": "string", "pattern": r"\S"}


@dataclass(frozen=True, slots=True)
class GoldField:
    """Describe one field. ``choices``: every value that it may have, if its kind is ``choice``."""

    kind: FieldKind
    about: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldRule:
    """Restrict ``other`` where ``field`` has one of ``values``: absent or one of ``allowed``.

    ``is_needed``: it may not be absent either.
    """

    field: str
    values: tuple[str | bool, ...]
    other: str
    allowed: tuple[str, ...]
    why: str
    is_needed: bool = False


# An answer that breaks the contract fails whatever is expected, so no query can expect that.
EXPECTABLE_REASONS = tuple(reason for reason in REASONS if reason != "contract")

GOLD_FIELDS: Mapping[str, GoldField] = {
    "id": GoldField("name", "The query's name, once in the file, without a comma."),
    "query": GoldField(
        "text", "The question, as a reader would ask it. {{author}} stands for site_author."
    ),
    "language": GoldField(
        "language", "The tag of the language it is asked in, such as fr or pt-BR."
    ),
    "expectSources": GoldField("texts", "Every one of these sources is retrieved above its floor."),
    "forbidSources": GoldField("texts", "None of these sources is retrieved."),
    "topSource": GoldField("text", "The best of all candidates is this source."),
    "expectAnswerMode": GoldField("choice", "The answer has this mode.", MODES),
    "expectReason": GoldField("choice", "The refusal has this reason.", EXPECTABLE_REASONS),
    "forbidRecordCitations": GoldField("flag", "The answer cites no page."),
    "forbidAnswerPatterns": GoldField(
        "texts", "The answer matches none of these Python regular expressions, in any case."
    ),
    "requires": GoldField(
        "choice", "Only an answer model can be held to it: extractive answers skip it.", ("model",)
    ),
    "example": GoldField(
        "flag", "The ask box proposes it: the first three such queries are shown."
    ),
    "tags": GoldField("texts", "Groups that the report counts apart."),
    "note": GoldField("text", "What the query guards, for whoever sees it fail."),
}
REQUIRED_FIELDS = ("id", "query")

_NO_RETRIEVAL = "then nothing is retrieved"
FIELD_RULES = (
    GoldRule("expectReason", EXPECTABLE_REASONS, "expectAnswerMode", ("not-found",),
             "only a refusal has a reason"),
    GoldRule("expectReason", ("no-evidence",), "expectSources", (), _NO_RETRIEVAL),
    GoldRule("expectReason", ("no-evidence",), "topSource", (), _NO_RETRIEVAL),
    GoldRule("expectReason", ("no-evidence",), "requires", (), "then no model is asked"),
    GoldRule("forbidRecordCitations", (True,), "expectAnswerMode",
             ("related-material", "not-found"), "an answer of this mode cites records"),
    GoldRule("example", (True,), "expectAnswerMode", ("supported", "partial"),
             "what the ask box proposes has to be answered", is_needed=True),
)  # fmt: skip


def build_gold_schema() -> dict[str, Any]:
    """Build the JSON Schema of a gold file, in the dialect of 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": GOLD_SCHEMA_URL,
        "title": "Gold set of mkdocs-answerable",
        "description": "Questions with the behavior that each of them requires.",
        "type": ["object", "array"],
        "properties": {QUERIES_KEY: {"$ref": "#/$defs/queries"}},
        "required": [QUERIES_KEY],
        "additionalProperties": False,
        "items": {"$ref": "#/$defs/query"},
        "minItems": 1,
        "$defs": {
            "queries": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/query"}},
            "query": {
                "type": "object",
                "properties": {name: _field_schema(field) for name, field in GOLD_FIELDS.items()},
                "required": list(REQUIRED_FIELDS),
                "additionalProperties": False,
                "allOf": [_rule_schema(rule) for rule in FIELD_RULES],
            },
        },
    }


def format_gold_schema() -> str:
    """Format the schema as its file holds it."""
    return f"{json.dumps(build_gold_schema(), indent=2, ensure_ascii=False)}\n"


def _field_schema(field: GoldField) -> dict[str, Any]:
    schemas: dict[FieldKind, dict[str, Any]] = {
        "name": {"type": "string", "pattern": r"^[^,]*[^,\s][^,]*$"},
        "text": _TEXT_SCHEMA,
        "texts": {"type": "array", "items": _TEXT_SCHEMA},
        "flag": {"type": "boolean"},
        "choice": {"enum": list(field.choices)},
        "language": {"type": "string", "minLength": 2, "maxLength": languages.MAX_TAG_LENGTH},
    }
    return {"description": field.about, **schemas[field.kind]}


def _rule_schema(rule: GoldRule) -> dict[str, Any]:
    """Express a rule as an implication; an empty list counts as an absent field."""
    if rule.allowed:
        other: dict[str, Any] | bool = {"enum": list(rule.allowed)}
    else:
        other = {"maxItems": 0} if GOLD_FIELDS[rule.other].kind == "texts" else False
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
    sys.stdout.write(format_gold_schema())
