"""What a site would publish of an opened bundle, and the same with changes."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from answerable.engine.bundle import Bundle
from answerable.engine.embedders.local_embedder import LOCAL_IDENTITY
from answerable.engine.index.column_types import select_rows
from answerable.engine.index.columns import Index, list_columns
from answerable.engine.index.format import (
    Container,
    deflate,
    join_content,
    unpack_container,
)
from answerable.engine.index.manifest import name_file
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
    return replace(index, **select_rows(list_columns("terms"), index, order))


def serialize_bundle(bundle: Bundle) -> BrowserIndex:
    """Serialize a bundle as a site publishes it, whatever its embedder is."""
    manifest, now = bundle.manifest, dt.datetime.now(dt.UTC)
    packed = pack_index(sort_terms(bundle.index), LOCAL_IDENTITY, manifest.profile, now)
    same = replace(packed.manifest, id=manifest.id, built_at=manifest.built_at)
    return list_browser_files(replace(packed, manifest=same), bundle.index.site.language)


def write_index(index: BrowserIndex, folder: Path) -> dict[str, Any]:
    """Write an index and the model below a folder, and return its entry in site.json."""
    write_browser_index(index, folder)
    return name_index(index)


def read_index(folder: Path, entry: Mapping[str, Any]) -> BrowserIndex:
    """Read an index below a folder by its entry in site.json."""
    place, _, manifest = entry["manifest"].rpartition("/")
    files = {path.name: path.read_bytes() for path in (folder / place).iterdir()}
    return BrowserIndex(place, files, manifest, tuple(entry["size"]))


def read_manifest(index: BrowserIndex) -> Mapping[str, Any]:
    """Read the manifest of an index."""
    data = index.files[index.manifest][: index.size[0]]
    return unpack_container(data, index.manifest).values


def read_packs(index: BrowserIndex) -> dict[str, bytes]:
    """Read the files that the manifest of an index names and that a site publishes."""
    core = index.files[index.manifest][index.size[0] :]
    names = [name for name, _ in read_manifest(index)["packs"]]
    found = {name: core if name.startswith("core-") else index.files.get(name) for name in names}
    return {name: data for name, data in found.items() if data is not None}


def list_names(index: BrowserIndex, kind: str) -> list[str]:
    """List the names of an index' files of a kind, in order."""
    return [name for name, _ in read_manifest(index)["packs"] if name.partition("-")[0] == kind]


def read_containers(index: BrowserIndex, kind: str) -> list[Container]:
    """Read the containers of a kind, in order."""
    containers: list[Container] = []
    for name, parts in read_manifest(index)["packs"]:
        data = read_packs(index).get(name, b"")
        for part, size, _ in parts:
            if part == kind:
                containers.append(unpack_container(data[:size], name))
            data = data[size:]
    return containers


def change_manifest(index: BrowserIndex, **values: Any) -> BrowserIndex:
    """Change fields of a manifest, whose name follows."""
    return _put_manifest(index, index.files[index.manifest][index.size[0] :], values)


def _put_manifest(index: BrowserIndex, core: bytes, values: Mapping[str, Any]) -> BrowserIndex:
    content = join_content(Container({**read_manifest(index), **values}))
    data = deflate(content)
    name = name_file("manifest", data + core)
    files = {**index.files, name: data + core}
    return replace(index, files=files, manifest=name, size=(len(data), len(content)))


def change_files(index: BrowserIndex, kind: str, containers: Sequence[Container]) -> BrowserIndex:
    """Put other containers in the place of the first of a kind; the names of files follow."""
    packs = read_manifest(index)["packs"]
    place = next(n for n, (_, parts) in enumerate(packs) if kind in [part[0] for part in parts])
    name, parts = packs[place]
    first = [part[0] for part in parts].index(kind)
    data, streams = read_packs(index)[name], []
    for _, size, _ in parts:
        streams.append(data[:size])
        data = data[size:]
    contents = [join_content(container) for container in containers]
    changed = [deflate(content) for content in contents]
    rows = [[kind, len(x), len(content)] for x, content in zip(changed, contents, strict=True)]
    end = first + len(containers)
    joined = b"".join([*streams[:first], *changed, *streams[end:]])
    changed_name = name_file(name.partition("-")[0], joined)
    pack = [changed_name, [*parts[:first], *rows, *parts[end:]]]
    others = [*packs[:place], pack, *packs[place + 1 :]]
    if kind in ("core", "questions", "signs"):
        return _put_manifest(index, joined, {"packs": others})
    added = replace(index, files={**index.files, changed_name: joined})
    return change_manifest(added, packs=others)
