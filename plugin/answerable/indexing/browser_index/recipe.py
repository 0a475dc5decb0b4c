"""Collect what the engine's modules take from Python: constants, word lists and patterns.

Each exists once, in the Python module of the same name; a build writes them beside the index, and
the engine in the browser reads them from there.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...serve.retrieval import bm25
from ...serve.text import tokenization
from .javascript_patterns import translate_pattern

# By module, the constants that its twin in the browser reads.
COLLECTED: Mapping[ModuleType, tuple[str, ...]] = {
    bm25: ("K1", "B", "BACKGROUND_PASSAGES"),
    tokenization: ("STOPWORDS",),
}


def collect_recipe() -> dict[str, dict[str, Any]]:
    """Collect the constants by module and name, without leading underscores, as JSON values."""
    return {
        module.__name__.rpartition(".")[2]: {
            name.lstrip("_"): to_json_value(getattr(module, name)) for name in names
        }
        for module, names in COLLECTED.items()
    }


def to_json_value(value: Any) -> Any:
    """Return a constant as JSON: a set sorted, a pattern as its translation; TypeError."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case re.Pattern():
            return translate_pattern(value)
        case set() | frozenset():
            return sorted(map(to_json_value, value))
        case tuple() | list():
            return [to_json_value(each) for each in value]
        case Mapping():
            return {str(key): to_json_value(each) for key, each in value.items()}
        case _:
            raise TypeError(f"{value!r:.80} has no form in JSON")
