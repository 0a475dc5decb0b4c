"""Write the local embedder's model as files for the browser: its vocabulary, rows in shards.

A question fetches the shards of its tokens. Common pieces come first, and the cost of a question is
least where a shard's size grows with the root of its place in that order (the shares of words fall
with their rank, by Zipf's law). ``engine/local_embedder.js`` reads the files.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...serve.embedders.token_pieces import FIRST_MERGED, SPACE
from ..local_model import derive_token_table, read_pieces
from .addressed_files import AddressedFiles, address_files
from .container import Container, pack_container

MODEL_KIND = "model"
VOCABULARY_FILE = "vocabulary.bin"
# The pieces with characters beyond ASCII, which few questions need.
UNICODE_VOCABULARY_FILE = "unicode-vocabulary.bin"

# Pieces that are common in technical English, as tests/support/common_pieces.py counts them: three
# classes with an empty line between, each in the order of ids, which takes least space.
COMMON_PIECES_FILE = Path(__file__).with_name("common_pieces.txt")

# Measured on 148 real questions of 14.5 tokens: 390 files, and 94 kB of rows for a first question.
_ASCII_GROWTH = 0.9
_UNICODE_GROWTH = 4.0
_MIN_ROWS = 8


def write_model_files() -> AddressedFiles:
    """Derive the files of the model; their folder is the same for every site. EmbedderError."""
    pieces = read_pieces()
    codes, scales = derive_token_table()
    ascii_ids, unicode_ids = _order_ids(pieces)
    # The special pieces and those of bytes are the first shard.
    shards: list[Sequence[int]] = [range(FIRST_MERGED)]
    files: dict[str, bytes] = {}
    for name, ids, growth in (
        (VOCABULARY_FILE, ascii_ids, _ASCII_GROWTH),
        (UNICODE_VOCABULARY_FILE, unicode_ids, _UNICODE_GROWTH),
    ):
        starts = list(_split_rows(len(ids), growth))
        places = {"firstShard": len(shards), "starts": starts}
        sizes = {"pieces": len(pieces), "dimensions": codes.shape[1]}
        files[name] = _pack_vocabulary(pieces, ids, {**sizes, **places})
        shards += (ids[start:end] for start, end in pairwise([*starts, len(ids)]))
    files |= {
        name_shard(number): pack_container(
            Container({}, {"scales": scales[shard], "codes": codes[shard].reshape(-1)})
        )
        for number, shard in enumerate(map(list, shards))
    }
    return address_files(MODEL_KIND, files)


def name_shard(number: int) -> str:
    """Name the file of a shard of rows."""
    return f"rows/{number:03}.bin"


def _order_ids(pieces: Sequence[str]) -> tuple[list[int], list[int]]:
    """Order the ids of pieces in ASCII, and of all others.

    Common ones come first, by their class, then single characters, and all others by id.
    """
    ids = range(FIRST_MERGED, len(pieces))
    classes = COMMON_PIECES_FILE.read_text("utf-8").rstrip("\n").split("\n\n")
    class_of = {piece: n for n, part in enumerate(classes) for piece in part.split("\n")}
    ordered = sorted(
        ids,
        key=lambda n: (class_of.get(pieces[n], len(classes)), len(pieces[n]) > 1, n),
    )
    is_ascii = {number: pieces[number].replace(SPACE, " ").isascii() for number in ids}
    return [n for n in ordered if is_ascii[n]], [n for n in ordered if not is_ascii[n]]


def _split_rows(count: int, growth: float) -> Iterator[int]:
    """Yield the first row of each shard."""
    start = 0
    while start < count:
        yield start
        start += max(_MIN_ROWS, int(growth * math.sqrt(start)))


def _pack_vocabulary(
    pieces: Sequence[str], ids: Sequence[int], values: Mapping[str, object]
) -> bytes:
    """Pack pieces in the order of their rows, with spaces, and the steps from id to id."""
    text = "\n".join(pieces[number].replace(SPACE, " ") for number in ids)
    # Modulo 65,536 and in two bytes: almost all of the high ones are 0.
    steps = np.diff(np.array(ids), prepend=0).astype("<u2").view(np.uint8).reshape(-1, 2)
    arrays = {
        "text": np.frombuffer(text.encode(), dtype=np.uint8),
        "lowSteps": steps[:, 0],
        "highSteps": steps[:, 1],
    }
    return pack_container(Container(values, arrays))
