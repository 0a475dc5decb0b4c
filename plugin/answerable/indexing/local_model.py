"""Derive the local embedder's model, 8 bits a number, from the data files of wordllama's wheel."""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.columns import hash_file
from ..serve.embedders.embedder import Embedder, EmbedderIdentity
from ..serve.embedders.local_embedder import (
    PIECES_FILE,
    TOKEN_TABLE_FILE,
    LocalEmbedder,
    TokenPieces,
    map_safetensors,
)
from ..serve.errors import EmbedderError
from ..serve.providers import make_embedder
from ..serve.settings import FunctionSettings
from ..serve.vectors import INT8_TOP, round_symmetric

WEIGHTS_FILE = "weights/l2_supercat_256.safetensors"
TOKENIZER_FILE = "tokenizers/l2_supercat_tokenizer_config.json"

# SHA-256 of the two files in the wheel wordllama 0.2.2.post0.
WHEEL_FILE_DIGESTS = {
    WEIGHTS_FILE: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER_FILE: "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
}
# Few enough to stay in a core's cache.
_ROWS_PER_BLOCK = 256


def make_build_embedder(identity: EmbedderIdentity, settings: FunctionSettings) -> Embedder:
    """Make the embedder of an identity where a site is built: the local one from the wheel."""
    if identity.provider == "local":
        return open_local_embedder()
    return make_embedder(identity, Path(), settings)


def open_local_embedder() -> LocalEmbedder:
    """Open the local embedder with the model derived in memory; EmbedderError."""
    return LocalEmbedder(TokenPieces(read_pieces()), *derive_token_table())


def derive_model_files() -> Mapping[str, bytes]:
    """Derive the files of a function's ``model/`` by name; EmbedderError."""
    return {
        PIECES_FILE: "\n".join(read_pieces()).encode(),
        TOKEN_TABLE_FILE: _serialize_token_table(*derive_token_table()),
    }


def find_wheel_file(name: str) -> Path:
    """Find a data file of the installed wordllama; the package is not imported.

    EmbedderError if it is not installed, or the file is not that of its version.
    """
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderError("wordllama is not installed: run `pip install wordllama==0.2.2.post0`")
    path = Path(spec.origin).parent / name
    if not path.is_file() or hash_file(path) != WHEEL_FILE_DIGESTS[name]:
        raise EmbedderError(f"{path}: not the file that wordllama 0.2.2.post0 ships; reinstall it")
    return path


def read_pieces() -> list[str]:
    """Read the pieces of the tokenizer in the order of their ids; EmbedderError."""
    vocabulary = json.loads(find_wheel_file(TOKENIZER_FILE).read_bytes())["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def derive_token_table() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize the token vectors symmetrically: codes (tokens, d) and the scale of each row.

    EmbedderError if the weights are not those of the wheel.
    """
    (weights,) = map_safetensors(find_wheel_file(WEIGHTS_FILE)).values()
    codes = np.empty(weights.shape, dtype=np.int8)
    peaks = np.empty(len(weights), dtype=np.float32)
    for start in range(0, len(weights), _ROWS_PER_BLOCK):
        span = slice(start, start + _ROWS_PER_BLOCK)
        rows = weights[span].astype(np.float32)
        codes[span] = round_symmetric(rows, INT8_TOP)
        peaks[span] = np.abs(rows).max(axis=1)
    return codes, peaks / np.float32(INT8_TOP)


def _serialize_token_table(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> bytes:
    """Write two tensors in the format safetensors, the numbers little-endian."""
    tensors = {"scales": ("F32", scales.astype("<f4")), "codes": ("I8", codes)}
    header: dict[str, object] = {}
    offset = 0
    for name, (kind, values) in tensors.items():
        end = offset + values.nbytes
        header[name] = {
            "dtype": kind, "shape": list(values.shape), "data_offsets": [offset, end]
        }  # fmt: skip
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    # Padded with spaces, so that the numbers are aligned.
    text += b" " * (-len(text) % 8)
    data = b"".join(values.tobytes() for _, values in tensors.values())
    return len(text).to_bytes(8, "little") + text + data
