"""Edits of mkdocs.yml that leave all its other lines as they are."""

import yaml

from ..engine.errors import SiteError

_PLUGIN = "answerable"


def add_plugin(text: str, name: str) -> str:
    """Add the plugin to a configuration that lacks it.

    MkDocs has its search plugin by default, but not beside a list of plugins, so a new list names
    both. name: the file, for an error. SiteError for a list that is written on one line.
    """
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
    column = first.start_mark.column
    entry = f"{' ' * (column - 2)}- {_PLUGIN}" if is_list else f"{' ' * column}{_PLUGIN}: {{}}"
    return _insert_line(text, last, entry)


def add_site_url(text: str, name: str, url: str) -> str:
    """Add the site's address below its name; a configuration that has one stays as it is."""
    if _find_value(text, name, "site_url") is not None:
        return text
    return _insert_line(text, _find_value(text, name, "site_name"), f"site_url: {url}")


def _find_value(text: str, name: str, key: str) -> yaml.Node | None:
    """Find the node of a top-level key; None without it. SiteError if it is not YAML."""
    try:
        # Only the structure matters, so that MkDocs' own tags are as good as any.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise SiteError(f"{name} is not YAML ({reason:.200}); correct it") from None
    if not isinstance(root, yaml.MappingNode):
        raise SiteError(f"{name} holds no options; write at least site_name: and a name")
    return next((value for option, value in root.value if option.value == key), None)


def _list_keys(node: yaml.Node) -> set[str]:
    """List the names of the plugins in a list or a mapping of them."""
    names: set[str] = set()
    for item in node.value if isinstance(node.value, list) else ():
        entry = item[0] if isinstance(item, tuple) else item
        if isinstance(entry, yaml.MappingNode) and entry.value:
            entry = entry.value[0][0]
        names.add(str(entry.value))
    return names


def _insert_line(text: str, node: yaml.Node | None, added: str) -> str:
    """Insert a line below a node, above the blank lines there, or at the top for None."""
    lines = _end_line(text).splitlines(keepends=True)
    line = 0 if node is None else node.end_mark.line + (node.end_mark.column > 0)
    while line and not lines[line - 1].strip():
        line -= 1
    return "".join([*lines[:line], added + _find_line_end(text), *lines[line:]])


def _end_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + _find_line_end(text)


def _find_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
