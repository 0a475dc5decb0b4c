"""The JSON schema that editors use is that of the options as the plugin reads them."""

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml
from mkdocs.config import base
from mkdocs.config import config_options as c

from answerable.indexing.output.files import write_file
from answerable.mkdocs.options import (
    AnswerableConfig,
    ProviderOption,
    list_option_names,
)
from answerable.mkdocs.plugin import AnswerablePlugin
from support import manual, sites

FILE = sites.ROOT / "docs" / "assets" / "mkdocs.schema.json"
URL = "https://mkdocs-answerable.github.io/mkdocs-answerable/assets/mkdocs.schema.json"
MANUAL = "https://mkdocs-answerable.github.io/mkdocs-answerable/configure/#all-options"

_RANGE = re.compile(r", ([\d.]+) to ([\d.]+)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean"}


def make_schema() -> dict[str, Any]:
    """Make the schema of a mkdocs.yml or zensical.toml, of which it knows the plugin's options."""
    options = {
        **_describe_group(AnswerableConfig),
        "description": "Options of mkdocs-answerable",
        "$comment": MANUAL,
    }
    options["properties"]["enabled"] = {
        "type": "boolean",
        "default": True,
        "description": "whether MkDocs runs the plugin",
    }
    reference = {"anyOf": [{"$ref": "#/definitions/answerable"}, {"type": "null"}]}
    entry = {"type": "object", "properties": {"answerable": reference}}
    items = {"anyOf": [{"type": "string"}, entry]}
    plugins = {"anyOf": [entry, {"type": "array", "items": items}]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": URL,
        "title": "mkdocs.yml or zensical.toml with mkdocs-answerable",
        "type": "object",
        "properties": {
            "plugins": plugins,
            "project": {"type": "object", "properties": {"plugins": plugins}},
        },
        "definitions": {"answerable": options},
    }


def format_schema() -> bytes:
    """Format the schema as its file holds it."""
    return (json.dumps(make_schema(), indent=2, ensure_ascii=False) + "\n").encode()


def _describe_group(options: type[base.Config], prefix: str = "") -> dict[str, Any]:
    """Describe a class of options. prefix: of their names in the manual."""
    properties = {
        name: _describe_option(option, f"{prefix}{name}")
        for name, option in vars(options).items()
        if isinstance(option, base.BaseConfigOption)
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _describe_option(option: base.BaseConfigOption[Any], name: str) -> dict[str, Any]:
    if isinstance(option, c.SubConfig):
        return _describe_group(option.config_class, f"{name}.")
    kind, effect = _documented().get(name, ("", ""))
    schema = _describe_value(option)
    if span := _RANGE.search(kind):
        numbers = schema.get("additionalProperties", schema)
        schema_range = {"minimum": float(span[1]), "maximum": float(span[2])}
        if numbers.get("type") in ("integer", "number"):
            numbers |= {key: _shorten(value) for key, value in schema_range.items()}
    if effect:
        schema["description"] = effect
    if option.default not in (None, {}, []):
        schema["default"] = option.default
    return schema


def _describe_value(option: base.BaseConfigOption[Any]) -> dict[str, Any]:
    """Describe the type of an option's value."""
    match option:
        case c.Optional():
            return _describe_value(option.option)
        case ProviderOption():
            return {"type": "string", "examples": list(option.registry.builtin)}
        case c.Choice():
            return {"enum": list(option.choices)}
        case c.ListOfItems():
            return {"type": "array", "items": _describe_value(option.option_type)}
        case c.DictOfItems() if isinstance(option.option_type, c.SubConfig):
            inner = _describe_group(option.option_type.config_class)
            return {"type": "object", "additionalProperties": inner}
        case c.DictOfItems():
            return {"type": "object", "additionalProperties": _describe_value(option.option_type)}
        case c.Type():
            kinds = option._type if isinstance(option._type, tuple) else (option._type,)
            # A whole number is a number.
            names = [_TYPES[kind] for kind in kinds if kind is not int or float not in kinds]
            return {"type": names[0] if len(names) == 1 else names}
        case c.File() | c.Dir() | c.URL():
            return {"type": "string"}
        case _:
            raise TypeError(f"{type(option).__name__} has no schema")


def _documented() -> dict[str, tuple[str, str]]:
    """The type and the effect of each option in the manual's table."""
    rows = manual.rows("configure.md", "option")
    return {
        row[0].strip("`"): (_LINK.sub(r"\1", row[1]), _LINK.sub(r"\1", row[3]))
        for row in rows
        if len(row) == 4
    }


def _shorten(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def list_properties(group: dict[str, Any], prefix: str = "") -> list[str]:
    """The options of a schema, those of groups by their whole names."""
    names: list[str] = []
    for name, schema in group["properties"].items():
        inner = "properties" in schema
        names += list_properties(schema, f"{prefix}{name}.") if inner else [f"{prefix}{name}"]
    return names


def options_schema() -> dict[str, Any]:
    schema: dict[str, Any] = make_schema()["definitions"]["answerable"]
    return schema


def test_published_schema_is_that_of_the_options() -> None:
    # Run `make tables` to write it anew.
    assert FILE.read_bytes() == format_schema()
    assert set(list_properties(options_schema())) == {
        "enabled",
        *list_option_names(AnswerableConfig),
    }


def test_every_option_of_the_schema_is_described() -> None:
    def undescribed(group: dict[str, Any]) -> list[str]:
        inner = [each for each in group["properties"].values() if "properties" in each]
        plain = {name: each for name, each in group["properties"].items() if each not in inner}
        missing = [name for name, each in plain.items() if not each.get("description")]
        return [*missing, *(name for each in inner for name in undescribed(each))]

    assert undescribed(options_schema()) == []


@pytest.mark.parametrize(
    ("options", "is_valid"),
    [
        ({}, True),
        (None, True),
        ({"notebook": "notebook", "widget": {"placement": "header", "authors": False}}, True),
        ({"retrieval": {"floor": 0.4, "weights": {"news/*": 0.5}}}, True),
        ({"embedding": {"provider": "of-a-package"}}, True),
        ({"gate": True}, True),
        ({"notebok": "notebook"}, False),
        ({"widget": {"placement": "top"}}, False),
        ({"passages": {"words": "many"}}, False),
        ({"passages": {"words": 20}}, False),
        ({"retrieval": {"weights": {"news/*": 11}}}, False),
    ],
)
def test_schema_admits_what_the_plugin_admits(options: Any, is_valid: bool) -> None:
    validator = jsonschema.Draft7Validator(make_schema())
    for plugins in ([{"answerable": options}], {"search": {}, "answerable": options}):
        assert validator.is_valid({"site_name": "x", "plugins": plugins}) is is_valid
        # As zensical.toml has it.
        assert validator.is_valid({"project": {"plugins": plugins}}) is is_valid


def test_schema_admits_the_configurations_of_the_repository() -> None:
    validator = jsonschema.Draft7Validator(make_schema())
    for path in (sites.ROOT / "mkdocs.yml", sites.ROOT / "tests" / "archive" / "mkdocs.yml"):
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert AnswerablePlugin().load_config({}) == ([], [])
    assert manual.PAGES


if __name__ == "__main__":
    write_file(FILE, format_schema())
