"""Index pages through a cache on disk, by hash of page, rules and code; misses run in parallel."""

import hashlib
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...serve import structure
from ...serve.errors import SiteError
from ...serve.structure import pack_structure, unpack_blocks, unpack_spans
from ...serve.text import tokenization
from ...serve.types import Passage
from ..process_pool import ProcessPool
from ..sqlite_cache import SqliteCache
from . import (
    html_elements,
    html_parser,
    inline_text,
    page_index,
    passages,
    records,
    section_builder,
    text_units,
    transcript_passages,
)
from .page_index import CuttingRules, PageIndex, TermCounts, index_record, parse_record
from .passages import IndexedPassage
from .records import PageMetadata, PageSource, Record

PAGE_CACHE_FILE = "pages.sqlite3"
_MODULES = (
    html_elements, html_parser, inline_text, page_index, passages, records, section_builder,
    structure, text_units, tokenization, transcript_passages,
)  # fmt: skip
_PACKAGES = ("selectolax", "sentencex", "snowballstemmer")


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and that no earlier build has kept."""


@dataclass(frozen=True, slots=True)
class PendingPages:
    """Pages that are being indexed: for each its keys and what the cache has of it, encoded.

    ``new_entries`` yields the others, encoded, in their order; it can be read once. Nothing is
    decoded while MkDocs writes its pages: the garbage collector would go through it repeatedly.
    """

    keys: tuple[bytes, ...]
    place_keys: tuple[bytes, ...]
    cached: tuple[bytes | None, ...]
    new_entries: Iterator[bytes]
    cache_folder: Path

    def collect(self) -> tuple[PageIndex, ...]:
        """Return every page's index, in order. SiteError if one cannot be read."""
        entries: dict[bytes, bytes] = {}
        pages: list[PageIndex] = []
        with closing(SqliteCache(self.cache_folder / PAGE_CACHE_FILE)) as store:
            for place, key, data in zip(self.place_keys, self.keys, self.cached, strict=True):
                if data is None:
                    data = entries[key] = next(self.new_entries)
                if store.get(place) != key:
                    entries[place] = key
                pages.append(decode_page(data))
            store.put(entries)
            store.touch([*self.keys, *self.place_keys])
        return tuple(pages)


def start_indexing_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path, pool: ProcessPool
) -> PendingPages:
    """Begin to index the pages that the cache lacks. UnreadPageError if one has no text."""
    keys: list[bytes] = []
    places: list[bytes] = []
    cached: list[bytes | None] = []
    missing: list[tuple[PageSource, CuttingRules]] = []
    with closing(SqliteCache(cache_folder / PAGE_CACHE_FILE)) as store:
        for source in sources:
            place = hash_page_place(source, rules)
            key = store.get(place) or b"" if source.html is None else hash_page(source, rules)
            data = store.get(key)
            if data is not None and not is_intact(data):
                data = None
            if data is None:
                if source.html is None:
                    raise UnreadPageError(
                        f"{source.id}: its text is not known; build without --dirty once"
                    )
                missing.append((source, rules))
            places.append(place)
            keys.append(key)
            cached.append(data)
    size = sum(len(source.html or "") for source, _ in missing)
    new_entries = pool.map(_index_source, missing, size)
    return PendingPages(tuple(keys), tuple(places), tuple(cached), new_entries, cache_folder)


def index_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path
) -> tuple[PageIndex, ...]:
    """Index every page, in order. SiteError if one cannot be read."""
    with closing(ProcessPool()) as pool:
        return start_indexing_pages(sources, rules, cache_folder, pool).collect()


def _index_source(task: tuple[PageSource, CuttingRules]) -> bytes:
    source, rules = task
    return encode_page(index_record(parse_record(source), rules))


def hash_page(source: PageSource, rules: CuttingRules) -> bytes:
    """Hash all that could change the index of a page."""
    spoken = asdict(source.transcript) if source.transcript else None
    parts = [source.title, asdict(source.metadata), source.html, spoken]
    return _hash_json([_list_place_parts(source, rules), *parts])


def hash_page_place(source: PageSource, rules: CuttingRules) -> bytes:
    """Hash what is known of a page without its text: its last index is found by this."""
    return _hash_json(_list_place_parts(source, rules))


def _list_place_parts(source: PageSource, rules: CuttingRules) -> list[object]:
    extra = rules.enrichment.get(source.id, "")
    rule_parts = [asdict(rules.window), sorted(rules.abbreviations.items()), extra]
    return [_hash_code(), source.id, source.url, source.language, *rule_parts]


def _hash_json(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


@cache
def _hash_code() -> str:
    """Hash the code that parses and cuts pages, so that another version's entries are not used."""
    files = (Path(str(module.__file__)).read_bytes() for module in _MODULES)
    return hashlib.sha256(b"".join(files) + repr([*map(version, _PACKAGES)]).encode()).hexdigest()


def encode_page(page: PageIndex) -> bytes:
    """Encode a page's index as compressed JSON, which has a checksum."""
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
        "passages": [
            _encode_passage(passage, counts)
            for passage, counts in zip(page.passages, page.term_counts, strict=True)
        ],
    }
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def is_intact(data: bytes) -> bool:
    """Test whether bytes are as ``encode_page`` wrote them."""
    try:
        zlib.decompress(data)
    except zlib.error:
        return False
    return True


def decode_page(data: bytes) -> PageIndex:
    """Decode what ``encode_page`` wrote."""
    page: Mapping[str, Any] = json.loads(zlib.decompress(data))
    metadata = page["metadata"]
    record = Record(
        id=page["id"],
        url=page["url"],
        title=page["title"],
        metadata=PageMetadata(
            **metadata | {name: tuple(metadata[name]) for name in ("themes", "aliases")}
        ),
        sections=(),
        anchors=frozenset(page["anchors"]),
        abbreviations=page["abbreviations"],
        language=page["language"],
    )
    rows = page["passages"]
    return PageIndex(
        record=record,
        passages=tuple(_decode_passage(row, record) for row in rows),
        term_counts=tuple(
            TermCounts(tuple(map(sys.intern, row["terms"])), tuple(row["counts"])) for row in rows
        ),
        scripts=frozenset(page["scripts"]),
        words=frozenset(page["words"]),
    )


def _encode_passage(indexed: IndexedPassage, counts: TermCounts) -> dict[str, object]:
    passage = indexed.passage
    return {
        "id": passage.id,
        "url": passage.url,
        "title": passage.title,
        "text": passage.text,
        "sentences": passage.sentences,
        "blocks": pack_structure(passage.blocks),
        "spans": pack_structure(passage.spans),
        "context": indexed.context,
        "terms": counts.terms,
        "counts": counts.counts,
    }


def _decode_passage(row: Mapping[str, Any], record: Record) -> IndexedPassage:
    passage = Passage(
        id=row["id"],
        record=record.id,
        url=row["url"],
        title=row["title"],
        text=row["text"],
        sentences=tuple((start, end) for start, end in row["sentences"]),
        date=record.metadata.date,
        language=record.language,
        blocks=unpack_blocks(row["blocks"], len(row["text"])),
        spans=unpack_spans(row["spans"], len(row["text"])),
    )
    return IndexedPassage(passage, row["context"])
