"""Serialize an opened bundle of a site without notes into the files of the browser's index."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from answerable.indexing.browser_index.index_files import (
    NAME_BYTES,
    BrowserIndex,
    PublicIndex,
    name_file,
    serialize_browser_index,
)
from answerable.indexing.browser_index.staged_index import write_browser_index
from answerable.indexing.index import Lexicon
from answerable.indexing.widget.site_files import name_index
from answerable.serve.index.format import Container, pack_container, unpack_container
from answerable.serve.index.columns import SiteColumns
from answerable.serve.stores.bundle import Bundle


def read_public_index(bundle: Bundle) -> PublicIndex:
    """Read the public index of a bundle, whose int8 codes stand for its vectors."""
    passages = tuple(bundle.passages())
    rows = bundle.passage_records.tolist()
    urls = {row: each.url.partition("#")[0] for each, row in zip(passages, rows, strict=True)}
    postings = bundle.postings
    records = range(len(bundle.record_ids))
    return PublicIndex(
        columns=SiteColumns(**{f.name: getattr(bundle, f.name) for f in fields(SiteColumns)}),
        record_ids=tuple(bundle.record_ids),
        record_urls=tuple(urls.get(row, "/") for row in records),
        passages=passages,
        passage_vectors=bundle.passage_codes.decode_rows(slice(None)),
        lexicon=Lexicon(
            tuple(postings.terms),
            postings.edges,
            postings.passages,
            postings.counts,
            postings.lengths,
        ),
        forms={tag: tuple(forms.values()) for tag, forms in bundle.forms.items()},
    )


def serialize_bundle(bundle: Bundle) -> BrowserIndex:
    """Serialize a bundle into the files of the browser's index."""
    public, manifest = read_public_index(bundle), bundle.manifest
    return serialize_browser_index(public, manifest.profile, manifest.id)


def write_index(index: BrowserIndex, folder: Path, built_at: str) -> dict[str, str]:
    """Write an index and the model below a folder, and return its entry in site.json."""
    write_browser_index(index, folder)
    return name_index(index, built_at)


def read_index(folder: Path, entry: Mapping[str, str]) -> BrowserIndex:
    """Read an index below a folder by its entry in site.json."""
    place, _, manifest = entry["manifest"].rpartition("/")
    files = {path.name: path.read_bytes() for path in (folder / place).iterdir()}
    return BrowserIndex(place, files, manifest, entry["core"].rpartition("/")[2])


def read_manifest(index: BrowserIndex) -> Container:
    """Read the manifest of an index."""
    return unpack_container(index.files[index.manifest], index.manifest)


def list_names(index: BrowserIndex, kind: str) -> list[str]:
    """List the names of an index' files of a kind, in order."""
    if kind == "core":
        return [index.core]
    digests = read_manifest(index).arrays[f"{kind}Names"].reshape(-1, NAME_BYTES)
    return [name_file(kind, digest.tobytes()) for digest in digests]


def change_manifest(
    index: BrowserIndex, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> BrowserIndex:
    """Change fields of a manifest, whose name follows."""
    manifest = read_manifest(index)
    changed = Container({**manifest.values, **values}, {**manifest.arrays, **arrays})
    data = pack_container(changed)
    name = name_file("manifest", hashlib.sha256(data).digest())
    return replace(index, files={**index.files, name: data}, manifest=name)


def change_files(index: BrowserIndex, kind: str, containers: Sequence[Container]) -> BrowserIndex:
    """Put other files first among those of a kind, whose names follow."""
    packed = [pack_container(container) for container in containers]
    digests = [hashlib.sha256(data).digest()[:NAME_BYTES] for data in packed]
    names = [name_file(kind, digest) for digest in digests]
    files = {**index.files, **dict(zip(names, packed, strict=True))}
    if kind == "core":
        return replace(index, files=files, core=names[0])
    others = read_manifest(index).arrays[f"{kind}Names"][len(packed) * NAME_BYTES :]
    joined = np.frombuffer(b"".join([*digests, others.tobytes()]), "|u1")
    return change_manifest(replace(index, files=files), {}, {f"{kind}Names": joined})
