"""Words as the leak audit compares them."""

import re
import unicodedata

from ..serve import terms
from . import markup

# Up to as many characters are faster replaced one by one.
_FEW = 200

UNSPACED = re.compile(f"([{terms.UNSPACED}])")
# Every ASCII byte to what it is compared as: lower case, and a space for what is no word.
_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b in b"_\x01" else ord(" ")
    for b in bytes(range(256)).lower()
)
# What may divide two words, and need not: soft breaks and characters without width.
_SOFT = rf"{markup.SOFT_BREAK}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
MAY_BE_DIVIDED = re.compile(rf"[{_SOFT}](?<=\w.)[{_SOFT}]*+(?=\w)", re.S)
# Soft breaks beside a space divide nothing more.
_EDGES = re.compile(rb"(?<= )\x01++|\x01++(?= )")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def tokens(text: str) -> list[str]:
    """A text's words as they are compared: NFKC, without case, no invisible characters.

    In a script without spaces every character is one.
    """
    return _split(text, b"\x01").decode().split()


def divided_tokens(text: str) -> list[str]:
    """The same words, with a soft break where something invisible may divide two of them."""
    return _split(text, b"").decode().split()


def _split(text: str, dropped: bytes) -> bytes:
    """Fold a text and divide its words by spaces. dropped: the soft breaks, or nothing."""
    if not text.isascii():
        text = _folded(text)
        if UNSPACED.search(text):
            text = " ".join(UNSPACED.split(text))
    # A pattern would do the same at a tenth of the speed, and every build reads whole sites.
    spaced = b" %b " % text.encode().translate(_BYTES, dropped)
    if not dropped:
        spaced = _EDGES.sub(b"", spaced)
    if b"_" in spaced:
        while b"__" in spaced:
            spaced = spaced.replace(b"__", b"_")
        # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
        spaced = spaced.replace(b" _", b" ").replace(b"_ ", b" ")
    return spaced


def _folded(text: str) -> str:
    """A text whose only characters beyond ASCII are those of words, without case."""
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    others = {c: _other(c) for c in set(_NOT_ASCII.findall(text)) if not _is_word(c)}
    if len(others) > _FEW:
        return text.translate({ord(c): other for c, other in others.items()})
    for character, other in others.items():
        text = text.replace(character, other)
    return text


def _is_word(character: str) -> bool:
    return character.isalnum() or UNSPACED.match(character) is not None


def _other(character: str) -> str:
    """A soft break for what is invisible; nothing for marks, which Hindi has within words."""
    category = unicodedata.category(character)
    if category == "Cf" or character == markup.SOFT_BREAK:
        return markup.SOFT_BREAK
    return "" if category[0] == "M" else " "
