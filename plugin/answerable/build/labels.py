"""The label lint: what a note declares public must not give away what it says."""

import re
import unicodedata

from ..serve.errors import NotebookError

# As many words in a row shared with the body are prose of the note, not a name for it.
RUN = 5

# A date has as many digits as a phone number, and a locator often is one.
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)")
_WORD = re.compile(r"\w+")
_LEAKS = (
    ("an e-mail address", re.compile(r"[^\s@]+@[^\s@]+\.\w{2,}")),
    ("a URL", re.compile(r"(?:https?://|www\.)\S+", re.I)),
    ("a phone number", re.compile(r"(?<!\w)\+?\d[\d ()./-]{7,}\d(?!\w)")),
    (
        "what looks like a secret",
        re.compile(r"\b(?:sk-|ghp_|xox[abp]-|AKIA)\w{8,}|\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}"),
    ),
)


def lint(value: str, body: str, where: str) -> None:
    """Refuse a public field that leaks; NotebookError names the field and the words."""
    undated = _DATE.sub(";", value)
    for name, pattern in _LEAKS:
        if pattern.search(undated):
            raise NotebookError(f"{where} holds {name}, and it is public; leave it out")
    shared = shared_run(value, body, RUN)
    if shared:
        raise NotebookError(
            f"{where} repeats {RUN} words in a row of the note ({' '.join(shared)!r}), and it is "
            "public; say it in other words"
        )


def words(text: str) -> list[str]:
    """The words of a text as they are compared: NFKC, lower case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def shared_run(value: str, body: str, length: int) -> tuple[str, ...] | None:
    """The first ``length`` words in a row that both texts hold, else None."""
    mine, theirs = words(value), words(body)
    runs = {tuple(theirs[i : i + length]) for i in range(len(theirs) - length + 1)}
    own = (tuple(mine[i : i + length]) for i in range(len(mine) - length + 1))
    return next((run for run in own if run in runs), None)
