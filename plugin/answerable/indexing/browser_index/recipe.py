"""Collect what the engine's modules take from Python: constants, word lists and patterns.

Each exists once, in the Python module of the same name; a build writes them beside the index, and
the engine in the browser reads them from there.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...serve import structure
from ...serve.bundle_format.site_metadata import SiteMetadata
from ...serve.embedders import token_pieces
from ...serve.retrieval import (
    bm25,
    boosts,
    misspellings,
    question,
    question_text,
    retrieve,
    scoring,
    section_scores,
    selection,
)
from ...serve.text import normalization, sanitization, tokenization
from . import candidate_bounds
from .javascript_patterns import translate_pattern
from .script_letters import write_script_pattern
from .stemmers import select_stemmers

# By module, the constants that its twin in the browser reads; of a function its result.
COLLECTED: Mapping[ModuleType, tuple[str, ...]] = {
    bm25: ("K1", "B", "BACKGROUND_PASSAGES"),
    boosts: ("BEST_PASSAGES", "HALF_LIFE_DAYS", "_HISTORY_WORDS", "_VERSION"),
    candidate_bounds: ("CANDIDATES", "ESTIMATE_SLACK", "EXACT_PASSAGES"),
    misspellings: ("MIN_WORD_LETTERS", "TWO_EDITS_FROM_LETTERS", "MIN_HALF_LETTERS"),
    question: ("ORDINARY_RANK", "_BOUNDARY", "_WORD_GAP"),
    retrieve: ("TOP_K", "SIBLING_PAGES", "MAX_SIBLINGS", "SIBLING_SLACK", "_TINY"),
    scoring: ("MAX_SHORT_QUESTION_TERMS",),
    section_scores: (
        "PAGE_WEIGHT",
        "LOCAL_WEIGHT",
        "HEADING_WEIGHT",
        "IDENTIFIER_WEIGHT",
        "CODE_BONUS",
        "SHORT_PENALTY",
        "_IDENTIFIER",
    ),
    selection: (
        "POOL_SIZE",
        "WINNER_MARGIN",
        "DUPLICATE_SHARE",
        "SHINGLE_WORDS",
        "MAX_EVIDENCE_CHARACTERS",
        "MAX_RECORD_CHARACTERS",
    ),
    structure: ("TITLE_SEPARATOR",),
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
    token_pieces: (
        "SPACE",
        "SPECIAL_PIECES",
        "FIRST_BYTE",
        "SPACES_RANK",
        "LEFT_IDS",
        "_SPECIAL",
        "_WORD",
    ),
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
    recipe["boosts"]["NOW_WORDS"] = to_json_value(boosts.collect_now_words(site.tags))
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
