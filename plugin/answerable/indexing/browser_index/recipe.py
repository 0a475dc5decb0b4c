"""Collect what the engine's modules take from Python: constants, word lists and patterns.

Each exists once, in the Python module of the same name; a build writes them beside the index, and
the engine in the browser reads them from there.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from types import ModuleType
from typing import Any

from ...serve import structure
from ...serve.answers import (
    code_window,
    confidence,
    contract,
    excerpts,
    extractive,
    grounding,
    quotations,
    quotes,
    statements,
    text_fragments,
    wire_blocks,
)
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
from ...serve.vectors import scalar_codes
from . import candidate_bounds
from .javascript_patterns import translate_pattern
from .script_letters import write_script_pattern
from .stemmers import select_stemmers

# By module, the constants that its twin in the browser reads; of a function its result.
COLLECTED: Mapping[ModuleType, tuple[str, ...]] = {
    bm25: ("K1", "B", "BACKGROUND_PASSAGES"),
    boosts: ("BEST_PASSAGES", "HALF_LIFE_DAYS"),
    candidate_bounds: ("CANDIDATES", "ESTIMATE_SLACK", "EXACT_PASSAGES"),
    misspellings: ("MIN_WORD_LETTERS", "TWO_EDITS_FROM_LETTERS"),
    question: ("ORDINARY_RANK", "_BOUNDARY", "_WORD_GAP"),
    retrieve: ("TOP_K", "SIBLING_PAGES", "MAX_SIBLINGS", "SIBLING_SLACK", "_TINY"),
    scalar_codes: ("SCALAR_POOL",),
    scoring: ("MIN_IDENTIFIER_SHARE",),
    section_scores: (
        "PAGE_WEIGHT",
        "LOCAL_WEIGHT",
        "HEADING_WEIGHT",
        "IDENTIFIER_WEIGHT",
        "CODE_BONUS",
        "SHORT_PENALTY",
        "INTRODUCTION_BONUS",
        "HOME_BONUS",
        "HOME_RECORDS",
    ),
    selection: (
        "POOL_SIZE",
        "WINNER_MARGIN",
        "DUPLICATE_SHARE",
        "SHINGLE_WORDS",
        "MAX_EVIDENCE_CHARACTERS",
        "MAX_RECORD_CHARACTERS",
    ),
    structure: ("DIAGRAM_LANGUAGE", "RECORDING_LANGUAGE", "TITLE_SEPARATOR"),
    code_window: (
        "REPEATED_TERM_SHARE",
        "IMPORT_LINE_SHARE",
        "_AFTER_BLANK",
        "_AT_MARGIN",
        "_BEFORE_BLANK",
        "_BLANK_LINE",
        "_CLOSING",
        "_IMPORT",
        "_LEADS_ON",
        "_LINE_BONUS",
    ),
    confidence: (
        "CONFIDENCE_SCALE",
        "HIGH_CONFIDENCE",
        "MEDIUM_CONFIDENCE",
        "INDIRECT_ANSWER_FACTOR",
        "MIN_EXCERPT_SHARE",
        "MIN_HEADING_SHARE",
        "_HOW",
        "_NEGATION",
        "_OPPOSITES",
    ),
    contract: ("MAX_ANSWER_CLAIMS",),
    excerpts: (
        "NEIGHBOR_BONUS",
        "FIRST_BONUS",
        "CODE_BONUS",
        "MIN_NEIGHBOR_SHARE",
        "MIN_APART_SHARE",
        "MAX_BRIDGE_WORDS",
        "MIN_CODE_LINES",
        "MAX_CODE_CHARACTERS",
        "MAX_VISIBLE_CHARACTERS",
        "EXTRA_WORDS",
        "EXTRA_LINES",
        "MIN_ITEM_SHARE",
        "LEAD_IN_WEIGHT",
        "HEADING_TERM_WEIGHT",
    ),
    extractive: (
        "SUPPORT_FLOOR",
        "MIN_SHARE_OF_FIRST",
        "EXCERPT_BUDGETS",
        "SUPPORT_WEIGHT",
        "_WINDOW_SUFFIX",
    ),
    grounding: ("MAX_EXCERPT_CHARACTERS",),
    quotations: ("MIN_QUOTE_WORDS", "_CODE_LIKE"),
    quotes: ("MAX_QUOTE_PLACES", "_WITHIN_WORD"),
    statements: (
        "MAX_WIDENED_SENTENCE",
        "MAX_ITEM_WORDS",
        "MIN_SENTENCE_WORDS",
        "MAX_POINTER_WORDS",
        "_DANGLING",
        "_LEAD_INS",
        "_POINTER",
        "_QUESTIONS",
        "_SENTENCE_ENDS",
    ),
    text_fragments: (
        "MAX_TERM_CHARACTERS",
        "_BREAK",
        "_CONTEXT_WORDS",
        "_EDGE_WORDS",
        "_MID_WORD",
        "_QUOTE_MARKS",
        "_WORD",
    ),
    wire_blocks: ("GAP_MARK", "_UNQUOTED"),
    normalization: ("_BLANK_CHARACTERS", "_EMPHASIS", "_TYPOGRAPHY"),
    question_text: (
        "MAX_QUESTION_CHARACTERS",
        "_CONTINUES",
        "_DEFINITION",
        "_HISTORY_WORDS",
        "_IDENTIFIER",
        "_MAX_SUBJECT_WORDS",
        "_OPENING",
        "_POINTS_BACK",
        "_SAYS_ABOUT",
        "_VERSION",
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
    recipe["question_text"]["NOW_WORDS"] = to_json_value(question_text.collect_now_words(site.tags))
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
        case _ if is_dataclass(value) and not isinstance(value, type):
            return to_json_value(asdict(value))
        case _ if callable(value):
            return to_json_value(value())
        case _:
            raise TypeError(f"{value!r:.80} has no form in JSON")
