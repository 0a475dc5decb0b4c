"""Derive the files of the local embedder's model when the package is built from its source.

The vectors are those of the wheel wordllama, rounded to 8 bits a number. They lie in one order for
all sites, the pieces that are common in questions and in technical English first, compressed in
parts of a few rows, which browsers and Python read as they are needed. Run as a script, it writes
the files if they are not there.
"""

import hashlib
import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugin"))

from answerable.engine.embedders.local_embedder import (
    FIRST_MERGED,
    MODEL_ID,
    SPACE,
    UNICODE_VOCABULARY_FILE,
    VOCABULARY_FILE,
    has_model_files,
    name_pack,
)
from answerable.engine.index.format import (
    Container,
    deflate,
    hash_files,
    pack_container,
)
from answerable.engine.vectors import INT8_TOP, round_symmetric

TARGET = ROOT / "plugin" / "answerable" / "model"

WEIGHTS_FILE = "weights/l2_supercat_256.safetensors"
TOKENIZER_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
# SHA-256 of the two files in the wheel wordllama 0.2.2.post0.
WHEEL_FILE_DIGESTS = {
    WEIGHTS_FILE: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER_FILE: "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
}
# Few enough to stay in a core's cache.
_ROWS_PER_BLOCK = 256

# Pieces that are common in readers' questions, and then in technical English, as the documentation
# of Python packages has it, the most common first: classes with an empty line between, each in the
# order of ids.
COMMON_PIECES_FILE = Path(__file__).with_name("common_pieces.txt")

# The rows of a part: few of the common pieces, of which a question needs many that lie apart. Parts
# of few rows compress less.
COMMON_ROWS, OTHER_ROWS = 8, 32
# The first rows, of which every question needs some, lie beside the vocabulary.
FIRST_ROWS = 64
# With it there are less than 40 files.
PACK_BYTES = 240_000


class ModelBuildHook(BuildHookInterface[Any]):
    """The build hook by which a wheel and an editable installation hold the files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files before the package is put together."""
        del version, build_data
        write_model()


def write_model() -> None:
    """Write the files and their license below the package, unless they are there already."""
    if has_model_files(TARGET):
        return
    fresh = TARGET.with_name(f".{TARGET.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    for name, data in derive_model_files().items():
        (fresh / name).write_bytes(data)
    shutil.copyfile(Path(__file__).with_name("LICENSE"), fresh / "LICENSE")
    shutil.rmtree(TARGET, ignore_errors=True)
    fresh.rename(TARGET)


def derive_model_files() -> Mapping[str, bytes]:
    """Derive the files by name; ValueError if they are not those that the package expects."""
    pieces = read_pieces()
    codes, scales = derive_token_table()
    ascii_ids, unicode_ids = _order_ids(pieces)
    # Those of bytes and the special ones lie between them.
    order = [*ascii_ids, *range(FIRST_MERGED), *unicode_ids]
    common = COMMON_PIECES_FILE.read_text("utf-8").count("\n")
    starts = [0, *range(FIRST_ROWS, common, COMMON_ROWS), *range(common, len(order), OTHER_ROWS)]
    packs = [b""]
    # The first part lies in the vocabulary's file.
    sizes, places = [0], [0]
    for start, end in pairwise([*starts[1:], len(order)]):
        rows = order[start:end]
        data = deflate(scales[rows].tobytes() + codes[rows].tobytes())
        if len(packs[-1]) + len(data) > PACK_BYTES:
            packs.append(b"")
        packs[-1] += data
        sizes.append(len(data))
        places.append(len(packs) - 1)
    first = order[:FIRST_ROWS]
    arrays = {
        "rows": np.diff([*starts, len(order)]).astype("|u1"),
        "bytes": np.array(sizes, "<u2"),
        "packs": np.array(places, "|u1"),
        "scales": scales[first],
        "codes": codes[first].reshape(-1),
    }
    files = {
        VOCABULARY_FILE: _pack_vocabulary(pieces, ascii_ids, arrays),
        UNICODE_VOCABULARY_FILE: _pack_vocabulary(pieces, unicode_ids, {}),
        **{name_pack(number): data for number, data in enumerate(packs)},
    }
    if (model := hash_files(files)) != MODEL_ID:
        raise ValueError(f"the model is {model} instead of {MODEL_ID}: write it in MODEL_ID")
    return files


def find_wheel_file(name: str) -> Path:
    """Find a data file of the installed wordllama, which is not imported; ValueError for another.

    ValueError too if the package is not installed.
    """
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ValueError("wordllama is not installed: run `pip install wordllama==0.2.2.post0`")
    path = Path(spec.origin).parent / name
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    if digest != WHEEL_FILE_DIGESTS[name]:
        raise ValueError(f"{path}: not the file that wordllama 0.2.2.post0 ships; reinstall it")
    return path


def read_pieces() -> list[str]:
    """Read the pieces of the tokenizer in the order of their ids."""
    vocabulary = json.loads(find_wheel_file(TOKENIZER_FILE).read_bytes())["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def derive_token_table() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize the token vectors symmetrically: codes (tokens, d) and the scale of each row."""
    weights = read_weights()
    codes = np.empty(weights.shape, dtype=np.int8)
    peaks = np.empty(len(weights), dtype=np.float32)
    for start in range(0, len(weights), _ROWS_PER_BLOCK):
        span = slice(start, start + _ROWS_PER_BLOCK)
        rows = weights[span].astype(np.float32)
        codes[span] = round_symmetric(rows)
        peaks[span] = np.abs(rows).max(axis=1)
    return codes, peaks / np.float32(INT8_TOP)


def read_weights() -> NDArray[np.float16]:
    """Map the tensor of a safetensors file: an 8-byte length, a JSON header, raw data."""
    data = np.memmap(find_wheel_file(WEIGHTS_FILE), dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    (tensor,) = (header[name] for name in header.keys() - {"__metadata__"})
    first, end = (start + offset for offset in tensor["data_offsets"])
    weights: NDArray[np.float16] = data[first:end].view("<f2").reshape(tensor["shape"])
    return weights


def _order_ids(pieces: Sequence[str]) -> tuple[list[int], list[int]]:
    """Order the ids of pieces in ASCII, and of all others, the common ones first."""
    classes = COMMON_PIECES_FILE.read_text("utf-8").rstrip("\n").split("\n\n")
    levels = {piece: level for level, part in enumerate(classes) for piece in part.split("\n")}

    def place(number: int) -> tuple[int, bool, int]:
        level = levels.get(pieces[number], len(classes))
        # Of all others single characters come first: words that no piece has are made of them.
        return level, level == len(classes) and len(pieces[number]) > 1, number

    ordered = sorted(range(FIRST_MERGED, len(pieces)), key=place)
    is_ascii = {number: pieces[number].replace(SPACE, " ").isascii() for number in ordered}
    return [n for n in ordered if is_ascii[n]], [n for n in ordered if not is_ascii[n]]


def _pack_vocabulary(
    pieces: Sequence[str], ids: Sequence[int], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """Pack pieces in the order of their rows, with spaces, and the steps from id to id."""
    text = "\n".join(pieces[number].replace(SPACE, " ") for number in ids)
    # Modulo 65,536 and in two bytes: almost all of the high ones are 0.
    steps = np.diff(np.array(ids), prepend=0).astype("<u2").view(np.uint8).reshape(-1, 2)
    vocabulary = {
        "text": np.frombuffer(text.encode(), dtype=np.uint8),
        "lowSteps": steps[:, 0],
        "highSteps": steps[:, 1],
    }
    return pack_container(Container({}, {**vocabulary, **arrays}))


if __name__ == "__main__":
    write_model()
