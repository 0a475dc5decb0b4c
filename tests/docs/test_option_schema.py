"""The JSON schema that editors use is that of the options as the plugin reads them."""

from typing import Any

import jsonschema
import pytest
import yaml

from answerable.mkdocs.options import AnswerableConfig, list_option_names
from answerable.mkdocs.plugin import AnswerablePlugin
from support import manual, option_schema, sites


def list_properties(group: dict[str, Any], prefix: str = "") -> list[str]:
    """The options of a schema, those of groups by their whole names."""
    names: list[str] = []
    for name, schema in group["properties"].items():
        inner = "properties" in schema
        names += list_properties(schema, f"{prefix}{name}.") if inner else [f"{prefix}{name}"]
    return names


def options_schema() -> dict[str, Any]:
    schema: dict[str, Any] = option_schema.make_schema()["definitions"]["answerable"]
    return schema


def test_published_schema_is_that_of_the_options() -> None:
    # Run `make tables` to write it anew.
    assert option_schema.FILE.read_bytes() == option_schema.format_schema()
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
        ({"evaluate": {"prices": {"m": {"input": 1, "output": 2.5}}}}, True),
        ({"notebok": "notebook"}, False),
        ({"widget": {"placement": "top"}}, False),
        ({"passages": {"words": "many"}}, False),
        ({"passages": {"words": 20}}, False),
        ({"retrieval": {"weights": {"news/*": 11}}}, False),
    ],
)
def test_schema_admits_what_the_plugin_admits(options: Any, is_valid: bool) -> None:
    validator = jsonschema.Draft7Validator(option_schema.make_schema())
    for plugins in ([{"answerable": options}], {"search": {}, "answerable": options}):
        assert validator.is_valid({"site_name": "x", "plugins": plugins}) is is_valid


def test_schema_admits_the_configurations_of_the_repository() -> None:
    validator = jsonschema.Draft7Validator(option_schema.make_schema())
    for path in (sites.ROOT / "mkdocs.yml", sites.ROOT / "tests" / "archive" / "mkdocs.yml"):
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert AnswerablePlugin().load_config({}) == ([], [])
    assert manual.PAGES
