"""The label lint: what a note declares public must not give away what it says."""

import re
import unicodedata

from ..serve.errors import NotebookError

# As many words in a row shared with the body are prose of the note, not a name for it.
RUN = 5

# A date has as many digits as a phone number, and a locator often is one.
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)")
# Underscores divide words: in Markdown they are emphasis, and would hide a copied run.
_WORD = re.compile(r"[^\W_]+")
# International, with a leading zero, or grouped the North American way.
_PHONE = re.compile(
    r"(?<![\w.])(?:(?:\+\d|\(?0\d)[\d ()/-]{6,}\d|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w.])"
)
_LEAKS = (
    ("an e-mail address", re.compile(r"[^\s@]+@[^\s@]+\.\w{2,}")),
    ("a URL", re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)+/\S*", re.I)),
    ("a phone number", _PHONE),
    (
        "what looks like a secret",
        re.compile(r"\b(?:sk-|ghp_|xox[abp]-|AKIA)[\w-]{8,}|\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}"),
    ),
)


def lint(value: str, body: str, where: str) -> None:
    """Refuse a public field that leaks; NotebookError names the field and which words of it.

    The words themselves are the note's, and an error is written to logs.
    """
    undated = _DATE.sub(";", value)
    for name, pattern in _LEAKS:
        if pattern.search(undated):
            raise NotebookError(f"{where} holds {name}, and it is public; leave it out")
    at = shared_run(value, body, RUN)
    if at is not None:
        raise NotebookError(
            f"{where}: its words {at + 1} to {at + RUN} stand in a row in the note too, and it is "
            "public; say it in other words"
        )


def words(text: str) -> list[str]:
    """The words of a text as they are compared: NFKC, lower case, no invisible characters."""
    seen = "".join(
        c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf"
    )
    return _WORD.findall(seen.lower())


def shared_run(value: str, body: str, length: int) -> int | None:
    """Where in the words of a value the first run of ``length`` begins that a body holds too."""
    mine, theirs = words(value), words(body)
    runs = {tuple(theirs[i : i + length]) for i in range(len(theirs) - length + 1)}
    starts = range(len(mine) - length + 1)
    return next((i for i in starts if tuple(mine[i : i + length]) in runs), None)
