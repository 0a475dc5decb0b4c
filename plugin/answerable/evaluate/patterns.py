"""The patterns of a gold file: Python's regular expressions, searched within a bound."""

import math
import re
import warnings
from functools import lru_cache

import regex

from ..serve.errors import GoldError

# Seconds of computing. A sane pattern takes a thousandth of one for the longest answer.
BOUND = 1.0
LONGEST = 1000
# The engine writes a repeat out as often as it is counted, at some 300 bytes each.
_LARGEST = 100_000

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_COUNT = re.compile(r"\{(\d+)")
# A brace itself to `re`, and to the engine the start of a fuzzy match.
_OTHER_BRACE = re.compile(r"\{(?!\d*,?\d*\})")


def problem(pattern: str) -> str | None:
    """Why a pattern cannot be searched for, as the end of a sentence; None if it can."""
    if not pattern:
        return "is empty and matches every answer; fill it in or drop it"
    if "\b" in pattern:
        return "holds a backspace, which is \\b between double quotes; use single quotes"
    if len(pattern) > LONGEST:
        return f"has more than {LONGEST} characters; shorten it or write several"
    syntax = _ESCAPED.sub("", pattern)
    try:
        _check(pattern)
        if _OTHER_BRACE.search(syntax):
            return "has a { that begins no count; write \\{"
        if len(pattern) * math.prod(max(1, int(n)) for n in _COUNT.findall(syntax)) > _LARGEST:
            return "counts too far, such as {1000} inside {1000}; write smaller numbers"
        _compiled(pattern)
    except (re.error, regex.error, OverflowError, RecursionError, Warning) as error:
        return f"is no regular expression of Python ({error}); correct it"
    return None


def search(pattern: str, text: str) -> bool:
    """Whether a pattern that has no problem is somewhere in a text, in any case.

    GoldError if that is not known within the bound.
    """
    try:
        return _compiled(pattern).search(text, timeout=BOUND) is not None
    except TimeoutError:
        raise GoldError(
            f"forbidden pattern /{pattern}/ takes longer than {BOUND:g} s; write it without a "
            "repeat inside a repeat"
        ) from None


def _check(pattern: str) -> None:
    """Refuse what is none to `re`: the other syntax of the engine, such as recursion, has no place.

    What `re` only warns of, the two would read differently.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(pattern, re.I)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.V0 | regex.I)
