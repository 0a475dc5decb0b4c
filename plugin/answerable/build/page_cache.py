"""The page cache: pages as they were cut, by a hash of all that decides how."""

import hashlib
import json
import sys
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..serve import structure, terms, urls
from ..serve.types import Passage
from . import (
    cutting,
    inline_text,
    markup_roles,
    nodes,
    pages,
    passages,
    records,
    sentences,
    units,
)
from .cutting import CutRecord, Rules, TermCounts
from .passages import Cut
from .records import Metadata, Record, Source

FILE = "pages.sqlite3"
_MODULES = (
    cutting, inline_text, markup_roles, nodes, pages, passages, records, sentences, structure,
    terms, units, urls,
)  # fmt: skip
_PACKAGES = ("selectolax", "sentencex", "snowballstemmer")


def key(source: Source, rules: Rules) -> bytes:
    """What a cut page is kept under: it changes with anything that could change its passages."""
    return _digest([_place(source, rules), source.title, asdict(source.metadata), source.html])


def place(source: Source, rules: Rules) -> bytes:
    """What the last cut of a page is found under while its text is unknown."""
    return _digest(_place(source, rules))


def _place(source: Source, rules: Rules) -> list[object]:
    extra = rules.enrichment.get(source.id, "")
    rest = [asdict(rules.window), sorted(rules.abbreviations.items()), extra]
    return [_code(), source.id, source.url, source.language, *rest]


def _digest(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


@cache
def _code() -> str:
    """A digest of the code that reads and cuts pages, so that no other version's work is used."""
    files = (Path(str(module.__file__)).read_bytes() for module in _MODULES)
    return hashlib.sha256(b"".join(files) + repr([*map(version, _PACKAGES)]).encode()).hexdigest()


def encode(page: CutRecord) -> bytes:
    """A cut page as bytes."""
    record = page.record
    data = {
        "id": record.id,
        "url": record.url,
        "title": record.title,
        "metadata": asdict(record.metadata),
        "anchors": sorted(record.anchors),
        "abbreviations": dict(record.abbreviations),
        "language": record.language,
        "scripts": sorted(page.scripts),
        "words": sorted(page.words),
        "cuts": [_row(cut, counts) for cut, counts in zip(page.cuts, page.terms, strict=True)],
    }
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def is_whole(data: bytes) -> bool:
    """Whether bytes are as ``encode`` made them: what is compressed has a checksum."""
    try:
        zlib.decompress(data)
    except zlib.error:
        return False
    return True


def decode(data: bytes) -> CutRecord:
    """The page that ``encode`` was given."""
    page: Mapping[str, Any] = json.loads(zlib.decompress(data))
    meta = page["metadata"]
    record = Record(
        id=page["id"],
        url=page["url"],
        title=page["title"],
        metadata=Metadata(
            summary=meta["summary"],
            themes=tuple(meta["themes"]),
            aliases=tuple(meta["aliases"]),
            date=meta["date"],
            excluded=meta["excluded"],
        ),
        sections=(),
        anchors=frozenset(page["anchors"]),
        abbreviations=page["abbreviations"],
        language=page["language"],
    )
    rows = page["cuts"]
    return CutRecord(
        record=record,
        cuts=tuple(_cut(row, record) for row in rows),
        terms=tuple(
            TermCounts(tuple(map(sys.intern, row["terms"])), tuple(row["counts"])) for row in rows
        ),
        scripts=frozenset(page["scripts"]),
        words=frozenset(page["words"]),
    )


def _row(cut: Cut, counts: TermCounts) -> dict[str, object]:
    passage = cut.passage
    return {
        "id": passage.id,
        "url": passage.url,
        "title": passage.title,
        "text": passage.text,
        "sentences": passage.sentences,
        "blocks": structure.pack(passage.blocks),
        "spans": structure.pack(passage.spans),
        "head": cut.head,
        "terms": counts.terms,
        "counts": counts.counts,
    }


def _cut(row: Mapping[str, Any], record: Record) -> Cut:
    passage = Passage(
        id=row["id"],
        record=record.id,
        url=row["url"],
        title=row["title"],
        text=row["text"],
        sentences=tuple((start, end) for start, end in row["sentences"]),
        date=record.metadata.date,
        language=record.language,
        blocks=structure.unpack_blocks(row["blocks"], len(row["text"])),
        spans=structure.unpack_spans(row["spans"], len(row["text"])),
    )
    return Cut(passage, row["head"])
