"""The local embedder: pieces of words, their static vectors, and the mean of a text."""

import heapq
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.columns import hash_file
from ..errors import EmbedderError
from .embedder import EmbedderIdentity, Vectors

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


# The pieces by their ids, one a line.
PIECES_FILE = "vocabulary.txt"
# Two tensors: "codes" (tokens, 256) int8 and "scales" (tokens,) float32.
TOKEN_TABLE_FILE = "token_table.safetensors"
LOCAL_IDENTITY = EmbedderIdentity(
    provider="local", model="wordllama-l2-supercat-int8", dimensions=256
)

# SHA-256 of the two files, which a build derives from the wheel wordllama 0.2.2.post0.
MODEL_FILE_DIGESTS = {
    PIECES_FILE: "0f97b4337921e6e7e9b4620fc73338ee570aecd3c16038bc23870a887e995045",
    TOKEN_TABLE_FILE: "b9a0cbfdb2da1efa1c9c4a74a8e05e32a4fe8f8c1a93bab03785b2ac715ea9c7",
}


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """Average a text's token vectors and normalize the mean.

    ``codes`` (tokens, 256) int8 times ``scales`` (tokens,) float32 are the vectors.
    """

    pieces: TokenPieces
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def identity(self) -> EmbedderIdentity:
        """Name the vector space."""
        return LOCAL_IDENTITY

    @property
    def max_question_tokens(self) -> int:
        """Return 0: it runs in the process and costs nothing."""
        return 0

    def word_rank(self, word: str) -> int | None:
        """Rank a lower-case word among the tokenizer's pieces of ordinary language; None if none.

        Pieces are numbered by how early they were merged, which follows how common
        they are in the text that it was trained on; a word that is one piece is ordinary or a name.
        """
        forms = (word, word.capitalize())
        numbers = [n for form in forms if (n := self.pieces.find_id(SPACE + form)) is not None]
        return min(numbers, default=None)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as unit vectors (zeros for a text without tokens), (len(texts), 256) float32.

        Every number is the same on every machine: the sums of up to 16,384 tokens are exact in
        float64, their squares are added from left to right, and the quotient is rounded once.
        """
        vectors = np.zeros((len(texts), self.codes.shape[1]), dtype=np.float32)
        for row, text in enumerate(texts):
            if ids := self.pieces.encode(text):
                sums = self.scales[ids].astype(np.float64) @ self.codes[ids].astype(np.float64)
                square = np.add.accumulate(sums * sums)[-1]
                if square > 0:
                    vectors[row] = sums / np.sqrt(square)
        return vectors


def load_local_embedder(folder: Path, *, verify: bool = True) -> LocalEmbedder:
    """Open the two data files in a folder; EmbedderError if one is missing or altered.

    verify: compare their hashes.
    """
    for name, digest in MODEL_FILE_DIGESTS.items():
        path = folder / name
        if not path.is_file():
            raise EmbedderError(
                f"{path}: the local embedder's file is missing; run the build again"
            )
        if verify and hash_file(path) != digest:
            raise EmbedderError(
                f"{path}: not the file that this version of mkdocs-answerable derives; run the "
                "build again"
            )
    # Not as a text: some pieces end in a carriage return, which is no line end here.
    pieces = (folder / PIECES_FILE).read_bytes().decode("utf-8").split("\n")
    tensors = map_safetensors(folder / TOKEN_TABLE_FILE)
    return LocalEmbedder(TokenPieces(pieces), tensors["codes"], tensors["scales"])


def has_model_files(folder: Path) -> bool:
    """Tell whether a folder holds the two data files, unaltered."""
    return all(
        (folder / name).is_file() and hash_file(folder / name) == digest
        for name, digest in MODEL_FILE_DIGESTS.items()
    )


_TENSOR_TYPES = {"F16": "<f2", "F32": "<f4", "I8": "|i1"}


def map_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the tensors of a safetensors file: an 8-byte length, a JSON header, raw data."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    tensors: dict[str, NDArray[Any]] = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            first, end = (start + offset for offset in tensor["data_offsets"])
            values = data[first:end].view(_TENSOR_TYPES[tensor["dtype"]])
            tensors[name] = values.reshape(tensor["shape"])
    return tensors
