"""Reader of the browser's files, by which a static site is asked from the terminal."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.container import Allowance, Container, unpack_container
from ...serve.bundle_format.manifest import (
    ANSWERS_FILE,
    COLUMNS_FILE,
    CORE_FILE,
    QUESTIONS_FILE,
    SUGGESTIONS_FILE,
    WORDS_FILE,
    Manifest,
    parse_profile,
)
from ...serve.embedders.embedder import EmbedderIdentity
from ...serve.errors import BUILD_AGAIN, BundleError
from ...serve.stores.bundle import MALFORMED, Bundle, load_index
from ...serve.vectors import Int8Codes, invert_row_norms
from .index_files import INDEX_FORMAT, NAME_BYTES, name_file

# Returns a file of the index by its name.
ReadFile = Callable[[str], bytes]

# Of one kind: enough for 80,000 passages, and few enough to fetch.
_MAX_SHARDS = 10_000


# The kinds of files whose names stand in the manifest.
_KINDS = ("terms", "codes", "texts", "words", "questions", "suggestions", "answers")


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """Describe a published index: as a bundle, its columns that edits change, and its files.

    ``files``: the names of each kind, in order.
    """

    manifest: Manifest
    columns: Container
    files: Mapping[str, Sequence[str]]


def parse_index_manifest(data: bytes, where: str, core: str, built_at: str) -> IndexManifest:
    """Parse the manifest of an index; BundleError names what is wrong.

    where: its address. core: the name of the core file. built_at: the time of the build.
    """
    columns = unpack_container(data, where)
    number = columns.values.get("format")
    if number != INDEX_FORMAT:
        raise BundleError(
            f"{where} has the format {number!r:.20}, and this program reads {INDEX_FORMAT}: "
            "install the version of mkdocs-answerable that the site was built with"
        )
    try:
        files = {kind: _list_names(kind, columns.arrays[f"{kind}Names"]) for kind in _KINDS}
        manifest = _parse_manifest(columns.values, built_at)
        return IndexManifest(manifest, columns, {"core": [core], **files})
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise BundleError(f"{where} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def _parse_manifest(fields: Mapping[str, Any], built_at: str) -> Manifest:
    identity = EmbedderIdentity(**fields["embedder"])
    return Manifest(
        id=str(fields["id"]),
        built_at=built_at,
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=parse_profile(fields["profile"]),
        dimensions=identity.dimensions,
        counts={**fields["counts"], "hints": 0, "windows": 0},
        files={},
    )


def _list_names(kind: str, digests: NDArray[np.uint8]) -> list[str]:
    if len(digests) > _MAX_SHARDS * NAME_BYTES:
        raise ValueError(f"it has {len(digests) // NAME_BYTES} files of {kind}")
    return [name_file(kind, digest.tobytes()) for digest in digests.reshape(-1, NAME_BYTES)]


def check_file_name(name: str, data: bytes, where: str) -> None:
    """Refuse a file whose name does not follow from its bytes; BundleError. where: its address."""
    if name_file(name.partition("-")[0], hashlib.sha256(data).digest()) != name:
        raise BundleError(f"{where} is another file than was built: deploy the whole site again")


def read_published_index(index: IndexManifest, read: ReadFile) -> Bundle:
    """Read the files of an index into a store; BundleError for a damaged or missing one."""
    packed = {name: read(name) for names in index.files.values() for name in names}
    allowance = Allowance(sum(map(len, packed.values())))

    def unpack(kind: str, number: int = 0) -> Container:
        name = index.files[kind][number]
        return unpack_container(packed[name], name, allowance.spend)

    def unpack_all(kind: str) -> list[Container]:
        return [unpack(kind, number) for number in range(len(index.files[kind]))]

    dimensions = index.manifest.dimensions
    no_codes: NDArray[np.int8] = np.zeros((0, dimensions), np.int8)
    try:
        core, words, terms = unpack("core"), unpack("words"), unpack_all("terms")
        answers = [row for shard in unpack_all("answers") for row in shard.values["answers"]]
        files = {
            CORE_FILE: core,
            COLUMNS_FILE: index.columns,
            WORDS_FILE: words,
            QUESTIONS_FILE: unpack("questions"),
            SUGGESTIONS_FILE: unpack("suggestions"),
            ANSWERS_FILE: Container({"answers": answers}),
        }
        rows = [shard.arrays["codes"].reshape(-1, dimensions) for shard in unpack_all("codes")]
        codes = np.concatenate([*rows, no_codes])
        if codes.dtype != np.int8:
            raise TypeError(f"its codes have the type {codes.dtype}")
        passage_codes = Int8Codes(codes, invert_row_norms(codes))
        hint_codes = Int8Codes(no_codes, invert_row_norms(no_codes))
        store = load_index(
            index.manifest,
            files,
            terms,
            cache(partial(unpack, "texts")),
            (passage_codes, hint_codes),
            allowance.spend,
            store_key="published",
        )
        # Whoever asks later has a sound index or none.
        for _ in store.passages():
            pass
    except MALFORMED as error:
        raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    return store
