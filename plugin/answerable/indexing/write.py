"""Writer of an index: its files, and the manifest that names them."""

import contextlib
import datetime as dt
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..engine.embedders.embedder import EmbedderIdentity
from ..engine.embedders.local_embedder import LOCAL_IDENTITY
from ..engine.errors import BundleError, SiteError
from ..engine.index.columns import (
    COLUMNS,
    PRIVATE_KINDS,
    Index,
    count_rows,
    list_columns,
    pack_columns,
)
from ..engine.index.format import Container, deflate, join_content
from ..engine.index.manifest import (
    MANIFEST_FILE,
    IndexFile,
    Manifest,
    Profile,
    compute_bundle_id,
    is_stored_file_name,
    name_file,
    read_manifest,
)
from ..engine.index.places import shorten_places
from ..engine.index.stored_answers import ANSWERS_PER_SHARD
from .files import lock_folder, remove_leftovers, write_private_file
from .letters import write_letters_pattern
from .packs import divide_terms, serialize_signs, split_passages


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """An index as it is written: its manifest, and its files by name."""

    manifest: Manifest
    files: Mapping[str, bytes]

    def list_public(self) -> dict[str, bytes]:
        """List the files that a site publishes."""
        kinds = {file.name: file.kind for file in self.manifest.files}
        return {n: data for n, data in self.files.items() if kinds[n] not in PRIVATE_KINDS}


def pack_index(
    index: Index, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> IndexFiles:
    """Pack an index into its files. now: the time of the build."""
    dimensions = index.codes.codes.shape[1]
    short = shorten_places(index)
    contents: list[tuple[str, bytes]] = []
    starts, parts = _divide(index, identity)
    for kind in dict.fromkeys(column.file for column in COLUMNS):
        columns = list_columns(kind)
        for rows in parts.get(kind, [None]):
            container = pack_columns(columns, short if rows is None else _select(index, kind, rows))
            if kind == "core":
                # A browser knows the scripts of letters by no other means.
                letters = {"letters": write_letters_pattern(index.site.scripts)}
                container = Container({**letters, **container.values}, container.arrays)
            contents.append((kind, join_content(container)))
    if identity == LOCAL_IDENTITY:
        contents += (("signs", join_content(part)) for part in serialize_signs(index.codes.codes))
    files: dict[str, bytes] = {}
    listed: list[IndexFile] = []
    for kind, content in contents:
        is_compressed = not _is_mapped(kind, identity)
        data = deflate(content) if is_compressed else content
        name = name_file(kind, data)
        # Two parts may be equal, such as the vectors of equal passages.
        files[name] = data
        listed.append(IndexFile(name, len(data), len(content) if is_compressed else 0))
    manifest = Manifest(
        id=compute_bundle_id(identity, profile, dimensions, listed),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        dimensions=dimensions,
        counts=count_rows(index),
        files=tuple(listed),
        starts=starts,
    )
    return IndexFiles(manifest, files)


def _is_mapped(kind: str, identity: EmbedderIdentity) -> bool:
    """True for vectors that no browser loads: a function maps them instead of reading them."""
    return kind == "vectors" or (kind == "codes" and identity != LOCAL_IDENTITY)


def _divide(
    index: Index, identity: EmbedderIdentity
) -> tuple[dict[str, tuple[Any, ...]], dict[str, Sequence[Sequence[int]]]]:
    """Divide columns among files: where each begins, and the rows of each, by kind."""
    records = index.passage_records.tolist()
    starts: dict[str, tuple[Any, ...]] = {}
    parts: dict[str, Sequence[Sequence[int]]] = {}
    firsts = {kind: split_passages(kind, records) for kind in ("texts", "codes")}
    firsts["answers"] = list(range(0, len(index.answers), ANSWERS_PER_SHARD))
    if _is_mapped("codes", identity):
        firsts["codes"] = [0]
    for kind, rows in firsts.items():
        end = len(index.answers) if kind == "answers" else len(records)
        starts[kind] = tuple(rows)
        parts[kind] = [range(first, last) for first, last in pairwise([*rows, end])]
    terms = divide_terms(index)
    starts["terms"], parts["terms"] = tuple(terms), list(terms.values())
    return starts, parts


def _select(index: Index, kind: str, rows: Sequence[int]) -> Index:
    """Select some rows of the columns of a kind."""
    columns = {
        column.name: column.codec.select(getattr(index, column.name), rows)
        for column in list_columns(kind)
    }
    return Index(**columns)


def describe_manifest(manifest: Manifest) -> dict[str, Any]:
    """Describe a manifest with the table of columns, by which a browser reads the files."""
    table = [[column.name, column.file, column.type] for column in COLUMNS]
    return {**manifest.as_json(), "columns": table}


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
            if path.name not in packed.files and is_stored_file_name(path.name):
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
