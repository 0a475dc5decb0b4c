"""The local embedder: pieces of words, their static vectors, and the mean of a text."""

import heapq
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError, EmbedderError
from ..index.format import Container, hash_files, inflate, unpack_container
from ..rules import RULES, compile_rule
from ..vectors import EmbedderIdentity, Floats

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
    """What encodes texts as ids of the pieces of a vocabulary, which is given in the order of ids.

    ``ids``: of each piece that is merged, and is neither special nor a byte.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.ids = dict(zip(pieces[FIRST_MERGED:], range(FIRST_MERGED, len(pieces)), strict=True))
        self._encode_cached = lru_cache(maxsize=_CACHED_WORDS)(self._encode_word)

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
        if word in self.ids:
            return (self.ids[word],)
        parts = list(word)
        followers = list(range(1, len(parts) + 1))
        predecessors = list(range(-1, len(parts) - 1))
        # (rank, position, left, right); a pair is stale when a part of it was merged meanwhile.
        pairs: list[tuple[int, int, str, str]] = []

        def add_pair(position: int, left: str, right: str) -> None:
            merged = self.ids.get(left + right)
            if merged is not None:
                if left[0] == SPACE == right[0]:
                    merged += SPACES_RANK
                rank = merged * LEFT_IDS + self.ids[left]
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
        ids: list[int] = []
        for part in filter(None, parts):
            number = self.ids.get(part)
            ids += [FIRST_BYTE + byte for byte in part.encode()] if number is None else [number]
        return tuple(ids)


LOCAL_IDENTITY = EmbedderIdentity(
    provider="local", model="wordllama-l2-supercat-int8", dimensions=256
)

# The hash of the model's files, which name themselves by it where they are published. They are the
# same for all sites: `plugin/model/hatch_build.py` derives them from the wheel wordllama
# 0.2.2.post0.
MODEL_ID = "f30ce4f4c7075b45"
VOCABULARY_FILE = "vocabulary.bin"
# The pieces with characters beyond ASCII, which few questions need.
UNICODE_VOCABULARY_FILE = "unicode-vocabulary.bin"


def name_pack(number: int) -> str:
    """Name a file of rows."""
    return f"rows-{number:02}.bin"


class TokenTable:
    """Vectors of all pieces; a part of them is read when a text first needs one of its rows.

    ``codes`` (pieces, d) int8 times ``scales`` (pieces,) float32 are the vectors.
    """

    def __init__(self, folder: Path, ids: Sequence[int], vocabulary: Container, width: int) -> None:
        self._folder = folder
        arrays = vocabulary.arrays
        # The ids of the pieces in each part.
        self._parts = np.split(np.array(ids), np.cumsum(arrays["rows"], dtype=np.intp)[:-1])
        self._part_of = np.empty(len(ids), dtype=np.intp)
        for number, part in enumerate(self._parts):
            self._part_of[part] = number
        self._sizes, self._packs = arrays["bytes"].astype(int), arrays["packs"].tolist()
        # The system gives memory to what is written only.
        self.codes: NDArray[np.int8] = np.zeros((len(ids), width), dtype=np.int8)
        self.scales: NDArray[np.float32] = np.zeros(len(ids), dtype=np.float32)
        self._is_read = np.zeros(len(self._parts), dtype=np.bool_)
        self._store(0, arrays["scales"], arrays["codes"])

    def read_rows(self, ids: Sequence[int]) -> None:
        """Read the parts of some pieces that have not been read; EmbedderError."""
        numbers = self._part_of[ids]
        for number in sorted(set(numbers[~self._is_read[numbers]].tolist())):
            pack = self._packs[number]
            path = self._folder / name_pack(pack)
            start = int(self._sizes[self._packs.index(pack) : number].sum())
            rows = len(self._parts[number])
            size = rows * (self.scales.itemsize + self.codes.shape[1])
            with _named_errors(path), path.open("rb") as file:
                file.seek(start)
                content = inflate(file.read(self._sizes[number]), path.name, size)
            scales = np.frombuffer(content, "<f4", rows)
            self._store(number, scales, np.frombuffer(content, np.int8, offset=scales.nbytes))

    def _store(self, number: int, scales: NDArray[Any], codes: NDArray[Any]) -> None:
        rows = self._parts[number]
        self.codes[rows] = codes.reshape(len(rows), -1)
        self.scales[rows] = scales
        # Last: another thread may need the rows meanwhile.
        self._is_read[number] = True


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """An embedder that averages the vectors of a text's tokens and normalizes the mean."""

    pieces: TokenPieces
    table: TokenTable
    identity: EmbedderIdentity = LOCAL_IDENTITY
    # It runs in the process and costs nothing.
    max_question_tokens: int = 0

    def word_rank(self, word: str) -> int | None:
        """Rank a lower-case word among the tokenizer's pieces of ordinary language; None if none.

        Pieces are numbered by how early they were merged, which follows how common
        they are in the text that it was trained on; a word that is one piece is ordinary or a name.
        """
        ids = self.pieces.ids
        forms = (SPACE + word, SPACE + word.capitalize())
        return min((ids[form] for form in forms if form in ids), default=None)

    def embed(self, texts: Sequence[str]) -> Floats:
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
    common, other = (
        _read_container(folder / n) for n in (VOCABULARY_FILE, UNICODE_VOCABULARY_FILE)
    )
    ids = [*_read_ids(common), *range(FIRST_MERGED), *_read_ids(other)]
    pieces = [""] * len(ids)
    for vocabulary in (common, other):
        text = vocabulary.arrays["text"].tobytes().decode("utf-8").replace(" ", SPACE)
        for number, piece in zip(_read_ids(vocabulary), text.split("\n"), strict=True):
            pieces[number] = piece
    table = TokenTable(folder, ids, common, LOCAL_IDENTITY.dimensions)
    return LocalEmbedder(TokenPieces(pieces), table)


def _read_ids(vocabulary: Container) -> list[int]:
    """Read the ids of the pieces of a vocabulary, in the order of its text."""
    low, high = (vocabulary.arrays[name].astype(np.intp) for name in ("lowSteps", "highSteps"))
    ids: list[int] = (np.cumsum(low + 256 * high) % (1 << 16)).tolist()
    return ids


def read_model_files(folder: Path) -> dict[str, bytes]:
    """Read the model's files by name; none where there is no such folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.bin"))}


def has_model_files(folder: Path) -> bool:
    """True if a folder holds the model's files, unaltered."""
    return hash_files(read_model_files(folder)) == MODEL_ID


def _read_container(path: Path) -> Container:
    with _named_errors(path):
        return unpack_container(path.read_bytes(), path.name)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Raise EmbedderError for a file of the model that is missing or damaged."""
    try:
        yield
    except FileNotFoundError:
        raise EmbedderError(
            f"{path}: the local embedder's file is missing; run the build again"
        ) from None
    except BundleError as error:
        raise EmbedderError(f"{path.parent}: {error}") from None
