"""What a site would publish of an opened bundle, and the same with changes."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from answerable.engine.embedders.local_embedder import LOCAL_IDENTITY
from answerable.engine.index.columns import Index, list_columns
from answerable.engine.index.format import (
    Container,
    join_content,
    pack_container,
    unpack_container,
)
from answerable.engine.index.manifest import name_file
from answerable.engine.stores.bundle import Bundle
from answerable.indexing.browser_files import (
    BrowserIndex,
    list_browser_files,
    name_index,
    write_browser_index,
)
from answerable.indexing.write import pack_index


def sort_terms(index: Index) -> Index:
    """List each term once, where its files hold it more than once, as the build has them."""
    rows = {term: row for row, term in enumerate(index.terms)}
    order = [rows[term] for term in sorted(rows)]
    columns = list_columns("terms")
    return replace(
        index,
        **{each.name: each.codec.select(getattr(index, each.name), order) for each in columns},
    )


def serialize_bundle(bundle: Bundle) -> BrowserIndex:
    """Serialize a bundle as a site publishes it, whatever its embedder is."""
    manifest, now = bundle.manifest, dt.datetime.now(dt.UTC)
    packed = pack_index(sort_terms(bundle.index), LOCAL_IDENTITY, manifest.profile, now)
    same = replace(packed.manifest, id=manifest.id, built_at=manifest.built_at)
    return list_browser_files(replace(packed, manifest=same), bundle.index.site.language)


def write_index(index: BrowserIndex, folder: Path) -> dict[str, str]:
    """Write an index and the model below a folder, and return its entry in site.json."""
    write_browser_index(index, folder)
    return name_index(index)


def read_index(folder: Path, entry: Mapping[str, str]) -> BrowserIndex:
    """Read an index below a folder by its entry in site.json."""
    place, _, manifest = entry["manifest"].rpartition("/")
    files = {path.name: path.read_bytes() for path in (folder / place).iterdir()}
    return BrowserIndex(place, files, manifest, entry["core"].rpartition("/")[2])


def read_manifest(index: BrowserIndex) -> Mapping[str, Any]:
    """Read the manifest of an index."""
    return unpack_container(index.files[index.manifest], index.manifest).values


def list_names(index: BrowserIndex, kind: str) -> list[str]:
    """List the names of an index' files of a kind, in order."""
    names = [name for name, _, _ in read_manifest(index)["files"]]
    return [name for name in names if name.rpartition("-")[0] == kind]


def change_manifest(index: BrowserIndex, **values: Any) -> BrowserIndex:
    """Change fields of a manifest, whose name follows."""
    data = pack_container(Container({**read_manifest(index), **values}))
    name = name_file("manifest", data)
    return replace(index, files={**index.files, name: data}, manifest=name)


def change_files(index: BrowserIndex, kind: str, containers: Sequence[Container]) -> BrowserIndex:
    """Put other files in the place of the first of a kind; their names follow."""
    contents = [join_content(container) for container in containers]
    packed = [pack_container(container) for container in containers]
    rows = [
        [name_file(kind, data), len(data), len(content)]
        for data, content in zip(packed, contents, strict=True)
    ]
    listed = read_manifest(index)["files"]
    first = [name for name, _, _ in listed].index(list_names(index, kind)[0])
    files = [*listed[:first], *rows, *listed[first + len(rows) :]]
    added = {str(row[0]): data for row, data in zip(rows, packed, strict=True)}
    changed = change_manifest(replace(index, files={**index.files, **added}), files=files)
    return replace(changed, core=str(rows[0][0])) if kind == "core" else changed
