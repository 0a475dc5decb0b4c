"""The recipe: constants, word lists and patterns that the browser's engine takes from Python."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from ...serve import structure, vectors
from ...serve.answers import confidence, excerpts, extractive, grounding, quotes, statements, wire
from ...serve.bundle_format import site_data, stored_answers
from ...serve.bundle_format.site_data import SiteMetadata
from ...serve.embedders import local_embedder
from ...serve.errors import AnswerableError
from ...serve.retrieval import bm25, boosts, question, retrieve, scoring, selection, word_forms
from ...serve.text import normalization, sanitization, tokenization

# Python's own parser of patterns, which has had this name since 3.11.
_parser: Any = import_module("re._parser")

# The content of a class for each of Python's, by https://docs.python.org/3/library/re.html.
_WORD = r"\p{L}\p{N}_"
_DIGIT = r"\p{Nd}"
_SPACE = r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CLASSES = {"WORD": _WORD, "DIGIT": _DIGIT, "SPACE": _SPACE}

_BOUNDARY = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_NO_BOUNDARY = f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_ANCHORS = {
    "AT_BEGINNING": "^",
    "AT_BEGINNING_STRING": "^",
    "AT_END": r"(?=\n?$)",
    "AT_END_STRING": "$",
    "AT_BOUNDARY": _BOUNDARY,
    "AT_NON_BOUNDARY": _NO_BOUNDARY,
}

# Letters that are one for Python where case is ignored; for JavaScript the latter two are others.
_LETTERS_I = "Ii\u0131\u0130"

_TRANSLATED_FLAGS = re.IGNORECASE | re.DOTALL | re.UNICODE


def translate_pattern(pattern: re.Pattern[str]) -> dict[str, str]:
    """Translate a compiled pattern to the ``source`` and ``flags`` of a JavaScript RegExp.

    Groups keep their numbers and names. AnswerableError for a construct without a translation: a
    possessive quantifier, an atomic group, a conditional, flags inside the pattern.
    """
    if pattern.flags & ~_TRANSLATED_FLAGS:
        raise AnswerableError(f"{pattern.pattern!r:.80}: its flags have no translation; drop them")
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    names = {number: name for name, number in pattern.groupindex.items()}
    translator = _Translator(
        names,
        is_dotall=bool(pattern.flags & re.DOTALL),
        ignores_case=bool(pattern.flags & re.IGNORECASE),
    )
    flags = "iu" if pattern.flags & re.IGNORECASE else "u"
    return {"source": translator.write_nodes(parsed), "flags": flags}


class _Translator:
    """Write the nodes of a parsed pattern as JavaScript. names: of groups by number."""

    def __init__(self, names: dict[int, str], *, is_dotall: bool, ignores_case: bool) -> None:
        self.names = names
        self.is_dotall = is_dotall
        self.ignores_case = ignores_case

    def write_nodes(self, nodes: Iterable[tuple[Any, Any]]) -> str:
        """Write a sequence of nodes."""
        return "".join(self._write_node(str(kind), value) for kind, value in nodes)

    def _write_node(self, kind: str, value: Any) -> str:
        match kind:
            case "LITERAL":
                members = self._write_member(kind, value)
                return _escape(value) if members == _escape(value) else f"[{members}]"
            case "NOT_LITERAL":
                return f"[^{self._write_member('LITERAL', value)}]"
            case "ANY":
                return "[^]" if self.is_dotall else r"[^\n]"
            case "IN":
                return self._write_class(value)
            case "AT":
                return _ANCHORS[str(value)]
            case "BRANCH":
                return f"(?:{'|'.join(map(self.write_nodes, value[1]))})"
            case "SUBPATTERN":
                return self._write_group(*value)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._write_repeat(*value, is_lazy=kind == "MIN_REPEAT")
            case "ASSERT" | "ASSERT_NOT":
                direction, inner = value
                look = ("<" if direction < 0 else "") + ("=" if kind == "ASSERT" else "!")
                return f"(?{look}{self.write_nodes(inner)})"
            case "GROUPREF":
                return rf"\k<{self.names[value]}>" if value in self.names else rf"(?:\{value})"
            case _:
                raise AnswerableError(
                    f"a pattern with {kind} has no translation; write it in another way"
                )

    def _write_group(self, number: int | None, added: int, removed: int, inner: Any) -> str:
        if added or removed:
            raise AnswerableError(
                "a pattern with flags inside has no translation; write it in another way"
            )
        if number is None:
            return f"(?:{self.write_nodes(inner)})"
        name = f"?<{self.names[number]}>" if number in self.names else ""
        return f"({name}{self.write_nodes(inner)})"

    def _write_repeat(self, least: int, most: Any, inner: Any, *, is_lazy: bool) -> str:
        end = "" if most is _parser.MAXREPEAT else str(most)
        count = {(0, ""): "*", (1, ""): "+", (0, "1"): "?"}.get(
            (least, end), f"{{{least}}}" if end == str(least) else f"{{{least},{end}}}"
        )
        return f"(?:{self.write_nodes(inner)}){count}{'?' if is_lazy else ''}"

    def _write_class(self, items: Sequence[tuple[Any, Any]]) -> str:
        """Write a class; a negated part of it, such as ``\\W``, becomes a lookahead of its own."""
        kinds = [(str(kind), value) for kind, value in items]
        is_negated = kinds[0][0] == "NEGATE"
        members = "".join(
            self._write_member(kind, value) for kind, value in kinds if kind != "NEGATE"
        )
        absent = [
            _CLASSES[str(value).removeprefix("CATEGORY_NOT_")]
            for kind, value in kinds
            if kind == "CATEGORY" and str(value).startswith("CATEGORY_NOT_")
        ]
        if not absent:
            return f"[{'^' if is_negated else ''}{members}]"
        if is_negated:
            # In no listed member, and in each class whose complement is listed.
            looks = "".join(f"(?=[{each}])" for each in absent)
            return f"(?:{looks}[^{members}])"
        branches = [f"[^{each}]" for each in absent] + ([f"[{members}]"] if members else [])
        return f"(?:{'|'.join(branches)})"

    def _write_member(self, kind: str, value: Any) -> str:
        match kind:
            case "LITERAL":
                return self._add_letters_i(value, value) or _escape(value)
            case "RANGE":
                return f"{_escape(value[0])}-{_escape(value[1])}{self._add_letters_i(*value)}"
            case "CATEGORY":
                name = str(value).removeprefix("CATEGORY_")
                return "" if name.startswith("NOT_") else _CLASSES[name]
            case _:
                raise AnswerableError(
                    f"a class with {kind} has no translation; write it in another way"
                )

    def _add_letters_i(self, first: int, last: int) -> str:
        """Return all letters i where case is ignored and a range has one of them, else nothing."""
        has_letter = any(first <= ord(letter) <= last for letter in _LETTERS_I)
        return _LETTERS_I[1:] if self.ignores_case and has_letter else ""


def _escape(code: int) -> str:
    """Write a character so that it is literal inside and outside a class."""
    character = chr(code)
    if character.isascii() and (character.isalnum() or character in " _\"'`<>=!,;:@#%&~"):
        return character
    if character.isascii() and character in r"^$\.*+?()[]{}|/":
        return f"\\{character}"
    return f"\\u{{{code:x}}}"


def write_script_pattern(scripts: Collection[str]) -> dict[str, str]:
    """Write a JavaScript pattern of the texts without a letter of another script.

    scripts: as ``detect_scripts`` lists them; any text matches where there are none.
    """
    if not scripts:
        return {"source": "", "flags": "u"}
    ranges = "".join(_write_range(*run) for run in _join_runs(scripts))
    return {"source": rf"^[\P{{L}}{ranges}]*$", "flags": "u"}


def _join_runs(scripts: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last letter of each run of neighboring letters of the scripts.

    Between the letters of a run may be characters that are not letters.
    """
    for is_listed, group in groupby(_read_letter_runs(), lambda run: run[0] in scripts):
        runs = list(group)
        if is_listed:
            yield runs[0][1], runs[-1][2]


# Runs of letters of one script in the order of code points, with the first and the last one, as
# `tests/engine/test_text_twins.py` lists them: to look at all takes a second.
LETTERS_FILE = Path(__file__).with_name("letters.txt")


@cache
def _read_letter_runs() -> list[tuple[str, int, int]]:
    rows = (line.split() for line in LETTERS_FILE.read_text("ascii").splitlines())
    return [(script, int(first, 16), int(last, 16)) for script, first, last in rows]


def _write_range(first: int, last: int) -> str:
    return rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")


# By module, the constants that its twin in the browser reads; of a function its result.
COLLECTED: Mapping[ModuleType, tuple[str, ...]] = {
    bm25: ("K1", "B", "BACKGROUND_PASSAGES"),
    boosts: (
        "BEST_PASSAGES",
        "HALF_LIFE_DAYS",
        "KEY_MODULUS",
        "OTHER_QUESTION",
        "SAME_QUESTION",
    ),
    site_data: ("QUESTION_NORM_UNITS",),
    stored_answers: ("ANSWERS_PER_SHARD",),
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
    excerpts: (
        "REPEATED_TERM_SHARE",
        "IMPORT_LINE_SHARE",
        "CODE_LANGUAGE",
        "_AFTER_BLANK",
        "_AT_MARGIN",
        "_BEFORE_BLANK",
        "_BLANK_LINE",
        "_CLOSING",
        "_IMPORT",
        "_LEADS_ON",
        "_LINE_BONUS",
        "NEIGHBOR_BONUS",
        "FIRST_BONUS",
        "CODE_BONUS",
        "MIN_NEIGHBOR_SHARE",
        "MIN_APART_SHARE",
        "MAX_BRIDGE_WORDS",
        "MIN_CODE_LINES",
        "MAX_CODE_CHARACTERS",
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
    ),
    grounding: ("MIN_QUOTE_WORDS", "_CODE_LIKE"),
    local_embedder: (
        "SPACE",
        "SPECIAL_PIECES",
        "FIRST_BYTE",
        "SPACES_RANK",
        "LEFT_IDS",
        "_SPECIAL",
        "_WORD",
    ),
    question: (
        "MIN_WORD_LETTERS",
        "TWO_EDITS_FROM_LETTERS",
        "ORDINARY_RANK",
        "_BOUNDARY",
        "_WORD_GAP",
        "MAX_QUESTION_CHARACTERS",
        "_CONTINUES",
        "MAX_NAME_WORDS",
        "_DEFINITION",
        "_HISTORY_WORDS",
        "_IDENTIFIER",
        "_MAX_SUBJECT_WORDS",
        "_OPENING",
        "_POINTS_BACK",
        "_SAYS_ABOUT",
        "_VERSION",
    ),
    normalization: ("_BLANK_CHARACTERS", "_EMPHASIS", "_TYPOGRAPHY"),
    quotes: ("_WITHIN_WORD",),
    retrieve: (
        "TOP_K",
        "SECTIONS_PER_PAGE",
        "SIBLING_PAGES",
        "MAX_SIBLINGS",
        "SIBLING_SLACK",
        "_TINY",
    ),
    sanitization: ("_LINE_ENDS", "_UNSAFE"),
    scoring: (
        "KNOWN_QUESTION_BONUS",
        "MIN_IDENTIFIER_SHARE",
    ),
    selection: (
        "PAGE_WEIGHT",
        "QUESTION_WEIGHT",
        "SAME_QUESTION_BONUS",
        "OWN_WEIGHT",
        "HEADING_WEIGHT",
        "CODE_BONUS",
        "LENGTH_WEIGHT",
        "INTRODUCTION_BONUS",
        "HOME_BONUS",
        "HOME_RECORDS",
        "MEMBER_WEIGHT",
        "_MEMBER",
        "WINDOW_SUFFIX",
        "POOL_SIZE",
        "WINNER_MARGIN",
        "DUPLICATE_SHARE",
        "SHINGLE_WORDS",
        "MAX_EVIDENCE_CHARACTERS",
        "MAX_RECORD_CHARACTERS",
    ),
    statements: ("MAX_WIDENED_SENTENCE",),
    structure: (
        "BREAK",
        "BARE",
        "DANGLING",
        "ENDLESS",
        "LEADS_IN",
        "NUMBERED",
        "POINTER",
        "TITLE_SEPARATOR",
        "UNLINKED",
    ),
    tokenization: (
        "STOPWORDS",
        "_CAMEL_CASE_PART",
        "_WORD",
        "unspaced_pattern",
        "word_or_letter_pattern",
    ),
    vectors: ("CANDIDATES", "ESTIMATE_SLACK", "EXACT_PASSAGES", "SCALAR_POOL"),
    wire: ("MIN_OVERLAP", "_UNQUOTED"),
    word_forms: ("MIN_SHARED_LETTERS", "MAX_OTHER_LETTERS", "MAX_OTHER_TERM_LETTERS"),
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
    recipe["question"]["NOW_WORDS"] = to_json_value(question.collect_now_words(site.tags))
    recipe["question"]["FRAMES"] = to_json_value(question.compile_frames(site.names))
    recipe["tokenization"]["SITE_SCRIPTS"] = write_script_pattern(site.scripts)
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
