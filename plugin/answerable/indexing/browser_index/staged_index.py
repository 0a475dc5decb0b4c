"""The browser's index and model as a build stages and publishes them."""

import contextlib
import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from ...serve.answers.extractive import embed_statements, list_statement_texts
from ...serve.answers.statements import split_statements
from ...serve.bundle_format.manifest import Profile
from ...serve.embedders.embedder import Embedder
from ...serve.embedders.local_embedder import FIRST_MERGED, SPACE, TokenPieces
from ...serve.types import Passage
from ..index import SiteIndex
from ..local_model import derive_token_table, read_pieces
from ..output.files import remove_leftovers, replace_folder, temporary_path
from .container import Container, pack_container
from .index_files import (
    MANIFEST_FILE,
    AddressedFiles,
    BrowserIndex,
    Codes,
    QuantizeStatements,
    address_files,
    select_public_index,
    serialize_browser_index,
)

_FOLDER = re.compile(r"(?:engine|index|model)/[0-9a-f]{16}")


def write_addressed_files(files: AddressedFiles, parent: Path) -> None:
    """Write a folder of files below a parent in one step; one that is there already stays.

    Whoever links to it does so after.
    """
    folder = parent / files.folder
    if _has_files(folder, files):
        return
    fresh = temporary_path(folder)
    try:
        for path, data in files.files.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_bytes(data)
        replace_folder(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def remove_stale_folders(parent: Path, current: Collection[str]) -> None:
    """Remove the folders of earlier builds below a parent, and what a killed build has left.

    current: folders that stay, such as ``index/0123456789abcdef``; the model that an index names
    stays too. Nothing else in the parent is touched.
    """
    published = {
        *current,
        *(model for folder in current if (model := _read_model(parent / folder))),
    }
    for kind in ("engine", "index", "model"):
        remove_leftovers(parent / kind)
    for folder in list(_list_folders(parent)):
        if folder not in published:
            shutil.rmtree(parent / folder, ignore_errors=True)
    for kind in ("engine", "index", "model"):
        # One that has other files stays.
        with contextlib.suppress(OSError):
            (parent / kind).rmdir()


def _list_folders(parent: Path) -> Iterator[str]:
    """List what a build has written: other files there are the author's own."""
    for path in sorted(parent.glob("*/*")):
        folder = path.relative_to(parent).as_posix()
        if _FOLDER.fullmatch(folder) and path.is_dir() and not path.is_symlink():
            yield folder


def _read_model(folder: Path) -> str | None:
    """Read the folder of the model from an index's manifest; None for a folder without one."""
    try:
        model = json.loads((folder / MANIFEST_FILE).read_bytes())["model"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return model if isinstance(model, str) else None


def _has_files(folder: Path, files: AddressedFiles) -> bool:
    """Test whether a folder holds these files and no others."""
    existing = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    return existing == files.files.keys() and all(
        (folder / path).read_bytes() == data for path, data in files.files.items()
    )


def make_statement_quantizer(embedder: Embedder) -> QuantizeStatements:
    """Return a function that embeds the statements of a passage, (statements, dimensions) int8."""

    def quantize_statements(passage: Passage) -> Codes:
        texts = list_statement_texts(passage, split_statements(passage))
        if not texts:
            return np.zeros((0, embedder.identity.dimensions), dtype=np.int8)
        return embed_statements(embedder, texts).codes

    return quantize_statements


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


@dataclass(frozen=True, slots=True)
class StagedBrowserIndex:
    """Hold an index for browsers, and the model that questions are embedded with."""

    index: BrowserIndex
    model: AddressedFiles

    def list_folders(self, built_at: str) -> tuple[AddressedFiles, AddressedFiles]:
        """List the folders to write: the model, and the index, which names it."""
        return self.model, self.index.complete(built_at)


def stage_model(indexes: Iterable[SiteIndex]) -> AddressedFiles:
    """Stage the model for a site; EmbedderError. indexes: of its languages, which share it."""
    passages = (each.passage for index in indexes for each in index.passages)
    return write_model_files(f"{passage.title}\n{passage.text}" for passage in passages)


def stage_browser_index(
    index: SiteIndex, profile: Profile, embedder: Embedder, bundle_id: str, model: AddressedFiles
) -> StagedBrowserIndex:
    """Stage an index; SiteError for one with notes, of which nothing may reach a browser."""
    public, quantize = select_public_index(index, profile), make_statement_quantizer(embedder)
    return StagedBrowserIndex(
        serialize_browser_index(public, quantize, bundle_id, model.folder), model
    )
