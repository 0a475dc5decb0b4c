"""Bundles that somebody changed who knows the format: their manifests agree with their files."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from answerable.serve.index.format import Container, pack_container, unpack_container
from answerable.serve.index.manifest import (
    MANIFEST_FILE,
    BundleFile,
    compute_bundle_id,
    read_manifest,
    stored_file_name,
)


def find_stored(folder: Path, name: str) -> Path:
    """Find a bundle's file by the name that it has in the manifest."""
    return folder / stored_file_name(name, read_manifest(folder).files[name].sha256)


def read_stored(folder: Path, name: str) -> Container:
    """Read a container of a bundle."""
    return unpack_container(find_stored(folder, name).read_bytes(), name)


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest's JSON in place and leave its id as it is."""
    path = folder / MANIFEST_FILE
    data = json.loads(path.read_bytes())
    edit(data)
    path.write_text(json.dumps(data), "utf-8")


def forge(folder: Path, name: str, data: bytes) -> None:
    """Replace a file and make the manifest agree."""
    manifest = read_manifest(folder)
    file = BundleFile(len(data), hashlib.sha256(data).hexdigest())
    (folder / stored_file_name(name, file.sha256)).write_bytes(data)
    files = {**manifest.files, name: file}
    bundle_id = compute_bundle_id(manifest.identity, manifest.profile, manifest.dimensions, files)
    forged = replace(manifest, files=files, id=bundle_id)
    (folder / MANIFEST_FILE).write_text(json.dumps(forged.as_json()), "utf-8")


def forge_columns(folder: Path, name: str, **columns: Any) -> None:
    """Replace columns of a container, those of numbers by arrays."""
    values, arrays = (dict(part) for part in astuple(read_stored(folder, name)))
    for column, value in columns.items():
        (arrays if isinstance(value, np.ndarray) else values)[column] = value
    forge(folder, name, pack_container(Container(values, arrays)))
