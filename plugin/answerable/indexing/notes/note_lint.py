"""The lint of a note's public fields: none repeats the note or holds personal data."""

import re
import unicodedata

from ...engine.errors import NotebookError
from ..word_runs import SHARED_WEIGHT, RunIndex, cut_runs, split_words

# A public field is a name or a place. The patterns below would be slow on a page of text.
MAX_FIELD_LENGTH = 300

# A date has as many digits as a phone number, and a locator often is one.
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)")
# International, with a leading zero, or grouped the North American way.
_PHONE = re.compile(
    r"(?<![\w.])(?:(?:\+\d|\(?0\d)[\d ()/-]{6,}\d|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w.])"
)
_PRIVATE_PATTERNS = (
    ("an e-mail address", re.compile(r"[^\s@]+@[^\s@]+\.\w{2,}")),
    ("a URL", re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)+/\S*", re.I)),
    ("a phone number", _PHONE),
    (
        "what looks like a secret",
        re.compile(r"\b(?:sk-|ghp_|xox[abp]-|AKIA)[\w-]{8,}|\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}"),
    ),
)


def lint_public_field(value: str, body: str, where: str) -> None:
    """Refuse a public field that leaks; NotebookError names the field and which words of it.

    The words themselves are the note's, and an error is written to logs.
    """
    if len(value) > MAX_FIELD_LENGTH:
        raise NotebookError(f"{where} has more than {MAX_FIELD_LENGTH} characters; shorten it")
    if kind := find_private_pattern(value):
        raise NotebookError(f"{where} holds {kind}, and it is public; leave it out")
    # In Markdown an underscore is emphasis, and would hide where words begin.
    words = split_words(_drop_marks(value.replace("_", " ")))
    starts = {run: start for start, run in reversed(list(cut_runs(words, SHARED_WEIGHT)))}
    shared = {run for _, run in RunIndex(starts).find(_drop_marks(body))}
    if shared:
        run = min(shared, key=starts.__getitem__)
        first = starts[run] + 1
        raise NotebookError(
            f"{where}: its words {first} to {first + len(run) - 1} also stand in a row in the "
            "note, and it is public; say it in other words (a character of a script without "
            "spaces counts as a word)"
        )


def find_private_pattern(value: str) -> str | None:
    """Find what a public text may not hold, such as a URL or what looks like a secret."""
    undated = _DATE.sub(";", value)
    return next((kind for kind, pattern in _PRIVATE_PATTERNS if pattern.search(undated)), None)


def _drop_marks(text: str) -> str:
    """Drop vowel signs and tones: with them, two words of Thai would have fifteen characters."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    return "".join(c for c in composed if unicodedata.category(c) != "Mn")
