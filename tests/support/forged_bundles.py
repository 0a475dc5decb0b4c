"""Bundles that somebody changed who knows the format: their manifests agree with their files."""

import json
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from answerable.engine.index.format import (
    Container,
    join_content,
    pack_container,
    parse_content,
    unpack_container,
)
from answerable.engine.index.manifest import (
    MANIFEST_FILE,
    Pack,
    Part,
    compute_bundle_id,
    name_file,
    read_manifest,
)
from answerable.indexing.write import format_manifest


def find_stored(folder: Path, kind: str) -> Path:
    """Find the first file of a kind in a bundle."""
    return folder / next(x.name for x in read_manifest(folder).packs if x.kind == kind)


def read_stored(folder: Path, kind: str) -> Container:
    """Read the first container of the first file of a kind."""
    part = next(pack for pack in read_manifest(folder).packs if pack.kind == kind).parts[0]
    data = find_stored(folder, kind).read_bytes()[: part.bytes]
    return unpack_container(data, kind) if part.content else parse_content(data, kind)


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest's JSON in place and leave its id as it is."""
    path = folder / MANIFEST_FILE
    data = json.loads(path.read_bytes())
    edit(data)
    path.write_text(json.dumps(data), "utf-8")


def forge(folder: Path, kind: str, data: bytes, content: int) -> None:
    """Replace the first container of the first file of a kind and make the manifest agree.

    content: its size decompressed, as the manifest says; 0 for one that is not compressed.
    """
    manifest = read_manifest(folder)
    place = next(n for n, pack in enumerate(manifest.packs) if pack.kind == kind)
    pack = manifest.packs[place]
    joined = data + find_stored(folder, kind).read_bytes()[pack.parts[0].bytes :]
    parts = (Part(kind, len(data), content), *pack.parts[1:])
    forged = Pack(name_file(kind, joined), parts)
    (folder / forged.name).write_bytes(joined)
    packs = (*manifest.packs[:place], forged, *manifest.packs[place + 1 :])
    bundle_id = compute_bundle_id(manifest.identity, manifest.profile, manifest.dimensions, packs)
    changed = replace(manifest, packs=packs, id=bundle_id)
    (folder / MANIFEST_FILE).write_bytes(format_manifest(changed))


def forge_columns(folder: Path, kind: str, **columns: Any) -> None:
    """Replace columns of a container, those of numbers by arrays."""
    values, arrays = (dict(part) for part in astuple(read_stored(folder, kind)))
    for column, value in columns.items():
        (arrays if isinstance(value, np.ndarray) else values)[column] = value
    container = Container(values, arrays)
    forge(folder, kind, pack_container(container), len(join_content(container)))
