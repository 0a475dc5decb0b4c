"""Tokenize a text by a byte-pair vocabulary (Llama-2's), as the package ``tokenizers`` does.

Two pieces merge wherever they make a third, in the order of the vocabulary. No piece crosses a
space, a digit or the border of letters and punctuation, so a text's words are encoded alone and
cached.
"""

import heapq
import re
from collections.abc import Sequence
from functools import lru_cache

# How pieces write a space; every text begins with one.
SPACE = "\u2581"
# Before the pieces that are merged come three special ones and one for each byte.
SPECIAL_PIECES = ("<unk>", "<s>", "</s>")
FIRST_BYTE = len(SPECIAL_PIECES)
FIRST_MERGED = FIRST_BYTE + 256

# Runs of spaces merge after everything else.
SPACES_RANK = 1 << 15
# Two splits of one piece: the one with the earlier left half goes first.
LEFT_IDS = 1 << 16

_SPECIAL = re.compile(f"({'|'.join(SPECIAL_PIECES)})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = "\\x00-\\x09\\x0b-\\x1f!-/:-@\\[-`{-\\x7f"
_BEYOND_ASCII = f"\\x80-{chr(ord(SPACE) - 1)}{chr(ord(SPACE) + 1)}-\U0010ffff"
# Letters, and punctuation, join characters beyond ASCII: such a run is one word.
_WORD = re.compile(
    f"\n|{SPACE}*(?:[A-Za-z]+(?![A-Za-z{_BEYOND_ASCII}])|[{_MARK}]+(?![{_MARK}{_BEYOND_ASCII}])"
    f"|[0-9]|[^{SPACE}\n]+)|{SPACE}+"
)

_CACHED_WORDS = 1 << 15
# A longer one hardly comes again.
_MAX_CACHED_CHARACTERS = 32


class TokenPieces:
    """Encode texts as ids of the pieces of a vocabulary, which is given in the order of ids."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._ids = dict(zip(pieces[FIRST_MERGED:], range(FIRST_MERGED, len(pieces)), strict=True))
        self._encode_cached = lru_cache(maxsize=_CACHED_WORDS)(self._encode_word)

    def find_id(self, piece: str) -> int | None:
        """Return the id of a piece; None for one that is special, a byte or unknown."""
        return self._ids.get(piece)

    def encode(self, text: str) -> list[int]:
        """Encode a text; a character that no piece has becomes the bytes of its UTF-8."""
        text = _SURROGATE.sub("?", text)
        ids: list[int] = []
        # Every other part is a special piece.
        for number, part in enumerate(_SPECIAL.split(text)):
            if number % 2:
                ids.append(SPECIAL_PIECES.index(part))
            elif part:
                for word in _WORD.findall(f"{SPACE}{part}".replace(" ", SPACE)):
                    if len(word) <= _MAX_CACHED_CHARACTERS:
                        ids += self._encode_cached(word)
                    else:
                        ids += self._encode_word(word)
        return ids

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Merge the pair of pieces that ranks first, and the first of equals, until none is left.

        parts: pieces by the position of their first character; the merged ones are empty.
        """
        # Merging ends with the whole word wherever it is a piece.
        if word in self._ids:
            return (self._ids[word],)
        parts = list(word)
        followers = list(range(1, len(parts) + 1))
        predecessors = list(range(-1, len(parts) - 1))
        # (rank, position, left, right); a pair is stale when a part of it was merged meanwhile.
        pairs: list[tuple[int, int, str, str]] = []

        def add_pair(position: int, left: str, right: str) -> None:
            merged = self._ids.get(left + right)
            if merged is not None:
                if left[0] == SPACE == right[0]:
                    merged += SPACES_RANK
                rank = merged * LEFT_IDS + self._ids[left]
                heapq.heappush(pairs, (rank, position, left, right))

        for position in range(len(parts) - 1):
            add_pair(position, parts[position], parts[position + 1])
        while pairs:
            _, position, left, right = heapq.heappop(pairs)
            follower = followers[position]
            if parts[position] != left or follower == len(parts) or parts[follower] != right:
                continue
            merged = parts[position] = left + right
            parts[follower] = ""
            following = followers[position] = followers[follower]
            if following < len(parts):
                predecessors[following] = position
                add_pair(position, merged, parts[following])
            predecessor = predecessors[position]
            if predecessor >= 0:
                add_pair(predecessor, parts[predecessor], merged)
        return tuple(number for part in parts if part for number in self._find_ids(part))

    def _find_ids(self, part: str) -> Sequence[int]:
        number = self._ids.get(part)
        if number is None:
            return [FIRST_BYTE + byte for byte in part.encode()]
        return (number,)
