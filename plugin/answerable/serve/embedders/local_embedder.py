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
from ..vectors.kernel import normalize_rows
from .embedder import EmbedderIdentity, Vectors

WEIGHTS_FILE = "weights/l2_supercat_256.safetensors"
# How the tokenizer writes the space before a word.
_TOKENIZER_SPACE = "\u2581"
TOKENIZER_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
LOCAL_IDENTITY = EmbedderIdentity(provider="local", model="wordllama-l2-supercat", dimensions=256)

# SHA-256 of the two files in the wheel wordllama 0.2.2.post0.
MODEL_FILE_DIGESTS = {
    WEIGHTS_FILE: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER_FILE: "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
}
_TEXTS_PER_BATCH = 512


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """Average a text's token vectors and normalize the mean.

    ``table`` is (tokens, 256) float16, memory-mapped.
    """

    tokenizer: Any
    table: NDArray[np.float16]

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
        pieces = (f"{_TOKENIZER_SPACE}{form}" for form in (word, word.capitalize()))
        numbers = [n for piece in pieces if (n := self.tokenizer.token_to_id(piece)) is not None]
        return min(numbers, default=None)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as unit vectors (zeros for a text without tokens), (len(texts), 256) float32."""
        vectors = np.zeros((len(texts), LOCAL_IDENTITY.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_PER_BATCH):
            batch = [_replace_surrogates(text) for text in texts[start : start + _TEXTS_PER_BATCH]]
            encodings = self.tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            for row, encoding in enumerate(encodings, start):
                if encoding.ids:
                    vectors[row] = self.table[encoding.ids].astype(np.float32).mean(axis=0)
        return normalize_rows(vectors)


def load_local_embedder(folder: Path, *, verify: bool = True) -> LocalEmbedder:
    """Open the two data files in a folder; EmbedderError if one is missing or altered.

    verify: compare their hashes.
    """
    # A compiled package with a hub client, which is of use to no other embedder.
    from tokenizers import Tokenizer

    for name, digest in MODEL_FILE_DIGESTS.items():
        path = folder / name
        if not path.is_file():
            raise EmbedderError(
                f"{path}: the local embedder's file is missing; run the build again"
            )
        if verify and hash_file(path) != digest:
            raise EmbedderError(
                f"{path}: not the file that wordllama 0.2.2.post0 ships; reinstall it"
            )
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return LocalEmbedder(tokenizer, _map_safetensors(folder / WEIGHTS_FILE))


def _map_safetensors(path: Path) -> NDArray[np.float16]:
    """Map the one tensor of a safetensors file: an 8-byte length, a JSON header, raw data."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    return np.memmap(
        path,
        dtype="<f2",
        mode="r",
        offset=8 + size + tensor["data_offsets"][0],
        shape=tuple(tensor["shape"]),
    )


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")
