"""Write the local embedder's model as files for the browser: its vocabulary, rows in shards.

A question fetches the shards of its tokens. Common pieces come first, both of the site and of
technical English, and the cost of a question is least where a shard's size grows with the root of
its place in that order (the shares of words fall with their rank, by Zipf's law).
``engine/local_embedder.js`` reads the files.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from ...serve.embedders.token_pieces import FIRST_MERGED, SPACE, TokenPieces
from ..local_model import derive_token_table, read_pieces
from .addressed_files import AddressedFiles, address_files
from .container import Container, pack_container

MODEL_KIND = "model"
VOCABULARY_FILE = "vocabulary.bin"
# The pieces with characters beyond ASCII, which few questions need.
UNICODE_VOCABULARY_FILE = "unicode-vocabulary.bin"

# Pieces that are common in technical English, as `tests/support/common_pieces.py` counts them, the
# most common first: three classes with an empty line between, each in the order of ids.
COMMON_PIECES_FILE = Path(__file__).with_name("common_pieces.txt")

# Measured on 148 real questions about two sites, of 13.5 tokens: 384 files, and 74 kB of rows for a
# first question, 102 kB in an order that knows nothing of the site.
_ASCII_GROWTH = 0.87
_UNICODE_GROWTH = 8.0
_MIN_ROWS = 8
# Pieces are as common if the numbers of their passages have as many digits in this base. Finer
# steps cost more in the vocabulary than they save.
_COUNT_BASE = 4


def write_model_files(texts: Iterable[str] = ()) -> AddressedFiles:
    """Derive the files of the model for a site; EmbedderError.

    texts: of its passages, whose pieces are asked for most.
    """
    pieces = read_pieces()
    codes, scales = derive_token_table()
    ascii_ids, unicode_ids = _order_ids(pieces, _count_texts(pieces, texts))
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


def _count_texts(pieces: Sequence[str], texts: Iterable[str]) -> Counter[int]:
    """Count the texts that have each piece, by its id."""
    tokenizer = TokenPieces(pieces)
    return Counter(chain.from_iterable(set(tokenizer.encode(text)) for text in texts))


def _order_ids(pieces: Sequence[str], counts: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """Order the ids of pieces in ASCII, and of all others, the common ones first.

    counts: of texts by id.
    """
    ids = range(FIRST_MERGED, len(pieces))
    classes = COMMON_PIECES_FILE.read_text("utf-8").rstrip("\n").split("\n\n")
    levels = {
        piece: level
        for level, part in enumerate(reversed(classes), 1)
        for piece in part.split("\n")
    }

    def place(number: int) -> tuple[int, bool, int]:
        digits = math.floor(math.log(counts[number], _COUNT_BASE)) + 1 if number in counts else 0
        level = digits + levels.get(pieces[number], 0)
        # Of all others single characters come first: words that no piece has are made of them.
        return -level, not level and len(pieces[number]) > 1, number

    ordered = sorted(ids, key=place)
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
