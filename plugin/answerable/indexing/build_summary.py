"""Summarize a build on one line: what an index holds, its size, and what would make it faster."""

import os
from collections.abc import Mapping
from pathlib import Path

from ..serve.bundle_format.manifest import STREAMS, Manifest, array_file_name
from ..serve.vectors.encodings import Encoding
from .index import SiteIndex
from .output.function_writer import lacks_kernel
from .plurals import format_count


def count_scanned_bytes(encoding: Encoding, sizes: Mapping[str, int]) -> int:
    """Count the bytes of all vectors, if a question is compared with every one of them.

    sizes: of a bundle's files.
    """
    if not encoding.kind.is_scanned:
        return 0
    return sum(
        sizes[array_file_name(stream, name)] for stream in STREAMS for name in encoding.arrays
    )


def summarize_build(manifest: Manifest, index: SiteIndex, folder: Path) -> str:
    """Say on one line what an index holds and where it was written."""
    counts = manifest.counts
    nouns = (("records", "page"), ("passages", "passage"), ("hints", "hint"))
    return (
        f"{', '.join(format_count(counts[name], noun) for name, noun in nouns)}; "
        f"{format_count(index.embedded, 'text')} embedded; "
        f"bundle of {manifest.bytes / 1000:.1f} kB in {_relative_path(folder)}"
        f"{_suggest_kernel(manifest)}"
    )


def _suggest_kernel(manifest: Manifest) -> str:
    """Name the extra that a large bundle profits from, unless it is installed."""
    sizes = {name: file.bytes for name, file in manifest.files.items()}
    if not lacks_kernel(count_scanned_bytes(manifest.encoding, sizes)):
        return ""
    return "; `pip install 'mkdocs-answerable[fast]'` makes its search faster"


def _relative_path(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)
