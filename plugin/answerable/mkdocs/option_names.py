"""List the names of all options; add "did you mean" to MkDocs' warning of an unknown one."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from mkdocs.config import base
from mkdocs.config import config_options as c

_UNKNOWN = "Unrecognised configuration name: "
_SUB_OPTION = re.compile(r"Sub-option '([^']*)': ")


def list_option_names(options: type[base.Config], prefix: str = "") -> Iterator[str]:
    """List the options of a class with those of its groups, such as ``widget.endpoint``."""
    for name, option in vars(options).items():
        if isinstance(option, c.SubConfig) and isinstance(option.config_class, type):
            yield from list_option_names(option.config_class, f"{prefix}{name}.")
        elif isinstance(option, base.BaseConfigOption):
            yield f"{prefix}{name}"


def suggest_options(options: type[base.Config], name: str) -> list[str]:
    """Find the options that a misspelled or misplaced name may mean; none if none is near.

    name: with its groups, such as ``widget.endpiont``. Options of that name in other groups go
    before one that is spelled similarly.
    """
    names = list(list_option_names(options))
    last = name.rpartition(".")[2]
    elsewhere = [each for each in names if each.rpartition(".")[2] == last]
    near = elsewhere or get_close_matches(name, names, 1, 0.8)
    if not near:
        by_last = {each.rpartition(".")[2]: each for each in reversed(names)}
        near = [by_last[each] for each in get_close_matches(last, by_last, 1, 0.75)]
    return near


def add_suggestion(options: type[base.Config], key: str, warning: str) -> str:
    """Add to MkDocs' warning of an unknown option which one it may mean.

    key: the option of the plugin that the warning is of, as MkDocs names it.
    """
    place, is_unknown, name = warning.partition(_UNKNOWN)
    if not is_unknown:
        return warning
    groups = [key, *_SUB_OPTION.findall(place)][:-1]
    suggestions = suggest_options(options, ".".join([*groups, name]))
    return f"{warning}. Did you mean {' or '.join(suggestions)}?" if suggestions else warning
