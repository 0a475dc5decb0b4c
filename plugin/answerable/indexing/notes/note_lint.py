"""Collect the mistakes of a notebook, so that one build reports all of them.

The label lint: what a note declares public must not give away what it says.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...serve.errors import NotebookError


class ErrorCollector:
    """Every mistake so far, each once, as the sentence of its error."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    def add(self, error: NotebookError) -> None:
        """Note a mistake; an error of several lines is several."""
        self._sentences.update(dict.fromkeys(str(error).split("\n")))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Note a mistake that ends what is done within, and go on after it."""
        try:
            yield
        except NotebookError as error:
            self.add(error)

    def report(self) -> None:
        """Raise one NotebookError with a line for each mistake, if there are any."""
        if self._sentences:
            raise NotebookError("\n".join(self._sentences))


# As many words in a row shared with the body are prose of the note, not a name for it.
SHARED_WORDS = 5
# As many letters are, where nothing divides words.
SHARED_LETTERS = 15
# A public field is a name or a place. The patterns below would be slow on a page of text.
LONGEST_FIELD = 300

# A date has as many digits as a phone number, and a locator often is one.
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)")
# Underscores divide words: in Markdown they are emphasis, and would hide a copied run.
_WORD = re.compile(r"[^\W_]+")
# Thai, Lao, Burmese, Khmer, Japanese and Chinese are written without spaces between words.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+"
)
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


def lint_public_field(value: str, body: str, where: str) -> None:
    """Refuse a public field that leaks; NotebookError names the field and which words of it.

    The words themselves are the note's, and an error is written to logs.
    """
    if len(value) > LONGEST_FIELD:
        raise NotebookError(f"{where} has more than {LONGEST_FIELD} characters; shorten it")
    undated = _DATE.sub(";", value)
    for name, pattern in _LEAKS:
        if pattern.search(undated):
            raise NotebookError(f"{where} holds {name}, and it is public; leave it out")
    at = find_shared_run(value, body, SHARED_WORDS)
    if at is not None:
        raise NotebookError(
            f"{where}: its words {at + 1} to {at + SHARED_WORDS} stand in a row in the note "
            "too, and it is "
            "public; say it in other words"
        )
    letters = _unspaced_letters(value)
    at = (
        _find_shared(letters, _unspaced_letters(body), SHARED_LETTERS)
        if len(letters) >= SHARED_LETTERS
        else None
    )
    if at is not None:
        raise NotebookError(
            f"{where}: its letters {at + 1} to {at + SHARED_LETTERS} of a script without "
            "spaces stand in "
            "a row in the note too, and it is public; say it in other words"
        )


def fold_words(text: str) -> list[str]:
    """The words of a text as they are compared: NFKC, lower case, no invisible characters."""
    seen, marks = _fold(text)
    # A vowel sign or a tone is part of its word, and to `\w` it is none.
    pattern = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}])*" if marks else _WORD
    return re.findall(pattern, seen)


def find_shared_run(value: str, body: str, length: int) -> int | None:
    """Where in the words of a value the first run of ``length`` begins that a body holds too."""
    mine = fold_words(value)
    return _find_shared(mine, fold_words(body), length) if len(mine) >= length else None


def _find_shared(mine: Sequence[str], theirs: Sequence[str], length: int) -> int | None:
    # The runs of the shorter text are kept: a note may have a million words.
    first: dict[tuple[str, ...], int] = {}
    for at in range(len(mine) - length + 1):
        first.setdefault(tuple(mine[at : at + length]), at)
    runs = (tuple(theirs[at : at + length]) for at in range(len(theirs) - length + 1))
    return min((first[run] for run in runs if run in first), default=None) if first else None


def _unspaced_letters(text: str) -> str:
    """The letters of scripts without spaces, with nothing between them.

    Vowel signs and tones are not counted: two Thai words would have fifteen characters.
    """
    seen, marks = _fold(text)
    return "".join(_UNSPACED.findall(seen.translate(dict.fromkeys(map(ord, marks)))))


def _fold(text: str) -> tuple[str, str]:
    """A text as it is compared, and the combining marks in it."""
    seen = unicodedata.normalize("NFKC", text)
    if seen.isascii():
        return seen.lower(), ""
    seen = seen.translate({ord(c): None for c in set(seen) if _is_invisible(c)}).lower()
    return seen, "".join(sorted(c for c in set(seen) if unicodedata.category(c)[0] == "M"))


def _is_invisible(character: str) -> bool:
    joiner = character == "\u034f" or "VARIATION SELECTOR" in unicodedata.name(character, "")
    return joiner or unicodedata.category(character) == "Cf"
