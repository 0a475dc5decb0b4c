"""Serialize a public index into the files that a reader's browser answers from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...serve.embedders.local_embedder import LOCAL_IDENTITY
from ...serve.vectors.encodings import Encoding
from ..quantize import encode_vectors
from .addressed_files import AddressedFiles, hash_files
from .core_file import serialize_core, serialize_signs, serialize_words
from .passage_shards import (
    QuantizeStatements,
    serialize_codes,
    serialize_texts,
    split_codes,
    split_texts,
)
from .postings_shards import serialize_postings
from .public_index import PublicIndex

INDEX_FORMAT = 1
INDEX_KIND = "index"
MANIFEST_FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class BrowserIndex:
    """Hold the files of an index by path, and its manifest, which lacks the time of the build."""

    files: Mapping[str, bytes]
    manifest: Mapping[str, Any]

    @property
    def folder(self) -> str:
        """Name the folder by all of the index but the time of the build."""
        files = {**self.files, MANIFEST_FILE: _dump_json(self.manifest)}
        return f"{INDEX_KIND}/{hash_files(files)}"

    def complete(self, built_at: str) -> AddressedFiles:
        """Return all files with the time of the build in the manifest, which is the last."""
        manifest = _dump_json({**self.manifest, "built_at": built_at})
        return AddressedFiles(self.folder, {**self.files, MANIFEST_FILE: manifest})


def serialize_browser_index(
    index: PublicIndex, quantize_statements: QuantizeStatements, bundle_id: str, model: str
) -> BrowserIndex:
    """Serialize an index.

    bundle_id: of the bundle that holds the same, as a reply names it. model: the folder of the
    model's files.
    """
    dimensions = index.passage_vectors.shape[1]
    codes = encode_vectors(index.passage_vectors, Encoding("int8", dimensions))["codes"]
    postings = serialize_postings(index)
    code_starts = split_codes(index.passage_records)
    text_starts = split_texts(index.passage_records)
    shards = {
        "terms": postings,
        "codes": serialize_codes(codes, code_starts),
        "texts": serialize_texts(index.passages, text_starts, quantize_statements),
    }
    files = {
        "core.bin": serialize_core(index),
        "signs.bin": serialize_signs(codes),
        "words.bin": serialize_words(index),
        **{
            f"{kind}/{number:03}.bin": data
            for kind, files in shards.items()
            for number, data in files.items()
        },
    }
    manifest = {
        "format": INDEX_FORMAT,
        "id": bundle_id,
        "model": model,
        # The only embedder that a browser has.
        "embedder": LOCAL_IDENTITY.as_json(),
        "profile": index.profile.as_json(),
        "dimensions": dimensions,
        "counts": {
            "records": len(index.records),
            "passages": len(index.passages),
            "terms": len(index.lexicon.terms),
            "words": len(index.words),
        },
        "shards": {
            "terms": len(postings),
            "codeStarts": code_starts,
            "textStarts": text_starts,
        },
    }
    return BrowserIndex(files, manifest)


def _dump_json(value: object) -> bytes:
    return (json.dumps(value, separators=(",", ":"), sort_keys=True) + "\n").encode()
