"""Serialize a public index into the files that a reader's browser answers from."""

import json
from collections.abc import Mapping
from typing import Any

from ...serve.vectors.encodings import Encoding
from ..quantize import encode_vectors
from .addressed_files import AddressedFiles, hash_files
from .core_file import serialize_core, serialize_signs, serialize_words
from .passage_shards import (
    PASSAGES_PER_CODE_SHARD,
    PASSAGES_PER_TEXT_SHARD,
    QuantizeStatements,
    serialize_codes,
    serialize_texts,
)
from .postings_shards import serialize_postings
from .public_index import PublicIndex

INDEX_FORMAT = 1
INDEX_KIND = "index"
MANIFEST_FILE = "manifest.json"


def serialize_browser_index(
    index: PublicIndex,
    quantize_statements: QuantizeStatements,
    bundle: Mapping[str, Any],
    model: str,
) -> AddressedFiles:
    """Serialize an index; its folder is named by all of it but the time of the build.

    bundle: ``id`` and ``built_at`` of the bundle that holds the same, as a reply names them.
    model: the folder of the model's files. The manifest is the last of the files.
    """
    dimensions = index.passage_vectors.shape[1]
    codes = encode_vectors(index.passage_vectors, Encoding("int8", dimensions))["codes"]
    postings = serialize_postings(index)
    shards = {
        "terms": postings,
        "codes": serialize_codes(codes),
        "texts": serialize_texts(index.passages, quantize_statements),
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
        "id": bundle["id"],
        "model": model,
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
            "passagesPerCodes": PASSAGES_PER_CODE_SHARD,
            "passagesPerTexts": PASSAGES_PER_TEXT_SHARD,
        },
    }
    name = hash_files({**files, MANIFEST_FILE: _dump_json(manifest)})
    timed = {"built_at": bundle["built_at"], **manifest}
    return AddressedFiles(f"{INDEX_KIND}/{name}", {**files, MANIFEST_FILE: _dump_json(timed)})


def _dump_json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
