"""Embed in the process, without a key: the mean of a text's static token vectors (WordLlama)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.compression import hash_file
from ..errors import EmbedderError
from .embedder import EmbedderIdentity, Vectors
from .token_pieces import SPACE, TokenPieces

# The pieces by their ids, one a line.
VOCABULARY_FILE = "vocabulary.txt"
# Two tensors: "codes" (tokens, 256) int8 and "scales" (tokens,) float32.
TOKEN_TABLE_FILE = "token_table.safetensors"
LOCAL_IDENTITY = EmbedderIdentity(
    provider="local", model="wordllama-l2-supercat-int8", dimensions=256
)

# SHA-256 of the two files, which a build derives from the wheel wordllama 0.2.2.post0.
MODEL_FILE_DIGESTS = {
    VOCABULARY_FILE: "0f97b4337921e6e7e9b4620fc73338ee570aecd3c16038bc23870a887e995045",
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
    pieces = (folder / VOCABULARY_FILE).read_bytes().decode("utf-8").split("\n")
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
