"""The plugin and the address come into mkdocs.yml, and everything else stays."""

import pytest
import yaml

from answerable.cli.config_edit import add_plugin, add_site_url
from answerable.engine.errors import SiteError

CONFIGURATIONS = (
    "site_name: X\n",
    "site_name: X",
    "site_name: X\r\ntheme: readthedocs\r\n",
    "site_name: X\nplugins:\n- search\n- tags:\n    tags_file: t.md\n\n# after\nnav: []\n",
    "site_name: X\nplugins:\n  - search # all of it\n",
    "plugins:\n    search: {}\n    tags:\n        tags_file: t.md\nsite_name: X\n",
    "site_name: X\nhook: !!python/name:material.x ''\nenv: !ENV [A, b]\nplugins:\n  - search\n",
)


class _Loader(yaml.SafeLoader):
    """Read any tag as its text."""


_Loader.add_multi_constructor("", lambda *parts: parts[1])


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_plugin_and_address_are_added_once_and_nothing_else_changes(text: str) -> None:
    edited = add_plugin(text, "mkdocs.yml")
    before, after = yaml.load(text, _Loader), yaml.load(edited, _Loader)
    plugins = after.pop("plugins")
    own = before.pop("plugins", ["search"])
    assert after == before
    assert plugins == ([*own, "answerable"] if isinstance(own, list) else {**own, "answerable": {}})
    assert add_plugin(edited, "mkdocs.yml") == edited
    assert [line for line in text.splitlines() if line not in edited.splitlines()] == []
    assert edited.count("\r") == (edited.count("\n") if "\r" in text else 0)
    edited = add_site_url(text, "mkdocs.yml", "https://x.example/docs/")
    before = yaml.load(text, _Loader)
    assert yaml.load(edited, _Loader) == {**before, "site_url": "https://x.example/docs/"}
    assert add_site_url(edited, "mkdocs.yml", "https://other.example/") == edited


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("plugins: [search]\n", "written on one line; add answerable to it"),
        ("plugins: []\n", "written on one line"),
        ("site_name: 'x\n", "is not YAML"),
        ("- a\n", "holds no options"),
        ("", "holds no options"),
    ],
)
def test_file_that_cannot_be_edited_says_why(text: str, reason: str) -> None:
    with pytest.raises(SiteError, match=reason):
        add_plugin(text, "mkdocs.yml")
