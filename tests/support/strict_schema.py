"""Check JSON schemas as OpenAI's strict mode does, and make values conform to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# https://developers.openai.com/api/docs/guides/structured-outputs, section "Supported schemas".
MAX_ENUM_VALUES = 1_000
MAX_PROPERTIES = 5_000
MAX_DEPTH = 10
MAX_NAME_CHARACTERS = 120_000
# Above this many values, the strings of one enum may hold so many characters.
MANY_ENUM_VALUES = 250
MAX_ENUM_CHARACTERS = 15_000

_ROOT_ONLY = ("anyOf", "oneOf", "allOf", "enum", "not")
_REFUSED_KEYWORDS = frozenset(
    """allOf oneOf not dependentRequired dependentSchemas if then else patternProperties
    unevaluatedProperties propertyNames minProperties maxProperties unevaluatedItems contains
    minContains maxContains uniqueItems""".split()
)
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_EMPTY_VALUES: dict[str, Any] = {
    "string": "", "number": 0, "integer": 0, "boolean": False, "null": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A schema inside a schema: where it stands, and how many objects and arrays are around it."""

    schema: Mapping[str, Any]
    path: tuple[str, ...]
    depth: int


def find_schema_fault(root: object) -> str | None:
    """Tell why strict mode refuses a schema, else None."""
    if not isinstance(root, Mapping):
        return f"schema must be a JSON Schema of 'type: \"object\"', got {type(root).__name__!r}."
    if any(key in root for key in _ROOT_ONLY):
        return _fault_at(
            (),
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' "
            "at the top level.",
        )
    if root.get("type") != "object":
        got = root.get("type")
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'."
    nodes = []
    for node in _walk_schema(root, (), 1):
        why = _shape_fault(node, root)
        if why:
            return _fault_at(node.path, why)
        nodes.append(node)
    return _size_fault(nodes)


def conform_to_schema(value: object, schema: Mapping[str, Any]) -> Any:
    """Force a value into a schema: a part that does not fit becomes the least that does.

    schema: one that has no fault.
    """
    return _conform(value, schema, schema, 0)


def _fault_at(path: tuple[str, ...], why: str) -> str:
    return f"In context={path!r}, {why}"


def _walk_schema(schema: object, path: tuple[str, ...], depth: int) -> Iterator[SchemaNode]:
    if not isinstance(schema, Mapping):
        yield SchemaNode({"": schema}, path, depth)
        return
    yield SchemaNode(schema, path, depth)
    for name, sub in _mapping(schema.get("properties")).items():
        yield from _walk_schema(sub, (*path, "properties", str(name)), depth + 1)
    if "items" in schema:
        yield from _walk_schema(schema["items"], (*path, "items"), depth + 1)
    options = schema.get("anyOf")
    for index, sub in enumerate(options if isinstance(options, list) else ()):
        yield from _walk_schema(sub, (*path, "anyOf", str(index)), depth)
    for key in ("$defs", "definitions"):
        for name, sub in _mapping(schema.get(key)).items():
            yield from _walk_schema(sub, (*path, key, str(name)), 1)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shape_fault(node: SchemaNode, root: Mapping[str, Any]) -> str | None:
    schema = node.schema
    if "" in schema:
        return f"{schema['']!r} is not of type 'object', 'boolean'."
    refused = sorted(_REFUSED_KEYWORDS & set(schema))
    if refused:
        return f"'{refused[0]}' is not permitted."
    if node.depth > MAX_DEPTH:
        return f"schema exceeds the maximum of {MAX_DEPTH} levels of nesting."
    if "$ref" in schema:
        target = _resolve(schema["$ref"], root)
        return (
            None
            if target is not None
            else f"reference can only point to definitions defined "
            f"at the top level of the schema, got {schema['$ref']!r}."
        )
    if "anyOf" in schema:
        return (
            None
            if isinstance(schema["anyOf"], list) and schema["anyOf"]
            else ("'anyOf' must be a non-empty array.")
        )
    return _enum_fault(schema) or _type_fault(schema)


def _enum_fault(schema: Mapping[str, Any]) -> str | None:
    if "enum" not in schema:
        return None
    values = schema["enum"]
    if not isinstance(values, list) or not values:
        return "[] is too short - 'enum' must have at least one value."
    size = sum(len(value) for value in values if isinstance(value, str))
    if len(values) > MANY_ENUM_VALUES and size > MAX_ENUM_CHARACTERS:
        return (
            f"enum with more than {MANY_ENUM_VALUES} values exceeds the maximum total string "
            f"length of {MAX_ENUM_CHARACTERS}."
        )
    return None


def _type_fault(schema: Mapping[str, Any]) -> str | None:
    kinds = _schema_types(schema)
    if not kinds and not {"enum", "const"} & set(schema):
        return "schema must have a 'type' key."
    unknown = [kind for kind in kinds if kind not in _TYPES]
    if unknown:
        return f"{unknown[0]!r} is not valid under any of the given schemas."
    if "object" in kinds:
        return _object_fault(schema)
    if "array" in kinds and "items" not in schema:
        return "array schema missing items."
    return None


def _object_fault(schema: Mapping[str, Any]) -> str | None:
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    names = list(_mapping(schema.get("properties")))
    required = schema.get("required", [] if not names else None)
    missing = [name for name in names if not isinstance(required, list) or name not in required]
    if missing or not isinstance(required, list):
        what = f" Missing '{missing[0]}'." if missing else ""
        return (
            "'required' is required to be supplied and to be an array including every key in "
            f"properties.{what}"
        )
    extra = [name for name in required if name not in names]
    return f"Extra required key '{extra[0]}' supplied." if extra else None


def _size_fault(nodes: list[SchemaNode]) -> str | None:
    enums = [node.schema["enum"] for node in nodes if "enum" in node.schema]
    values = [value for enum in enums for value in enum]
    if len(values) > MAX_ENUM_VALUES:
        return (
            f"Expected at most {MAX_ENUM_VALUES} enum values in total within a single schema when "
            f"using structured outputs, but received {len(values)}. Consider reducing the number "
            "of enums, or use 'strict: false' to opt out of structured outputs."
        )
    names = [name for node in nodes for name in _mapping(node.schema.get("properties"))]
    if len(names) > MAX_PROPERTIES:
        return f"Expected at most {MAX_PROPERTIES} object properties, but received {len(names)}."
    characters = sum(len(text) for text in [*names, *values] if isinstance(text, str))
    if characters > MAX_NAME_CHARACTERS:
        return f"Expected at most {MAX_NAME_CHARACTERS} characters, but received {characters}."
    return None


def _schema_types(schema: Mapping[str, Any]) -> list[Any]:
    kind = schema.get("type")
    return kind if isinstance(kind, list) else [] if kind is None else [kind]


def _resolve(reference: object, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: object = root
    for step in reference.lstrip("#").strip("/").split("/") if reference != "#" else ():
        target = _mapping(target).get(step)
    return target if isinstance(target, Mapping) else None


def _conform(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    if "$ref" in schema:
        # A schema that only ever refers to itself has no finite value.
        target = _resolve(schema["$ref"], root)
        return _conform(value, target, root, depth + 1) if target and depth < 50 else None
    if "anyOf" in schema:
        fitting = (sub for sub in schema["anyOf"] if _fits(value, sub))
        return _conform(value, next(fitting, schema["anyOf"][-1]), root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return value if value in schema["enum"] else schema["enum"][0]
    kind = next((k for k in _schema_types(schema) if _is(value, k)), _schema_types(schema)[-1])
    if kind == "object":
        members = _mapping(value)
        properties = _mapping(schema.get("properties"))
        return {k: _conform(members.get(k), sub, root, depth + 1) for k, sub in properties.items()}
    if kind == "array":
        items: list[object] = list(value) if isinstance(value, list) else []
        items += [None] * (schema.get("minItems", 0) - len(items))
        return [_conform(item, schema["items"], root, depth + 1) for item in items]
    return value if _is(value, kind) else _EMPTY_VALUES[kind]


def _fits(value: object, schema: Mapping[str, Any]) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    return any(_is(value, kind) for kind in _schema_types(schema))


def _is(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
        case _:
            return value is None
