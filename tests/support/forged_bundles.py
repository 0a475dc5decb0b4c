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
    IndexFile,
    compute_bundle_id,
    name_file,
    read_manifest,
)
from answerable.indexing.write import format_manifest


def find_stored(folder: Path, kind: str) -> Path:
    """Find the first file of a kind in a bundle."""
    return folder / read_manifest(folder).files_of(kind)[0].name


def read_stored(folder: Path, kind: str) -> Container:
    """Read the first file of a kind."""
    file, data = read_manifest(folder).files_of(kind)[0], find_stored(folder, kind).read_bytes()
    return unpack_container(data, kind) if file.content else parse_content(data, kind)


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest's JSON in place and leave its id as it is."""
    path = folder / MANIFEST_FILE
    data = json.loads(path.read_bytes())
    edit(data)
    path.write_text(json.dumps(data), "utf-8")


def forge(folder: Path, kind: str, data: bytes, content: int) -> None:
    """Replace the first file of a kind and make the manifest agree.

    content: its size decompressed, as the manifest says; 0 for one that is not compressed.
    """
    manifest = read_manifest(folder)
    forged = IndexFile(name_file(kind, data), len(data), content)
    (folder / forged.name).write_bytes(data)
    files = list(manifest.files)
    files[files.index(manifest.files_of(kind)[0])] = forged
    bundle_id = compute_bundle_id(manifest.identity, manifest.profile, manifest.dimensions, files)
    changed = replace(manifest, files=tuple(files), id=bundle_id)
    (folder / MANIFEST_FILE).write_bytes(format_manifest(changed))


def forge_columns(folder: Path, kind: str, **columns: Any) -> None:
    """Replace columns of a container, those of numbers by arrays."""
    values, arrays = (dict(part) for part in astuple(read_stored(folder, kind)))
    for column, value in columns.items():
        (arrays if isinstance(value, np.ndarray) else values)[column] = value
    container = Container(values, arrays)
    forge(folder, kind, pack_container(container), len(join_content(container)))
