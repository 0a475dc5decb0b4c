"""The local embedder: pieces of words, their static vectors, and the mean of a text."""

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError, EmbedderError
from ..index.format import Container, hash_files, unpack_container
from ..rules import RULES, compile_rule
from .embedder import EmbedderIdentity, Vectors

# How pieces write a space; every text begins with one.
SPACE: str = RULES["local_embedder"]["SPACE"]
# Before the pieces that are merged come three special ones and one for each byte.
SPECIAL_PIECES: tuple[str, ...] = tuple(RULES["local_embedder"]["SPECIAL_PIECES"])
FIRST_BYTE: int = RULES["local_embedder"]["FIRST_BYTE"]
FIRST_MERGED = FIRST_BYTE + 256

# Runs of spaces merge after everything else.
SPACES_RANK: int = RULES["local_embedder"]["SPACES_RANK"]
# Two splits of one piece: the one with the earlier left half goes first.
LEFT_IDS: int = RULES["local_embedder"]["LEFT_IDS"]

_SPECIAL = compile_rule("local_embedder", "SPECIAL")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Letters, and punctuation, join characters beyond ASCII: such a run is one word.
_WORD = compile_rule("local_embedder", "WORD")

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

    def list_pieces(self) -> list[str]:
        """List the pieces that are merged, in the order of ids."""
        return list(self._ids)

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


LOCAL_IDENTITY = EmbedderIdentity(
    provider="local", model="wordllama-l2-supercat-int8", dimensions=256
)

# The hash of the model's files, which name themselves by it where they are published. They are the
# same for all sites: `plugin/model/hatch_build.py` derives them from the wheel wordllama
# 0.2.2.post0.
MODEL_ID = "bf30245483104ad9"
VOCABULARY_FILE = "vocabulary.bin"
# The pieces with characters beyond ASCII, which few questions need.
UNICODE_VOCABULARY_FILE = "unicode-vocabulary.bin"


def name_shard(number: int) -> str:
    """Name the file of a shard of rows."""
    return f"rows-{number:03}.bin"


class TokenTable:
    """Vectors of all pieces, of which each shard is read when a text first needs a row of it.

    ``codes`` (pieces, d) int8 times ``scales`` (pieces,) float32 are the vectors. ``shards``: the
    ids of the pieces in each.
    """

    def __init__(self, folder: Path, shards: Sequence[NDArray[np.intp]], dimensions: int) -> None:
        self._folder = folder
        self.shards = shards
        pieces = sum(map(len, shards))
        self._shard_of = np.empty(pieces, dtype=np.intp)
        for number, ids in enumerate(shards):
            self._shard_of[ids] = number
        # The system gives memory to what is written only.
        self.codes: NDArray[np.int8] = np.zeros((pieces, dimensions), dtype=np.int8)
        self.scales: NDArray[np.float32] = np.zeros(pieces, dtype=np.float32)
        self._is_read = np.zeros(len(shards), dtype=np.bool_)

    def read_rows(self, ids: Sequence[int]) -> None:
        """Read the shards of some pieces that have not been read; EmbedderError."""
        numbers = self._shard_of[ids]
        for number in sorted(set(numbers[~self._is_read[numbers]].tolist())):
            shard = _read_container(self._folder / name_shard(number))
            rows = self.shards[number]
            self.codes[rows] = shard.arrays["codes"].reshape(len(rows), -1)
            self.scales[rows] = shard.arrays["scales"]
            # Last: another thread may need the rows meanwhile.
            self._is_read[number] = True


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """Average a text's token vectors and normalize the mean."""

    pieces: TokenPieces
    table: TokenTable

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
        table = self.table
        vectors = np.zeros((len(texts), table.codes.shape[1]), dtype=np.float32)
        for row, text in enumerate(texts):
            if ids := self.pieces.encode(text):
                table.read_rows(ids)
                sums = table.scales[ids].astype(np.float64) @ table.codes[ids].astype(np.float64)
                square = np.add.accumulate(sums * sums)[-1]
                if square > 0:
                    vectors[row] = sums / np.sqrt(square)
        return vectors


def load_local_embedder(folder: Path, *, verify: bool = True) -> LocalEmbedder:
    """Open the model's files in a folder; EmbedderError if one is missing or altered.

    verify: compare the hash of all. Else one is missed when a text needs it.
    """
    if verify and not has_model_files(folder):
        raise EmbedderError(
            f"{folder}: not the files of the local embedder that this version of "
            "mkdocs-answerable has; run the build again"
        )
    pieces = [""] * FIRST_MERGED
    shards: list[NDArray[np.intp]] = [np.arange(FIRST_MERGED)]
    dimensions = LOCAL_IDENTITY.dimensions
    for name in (VOCABULARY_FILE, UNICODE_VOCABULARY_FILE):
        vocabulary = _read_container(folder / name)
        values, arrays = vocabulary.values, vocabulary.arrays
        pieces += [""] * (values["pieces"] - len(pieces))
        steps = arrays["lowSteps"].astype(np.intp) + 256 * arrays["highSteps"].astype(np.intp)
        ids = np.cumsum(steps) % (1 << 16)
        texts = arrays["text"].tobytes().decode("utf-8").replace(" ", SPACE).split("\n")
        for number, text in zip(ids.tolist(), texts, strict=True):
            pieces[number] = text
        shards += np.split(ids, values["starts"][1:])
    return LocalEmbedder(TokenPieces(pieces), TokenTable(folder, shards, dimensions))


def read_model_files(folder: Path) -> dict[str, bytes]:
    """Read the model's files by name; none where there is no such folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.bin"))}


def has_model_files(folder: Path) -> bool:
    """Tell whether a folder holds the model's files, unaltered."""
    return hash_files(read_model_files(folder)) == MODEL_ID


def _read_container(path: Path) -> Container:
    try:
        return unpack_container(path.read_bytes(), path.name)
    except FileNotFoundError:
        raise EmbedderError(
            f"{path}: the local embedder's file is missing; run the build again"
        ) from None
    except BundleError as error:
        raise EmbedderError(f"{path.parent}: {error}") from None
