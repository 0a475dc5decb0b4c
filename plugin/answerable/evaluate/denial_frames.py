"""Recognize English phrases that deny a whole statement, such as "It is not true that"."""

import re
from collections.abc import Sequence

_NEGATED_TRUE = (
    r"(?:\b(?:not|never|no longer|hardly|far from|anything but|no way)|n't)"
    r"(?:\s+(?:\w+ly|at all|even|quite|just))*"
    r"\s+(?:true|the case|correct|right|accurate|so|a fact|the truth)"
)
_FALSE = (
    r"\b(?:false|untrue|wrong|incorrect|inaccurate|mistaken|nonsense|fake|(?:no|little) truth"
    r"|a (?:lie|myth|mistake|misconception|falsehood|rumou?r|hoax|fiction))"
)
_UNTRUE = rf"(?:{_NEGATED_TRUE}|{_FALSE})\b"
_STATES = (
    r"(?:says?|said|states?|claims?|means?|believes?|thinks?|assumes?|holds?|follows?|impl(?:y|ies)"
    r"|suggests?|concludes?|pretends?|trusts?|supposes?)"
)
_DENIES = r"(?:deny|denies|denied|doubts?|disputes?|refutes?|disproves?|contradicts?)"
_STATEMENT = r"(?:statement|claim|idea|assumption|belief|notion|sentence|assertion|view)"
_BE = r"(?:is|was|are|were|'s)?"

# What stands before a denied statement, at the start of a sentence.
_LEADING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"[^.;:]{{0,40}}?{_UNTRUE}(?:\s+(?:in|about|to)\s[^.;:]{{0,30}}?)?(?:\s+that\b|\s*:)",
        rf"[^.;:]{{0,40}}?(?:\b(?:not|never|nobody|no one|nothing)|n't)\s+(?:\w+\s+){{0,2}}?"
        rf"{_STATES}\s+that\b",
        rf"[^.;:,]{{0,30}}?\b{_DENIES}\s+(?:the\s+{_STATEMENT}\s+)?that\b",
        r"contrary\s+to\s[^.;:,]{0,30}?\bthat\b",
    )
)
# A statement that is called untrue after it was made.
_TRAILING = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?:the\s+{_STATEMENT}\s+)?that\s(?P<statement>.+?)\s*{_BE}\w*\s*{_UNTRUE}\W*",
        rf"(?P<statement>.+?)\W+(?:which|this|that)\s*{_BE}\w*\s*{_UNTRUE}\W*",
        rf"(?P<statement>.+?)\s*(?:-+|[:(])\s*{_UNTRUE}\W*",
    )
)
# A sentence that does nothing but deny the one before it, or the one after it.
_POINTING = re.compile(
    r"\W*(?:but\s+)?(?:no|nope"
    rf"|(?:(?:this|that|it|all of (?:this|that|it))\s*)?{_BE}\w*\s*{_UNTRUE}"
    r"|(?:quite\s+)?the\s+(?:opposite|reverse|contrary)(?:\s+is\s+(?:true|the\s+case|so))?)\W*",
    re.IGNORECASE,
)


def split_denials(sentences: Sequence[str]) -> list[tuple[str, bool]]:
    """Split each sentence from the phrases that deny it as a whole; tell whether one does.

    Two denials of one sentence undo each other. A sentence that only denies another one is left
    out.
    """
    statements: list[tuple[str, bool]] = []
    denies_next = False
    for sentence in sentences:
        if _POINTING.fullmatch(sentence):
            if statements:
                text, is_denied = statements[-1]
                statements[-1] = (text, not is_denied)
            else:
                denies_next = not denies_next
            continue
        text, is_denied = _strip_frames(sentence)
        statements.append((text, is_denied != denies_next))
        denies_next = False
    return statements


def _strip_frames(sentence: str) -> tuple[str, bool]:
    """Strip the phrases that deny a sentence; tell whether their number is odd."""
    text, is_denied = sentence.strip(), False
    while match := next(filter(None, (frame.match(text) for frame in _LEADING)), None):
        text, is_denied = text[match.end() :].strip(), not is_denied
    match = next(filter(None, (frame.fullmatch(text) for frame in _TRAILING)), None)
    if match:
        return match["statement"], not is_denied
    return text, is_denied
