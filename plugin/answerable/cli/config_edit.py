"""Edits of a site's configuration that leave all its other lines as they are."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from ..serve.errors import SiteError

_PLUGIN = "answerable"


def add_plugin(text: str, name: str) -> str:
    """Add the plugin to a configuration, which stays as it is if it has it.

    MkDocs has its search plugin by default, but not beside a list of plugins, so a new list names
    both. name: of the file, in an error. SiteError for a list that is written on one line.
    """
    if name.endswith(".toml"):
        return _add_plugin_table(text, name)
    node = _find_value(text, name, "plugins")
    if node is None and (base := _find_value(text, name, "INHERIT")) is not None:
        raise SiteError(
            f"{name}: a list of plugins would replace that of {base.value}, which it inherits; add "
            f"{_PLUGIN} to the plugins of {base.value}"
        )
    if node is None:
        end = _find_line_end(text)
        return end.join([_end_line(text), "plugins:", "  - search", f"  - {_PLUGIN}", ""])
    if _PLUGIN in _list_keys(node):
        return text
    if getattr(node, "flow_style", True) or not node.value:
        raise SiteError(
            f"{name}: plugins: it is written on one line; add {_PLUGIN} to it, or write one plugin "
            "a line"
        )
    is_list = isinstance(node, yaml.SequenceNode)
    # After the last line of the last item, whatever comments follow it.
    last = node.value[-1] if is_list else node.value[-1][1]
    first = node.value[0] if is_list else node.value[0][0]
    line = last.end_mark.line + (last.end_mark.column > 0)
    column = first.start_mark.column
    key = f"{' ' * (column - 2)}- {_PLUGIN}" if is_list else f"{' ' * column}{_PLUGIN}: {{}}"
    return _insert_line(text, line, key)


def _add_plugin_table(text: str, name: str) -> str:
    """Add the plugin's table to a configuration of Zensical, below whatever it holds."""
    plugins = _read_toml_project(text, name).get("plugins", {})
    if not isinstance(plugins, dict):
        raise SiteError(
            f"{name}: plugins is a list, beside which no table of a plugin may stand; write "
            f"[project.plugins.NAME] for each, and [project.plugins.{_PLUGIN}]"
        )
    if _PLUGIN in plugins:
        return text
    end = _find_line_end(text)
    return end.join([_end_line(text), f"[project.plugins.{_PLUGIN}]", ""])


def _read_toml_project(text: str, name: str) -> Mapping[str, Any]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SiteError(f"{name} is not TOML ({error}); correct it") from None
    project = data.get("project", data)
    return project if isinstance(project, dict) else {}


def add_site_url(text: str, name: str, url: str) -> str:
    """Add the site's address below its name; a configuration that has one stays as it is."""
    if name.endswith(".toml"):
        has_url = has_option(text, name, "site_url")
        places = (r"^site_name[ \t]*=.*$", r"^\[project\][ \t]*$")
        name_line = next(filter(None, (re.search(place, text, re.M) for place in places)), None)
        line = text.count("\n", 0, name_line.end()) + 1 if name_line else 0
        return text if has_url else _insert_line(text, line, f'site_url = "{url}"')
    if _find_value(text, name, "site_url") is not None:
        return text
    site_name = _find_value(text, name, "site_name")
    line = 0 if site_name is None else site_name.end_mark.line + (site_name.end_mark.column > 0)
    return _insert_line(text, line, f"site_url: {url}")


def has_option(text: str, name: str, key: str) -> bool:
    """Tell whether a configuration sets a top-level option."""
    if name.endswith(".toml"):
        return key in _read_toml_project(text, name)
    return _find_value(text, name, key) is not None


def read_theme_name(text: str, name: str) -> str | None:
    """Read the name of the theme; None for MkDocs' own or one that is not named."""
    node = _find_value(text, name, "theme")
    if isinstance(node, yaml.MappingNode):
        node = next((value for key, value in node.value if key.value == "name"), None)
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def list_names(text: str, name: str, key: str) -> set[str]:
    """List the names in a list of plugins or extensions, some of which have options."""
    node = None if name.endswith(".toml") else _find_value(text, name, key)
    return _list_keys(node) if node else set()


def _find_value(text: str, name: str, key: str) -> yaml.Node | None:
    """Find the node of a top-level key; None without it. SiteError for a file that is no YAML."""
    try:
        # Only the structure matters, so that MkDocs' own tags are as good as any.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise SiteError(f"{name} is not YAML ({reason:.200}); correct it") from None
    if not isinstance(root, yaml.MappingNode):
        raise SiteError(f"{name} holds no options; write at least site_name: and a name")
    return next((value for own, value in root.value if own.value == key), None)


def _list_keys(node: yaml.Node) -> set[str]:
    """List the names of the plugins in a list or a mapping of them."""
    names: set[str] = set()
    for item in node.value if isinstance(node.value, list) else ():
        entry = item[0] if isinstance(item, tuple) else item
        if isinstance(entry, yaml.MappingNode) and entry.value:
            entry = entry.value[0][0]
        names.add(str(entry.value))
    return names


def _insert_line(text: str, line: int, added: str) -> str:
    """Insert a line, above the blank lines there, with the line end that the text has."""
    lines = _end_line(text).splitlines(keepends=True)
    while line and not lines[line - 1].strip():
        line -= 1
    return "".join([*lines[:line], added + _find_line_end(text), *lines[line:]])


def _end_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + _find_line_end(text)


def _find_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
