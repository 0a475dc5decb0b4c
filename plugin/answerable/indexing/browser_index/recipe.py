"""Collect what the engine's modules take from Python: constants, word lists and patterns.

Each exists once, in the Python module of the same name; a build writes them beside the index, and
the engine in the browser reads them from there.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...serve.bundle_format.site_metadata import SiteMetadata
from ...serve.retrieval import bm25, question_text
from ...serve.text import normalization, sanitization, tokenization
from .javascript_patterns import translate_pattern
from .script_letters import write_script_pattern
from .stemmers import select_stemmers

# By module, the constants that its twin in the browser reads; of a function its result.
COLLECTED: Mapping[ModuleType, tuple[str, ...]] = {
    bm25: ("K1", "B", "BACKGROUND_PASSAGES"),
    normalization: ("_BLANK_CHARACTERS", "_EMPHASIS", "_TYPOGRAPHY"),
    question_text: (
        "MAX_QUESTION_CHARACTERS",
        "_CONTINUES",
        "_MAX_SUBJECT_WORDS",
        "_OPENING",
        "_POINTS_BACK",
        "_SAYS_ABOUT",
    ),
    sanitization: ("_LINE_ENDS", "_UNSAFE"),
    tokenization: (
        "STOPWORDS",
        "_CAMEL_CASE_PART",
        "_WORD",
        "unspaced_pattern",
        "word_or_letter_pattern",
    ),
}


def collect_recipe(site: SiteMetadata) -> dict[str, dict[str, Any]]:
    """Collect the constants by module and name as JSON values, and what a site makes of some.

    Names are in upper case, without leading underscores.
    """
    recipe = {
        module.__name__.rpartition(".")[2]: {
            name.lstrip("_").upper(): to_json_value(getattr(module, name)) for name in names
        }
        for module, names in COLLECTED.items()
    }
    recipe["question_text"]["FRAMES"] = to_json_value(question_text.compile_frames(site.names))
    recipe["tokenization"]["SITE_SCRIPTS"] = write_script_pattern(site.scripts)
    recipe["tokenization"]["STEMMERS"] = select_stemmers(site.tags)
    return recipe


def to_json_value(value: Any) -> Any:
    """Return a constant as JSON: sets sorted, patterns translated, functions called; TypeError."""
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
        case _ if callable(value):
            return to_json_value(value())
        case _:
            raise TypeError(f"{value!r:.80} has no form in JSON")
