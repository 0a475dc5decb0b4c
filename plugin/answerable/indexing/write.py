"""Writer of an index: its files, and the manifest that names them."""

import contextlib
import datetime as dt
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.embedders.local_embedder import LOCAL_IDENTITY
from ..engine.errors import BundleError, SiteError
from ..engine.index.column_types import pack_columns, select_rows, shorten_places
from ..engine.index.columns import COLUMNS, Index, count_rows, list_columns
from ..engine.index.format import Container, deflate, join_content
from ..engine.index.manifest import (
    MANIFEST_FILE,
    Manifest,
    Pack,
    Part,
    Profile,
    compute_bundle_id,
    is_pack_name,
    name_file,
    read_manifest,
)
from ..engine.retrieval.store import MIN_SHARED_LETTERS
from ..engine.vectors import EmbedderIdentity
from .files import lock_folder, remove_leftovers, write_private_file
from .letters import write_letters_pattern

# Passages or answers in a part: the vectors of these have 2 kB.
_ROWS_PER_PART = 8
# What every question in a browser needs at once lies in one file.
_PACK_BY_KIND = {"questions": "core", "signs": "core"}
# A question reads a part for each of its words: one with this many postings has some 3 kB.
_POSTINGS_PER_PART = 1_500
# A file this large holds more than one question needs, and an edit of a page renews it.
_PACK_BYTES = 192_000


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """An index as it is written: its manifest, and its files by name."""

    manifest: Manifest
    files: Mapping[str, bytes]


def pack_index(
    index: Index, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> IndexFiles:
    """Pack an index into its files. now: the time of the build."""
    dimensions = index.codes.codes.shape[1]
    short = shorten_places(index)
    terms = _divide_terms(index)
    rows: dict[str, Sequence[Sequence[int]]] = {
        "texts": _divide(len(index.passage_ids)),
        "answers": _divide(len(index.answers)),
        "terms": list(terms.values()),
    }
    if not _is_mapped("codes", identity):
        rows["codes"] = rows["texts"]
    parts: dict[str, list[tuple[Part, bytes]]] = {}

    def add(kind: str, container: Container) -> None:
        content = join_content(container)
        is_compressed = not _is_mapped(kind, identity)
        data = deflate(content) if is_compressed else content
        part = Part(kind, len(data), len(content) if is_compressed else 0)
        parts.setdefault(_PACK_BY_KIND.get(kind, kind), []).append((part, data))

    for kind in dict.fromkeys(column.file for column in COLUMNS):
        columns = list_columns(kind)
        for selected in rows.get(kind, [None]):
            chosen = short
            if selected is not None:
                chosen = Index(**select_rows(columns, index, selected))
            container = pack_columns(columns, chosen)
            if kind == "core":
                # A browser knows the scripts of letters by no other means.
                letters = {"letters": write_letters_pattern(index.site.scripts)}
                container = Container({**letters, **container.values}, container.arrays)
            add(kind, container)
    if identity == LOCAL_IDENTITY:
        # A bit for each dimension of each passage, set for a code above 0.
        add("signs", Container({}, {"signs": np.packbits(index.codes.codes > 0, 1).ravel()}))
    files: dict[str, bytes] = {}
    packs: list[Pack] = []
    for kind, listed in parts.items():
        for joined, data in _cut_packs(listed, is_whole=kind == "core"):
            packs.append(Pack(name_file(kind, data), joined))
            # Two files may be equal, such as the vectors of equal passages.
            files[packs[-1].name] = data
    manifest = Manifest(
        id=compute_bundle_id(identity, profile, dimensions, packs),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        dimensions=dimensions,
        counts=count_rows(index),
        packs=tuple(packs),
        rows_per_part=_ROWS_PER_PART,
        term_starts=tuple(terms),
    )
    return IndexFiles(manifest, files)


def _is_mapped(kind: str, identity: EmbedderIdentity) -> bool:
    """True for vectors that no browser loads: a function maps them instead of reading them."""
    return kind == "vectors" or (kind == "codes" and identity != LOCAL_IDENTITY)


def _divide(count: int) -> list[Sequence[int]]:
    """Divide rows among parts."""
    rows = range(count)
    return [rows[start : start + _ROWS_PER_PART] for start in rows[::_ROWS_PER_PART]]


def _divide_terms(index: Index) -> dict[str, list[int]]:
    """Divide the terms among parts: the rows of each, by the beginning of its first words.

    Words that begin alike are in one part, in the order of a browser's texts. A term is in each
    part that one of its forms belongs to, so that a question finds all that it reads of a word by
    the word alone.
    """
    rows_by_beginning: dict[str, list[int]] = {}
    for row, forms in enumerate(zip(index.terms, *index.forms.values(), strict=True)):
        words = (word for text in forms for word in text.split())
        for beginning in {word[:MIN_SHARED_LETTERS] for word in words}:
            rows_by_beginning.setdefault(beginning, []).append(row)
    sizes = np.diff(index.postings.edges.astype(np.int64))
    parts: dict[str, list[int]] = {"": []}
    filled, first = 0, ""
    for beginning in sorted(rows_by_beginning, key=_order_as_browsers):
        if filled >= _POSTINGS_PER_PART:
            filled, first = 0, beginning
        rows = rows_by_beginning[beginning]
        parts.setdefault(first, []).extend(rows)
        filled += int(sizes[rows].sum())
    return {first: sorted(set(rows)) for first, rows in parts.items()}


def _order_as_browsers(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _cut_packs(
    parts: Iterable[tuple[Part, bytes]], *, is_whole: bool
) -> Iterator[tuple[tuple[Part, ...], bytes]]:
    """Join parts to files of about one size, in order, or all of them to one."""
    joined: list[Part] = []
    content = bytearray()
    for part, data in parts:
        if len(content) >= _PACK_BYTES and not is_whole:
            yield tuple(joined), bytes(content)
            joined, content = [], bytearray()
        joined.append(part)
        content += data
    if joined:
        yield tuple(joined), bytes(content)


def describe_manifest(manifest: Manifest) -> dict[str, Any]:
    """Describe a manifest with the table of columns, by which a browser reads the files."""
    table = [[column.name, column.file, column.type] for column in COLUMNS]
    # In one order, whether they are counted now or read from the last build.
    counts = dict(sorted(manifest.counts.items()))
    return {**manifest.as_json(), "counts": counts, "columns": table}


def format_manifest(manifest: Manifest) -> bytes:
    """Format the manifest as it is written into a bundle's folder."""
    data = describe_manifest(manifest)
    return f"{json.dumps(data, separators=(',', ':'), sort_keys=True)}\n".encode()


def keep_manifest(packed: IndexFiles, folder: Path) -> IndexFiles:
    """Keep the manifest of a bundle's folder, with its time, if it holds the same index."""
    try:
        last = read_manifest(folder)
    except BundleError:
        return packed
    manifest = packed.manifest
    is_same = (last.id, last.generator) == (manifest.id, manifest.generator)
    return replace(packed, manifest=last) if is_same else packed


def write_index(packed: IndexFiles, folder: Path) -> None:
    """Write an index into a bundle's folder, which its owner alone can read.

    The manifest is replaced last, in one step; files that it does not name are removed after. Of
    two builds at once, one waits for the other.
    """
    with lock_folder(folder):
        remove_leftovers(folder)
        for name, data in packed.files.items():
            write_private_file(folder / name, data)
        write_private_file(folder / MANIFEST_FILE, format_manifest(packed.manifest))
        # Commands compare its time with that of the sources, which need not have changed the index.
        os.utime(folder / MANIFEST_FILE)
        for path in folder.iterdir():
            # Nothing else that lies beside the files of earlier bundles is removed.
            if path.name not in packed.files and is_pack_name(path.name):
                # On Windows a file that a reader has mapped stays until the next build.
                with contextlib.suppress(OSError):
                    path.unlink()


def parse_build_time(epoch: str | None) -> dt.datetime:
    """Parse a reproducible build's SOURCE_DATE_EPOCH, None for now; SiteError if not a number."""
    if epoch is None:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise SiteError(
            f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds; correct or unset it"
        ) from None
