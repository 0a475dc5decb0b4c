"""Check the regular expressions of a gold file, and search an answer for one with a timeout."""

import math
import re
import warnings
from functools import lru_cache

import regex

from ..serve.errors import GoldError

# Seconds of computing. A sane pattern takes a thousandth of one for the longest answer.
PATTERN_TIMEOUT = 1.0
MAX_PATTERN_LENGTH = 1000
# The engine expands each counted repeat, at some 300 bytes an item.
_MAX_REPEATED_LENGTH = 100_000

_ESCAPE = re.compile(r"\\.", re.DOTALL)
_REPEAT_COUNT = re.compile(r"\{(\d+)")
# `re` takes it for a brace, the engine for the start of a fuzzy match.
_LITERAL_BRACE = re.compile(r"\{(?!\d*,?\d*\})")


def find_pattern_problem(pattern: str, *, is_required: bool = False) -> str | None:
    """Find what keeps a pattern from being matched, as the end of a sentence; None if nothing.

    is_required: the answer has to match it, so that it may not match every text.
    """
    if not pattern:
        return "is empty and matches every answer; fill it in or drop it"
    if "\b" in pattern:
        return "holds a backspace, which is \\b between double quotes; use single quotes"
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"has more than {MAX_PATTERN_LENGTH} characters; shorten it or write several"
    syntax = _ESCAPE.sub("", pattern)
    try:
        _check_python_syntax(pattern)
        if _LITERAL_BRACE.search(syntax):
            return "has a { that begins no count; write \\{"
        repeats = math.prod(max(1, int(count)) for count in _REPEAT_COUNT.findall(syntax))
        if len(pattern) * repeats > _MAX_REPEATED_LENGTH:
            return "counts too far, such as {1000} inside {1000}; write smaller numbers"
        if _compile_pattern(pattern).search("") and is_required:
            return "matches an empty answer and so requires nothing; write what has to stand there"
    except (re.error, regex.error, OverflowError, RecursionError, Warning) as error:
        return f"is not a regular expression of Python ({error}); correct it"
    return None


def match_pattern(pattern: str, text: str, kind: str = "forbidden") -> bool:
    """Search a text for a pattern that has no problem, in any case.

    kind: what an error calls the pattern. GoldError where the search takes longer than its bound.
    """
    try:
        return _compile_pattern(pattern).search(text, timeout=PATTERN_TIMEOUT) is not None
    except TimeoutError:
        raise GoldError(
            f"{kind} pattern /{pattern}/ takes longer than {PATTERN_TIMEOUT:g} s; write it "
            "without a repeat inside a repeat"
        ) from None


def _check_python_syntax(pattern: str) -> None:
    """Refuse what `re` refuses, so that the engine's own syntax, such as recursion, has no place.

    What `re` only warns of, the two would read differently.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(pattern, re.I)


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.V0 | regex.I)
