"""Refuse a note's public field that repeats its body or holds personal data; collect all errors."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...serve.errors import NotebookError

# As many words in a row shared with the body are prose of the note, not a name for it.
SHARED_WORDS = 5
# As many letters are, where nothing divides words.
SHARED_LETTERS = 15
# A public field is a name or a place. The patterns below would be slow on a page of text.
MAX_FIELD_LENGTH = 300

# A date has as many digits as a phone number, and a locator often is one.
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)")
# Underscores divide words: in Markdown they are emphasis, and would hide a copied run.
_WORD = re.compile(r"[^\W_]+")
# Thai, Lao, Burmese, Khmer, Japanese and Chinese are written without spaces between words. The
# lint needs no speed, so it covers more than serve.text.tokenization, and Bopomofo is spaced.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+"
)
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


class ErrorCollector:
    """Collect the errors of a notebook, each once, so that one build reports all of them."""

    def __init__(self) -> None:
        self._messages: dict[str, None] = {}

    def add_error(self, message: str) -> None:
        """Add an error message; one of several lines is several errors."""
        self._messages.update(dict.fromkeys(message.split("\n")))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add a NotebookError raised in the block, and go on after the block."""
        try:
            yield
        except NotebookError as error:
            self.add_error(str(error))

    def report(self) -> None:
        """Raise one NotebookError with a line for each error, if there are any."""
        if self._messages:
            raise NotebookError("\n".join(self._messages))


def lint_public_field(value: str, body: str, where: str) -> None:
    """Refuse a public field that leaks; NotebookError names the field and which words of it.

    The words themselves are the note's, and an error is written to logs.
    """
    if len(value) > MAX_FIELD_LENGTH:
        raise NotebookError(f"{where} has more than {MAX_FIELD_LENGTH} characters; shorten it")
    if kind := find_private_pattern(value):
        raise NotebookError(f"{where} holds {kind}, and it is public; leave it out")
    at = find_shared_run(value, body, SHARED_WORDS)
    if at is not None:
        raise NotebookError(
            f"{where}: its words {at + 1} to {at + SHARED_WORDS} also stand in a row in the note, "
            "and it is public; say it in other words"
        )
    letters = _unspaced_letters(value)
    if len(letters) < SHARED_LETTERS:
        return
    at = _find_shared(letters, _unspaced_letters(body), SHARED_LETTERS)
    if at is not None:
        raise NotebookError(
            f"{where}: its letters {at + 1} to {at + SHARED_LETTERS} of a script without spaces "
            "also stand in a row in the note, and it is public; say it in other words"
        )


def find_private_pattern(value: str) -> str | None:
    """Find what a public text may not hold, such as a URL or what looks like a secret."""
    undated = _DATE.sub(";", value)
    return next((kind for kind, pattern in _PRIVATE_PATTERNS if pattern.search(undated)), None)


def fold_words(text: str) -> list[str]:
    """Split a text into words as they are compared: NFKC, lower case, no invisible characters."""
    folded, marks = _fold(text)
    # A vowel sign or a tone is part of its word, but `\w` does not match it.
    pattern = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}])*" if marks else _WORD
    return re.findall(pattern, folded)


def find_shared_run(value: str, body: str, length: int) -> int | None:
    """Find where in the words of a value the first run of ``length`` begins that a body has too."""
    words = fold_words(value)
    return _find_shared(words, fold_words(body), length) if len(words) >= length else None


def _find_shared(value: Sequence[str], body: Sequence[str], length: int) -> int | None:
    # The runs of the shorter text are indexed: a note may have a million words.
    starts: dict[tuple[str, ...], int] = {}
    for at in range(len(value) - length + 1):
        starts.setdefault(tuple(value[at : at + length]), at)
    runs = (tuple(body[at : at + length]) for at in range(len(body) - length + 1))
    return min((starts[run] for run in runs if run in starts), default=None)


def _unspaced_letters(text: str) -> str:
    """Join the letters of scripts without spaces.

    Vowel signs and tones are not counted: two Thai words would have fifteen characters.
    """
    folded, marks = _fold(text)
    return "".join(_UNSPACED.findall(folded.translate(dict.fromkeys(map(ord, marks)))))


def _fold(text: str) -> tuple[str, str]:
    """Fold a text for comparison; the second text is the combining marks in it, each once."""
    folded = unicodedata.normalize("NFKC", text)
    if folded.isascii():
        return folded.lower(), ""
    invisible = {ord(c): None for c in set(folded) if _is_invisible(c)}
    folded = folded.translate(invisible).lower()
    return folded, "".join(sorted(c for c in set(folded) if unicodedata.category(c)[0] == "M"))


def _is_invisible(character: str) -> bool:
    joiner = character == "\u034f" or "VARIATION SELECTOR" in unicodedata.name(character, "")
    return joiner or unicodedata.category(character) == "Cf"
