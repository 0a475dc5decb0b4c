"""The page cache: pages as they were cut, by a hash of all that decides how.

A site's pages, cut: from the page cache where nothing has changed, else by all cores.
"""

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
from . import html_elements, html_parser, inline_text, page_index, passages, records, text_units
from .page_index import CuttingRules, PageIndex, TermCounts, index_record
from .passages import IndexedPassage
from .records import PageMetadata, PageSource, Record

PAGE_CACHE_FILE = "pages.sqlite3"
_MODULES = (
    html_elements, html_parser, inline_text, page_index, passages, records, structure, text_units,
    tokenization,
)  # fmt: skip
_PACKAGES = ("selectolax", "sentencex", "snowballstemmer")


def hash_page(source: PageSource, rules: CuttingRules) -> bytes:
    """What a cut page is kept under: it changes with anything that could change its passages."""
    return _hash_json(
        [_list_place_parts(source, rules), source.title, asdict(source.metadata), source.html]
    )


def hash_page_place(source: PageSource, rules: CuttingRules) -> bytes:
    """What the last cut of a page is found under while its text is unknown."""
    return _hash_json(_list_place_parts(source, rules))


def _list_place_parts(source: PageSource, rules: CuttingRules) -> list[object]:
    extra = rules.enrichment.get(source.id, "")
    rest = [asdict(rules.window), sorted(rules.abbreviations.items()), extra]
    return [_hash_code(), source.id, source.url, source.language, *rest]


def _hash_json(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


@cache
def _hash_code() -> str:
    """A digest of the code that reads and cuts pages, so that no other version's work is used."""
    files = (Path(str(module.__file__)).read_bytes() for module in _MODULES)
    return hashlib.sha256(b"".join(files) + repr([*map(version, _PACKAGES)]).encode()).hexdigest()


def encode_page(page: PageIndex) -> bytes:
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
        "cuts": [
            _encode_passage(cut, counts) for cut, counts in zip(page.cuts, page.terms, strict=True)
        ],
    }
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def is_intact(data: bytes) -> bool:
    """Whether bytes are as ``encode`` made them: what is compressed has a checksum."""
    try:
        zlib.decompress(data)
    except zlib.error:
        return False
    return True


def decode_page(data: bytes) -> PageIndex:
    """The page that ``encode`` was given."""
    page: Mapping[str, Any] = json.loads(zlib.decompress(data))
    meta = page["metadata"]
    record = Record(
        id=page["id"],
        url=page["url"],
        title=page["title"],
        metadata=PageMetadata(
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
    return PageIndex(
        record=record,
        cuts=tuple(_decode_passage(row, record) for row in rows),
        terms=tuple(
            TermCounts(tuple(map(sys.intern, row["terms"])), tuple(row["counts"])) for row in rows
        ),
        scripts=frozenset(page["scripts"]),
        words=frozenset(page["words"]),
    )


def _encode_passage(cut: IndexedPassage, counts: TermCounts) -> dict[str, object]:
    passage = cut.passage
    return {
        "id": passage.id,
        "url": passage.url,
        "title": passage.title,
        "text": passage.text,
        "sentences": passage.sentences,
        "blocks": pack_structure(passage.blocks),
        "spans": pack_structure(passage.spans),
        "head": cut.head,
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
    return IndexedPassage(passage, row["head"])


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and no earlier build has kept."""


@dataclass(frozen=True, slots=True)
class PendingPages:
    """Pages that are being cut: for each its keys and what the cache has of it, encoded.

    ``fresh`` gives the others, encoded, in their order; it can be read once. Nothing is decoded
    while MkDocs writes its pages: the garbage collector would go through all of it again and again.
    """

    keys: tuple[bytes, ...]
    places: tuple[bytes, ...]
    known: tuple[bytes | None, ...]
    fresh: Iterator[bytes]
    cache_folder: Path

    def pages(self) -> tuple[PageIndex, ...]:
        """Every page, cut, in order. SiteError if one cannot be read."""
        entries: dict[bytes, bytes] = {}
        pages: list[PageIndex] = []
        with closing(SqliteCache(self.cache_folder / PAGE_CACHE_FILE)) as store:
            for place, key, data in zip(self.places, self.keys, self.known, strict=True):
                if data is None:
                    data = entries[key] = next(self.fresh)
                if store.get(place) != key:
                    entries[place] = key
                pages.append(decode_page(data))
            store.put(entries)
            store.touch([*self.keys, *self.places])
        return tuple(pages)


def start_indexing_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path, workers: ProcessPool
) -> PendingPages:
    """Begin to cut what the cache does not have. UnreadPageError if that is not possible."""
    keys: list[bytes] = []
    places: list[bytes] = []
    known: list[bytes | None] = []
    missing: list[tuple[PageSource, CuttingRules]] = []
    with closing(SqliteCache(cache_folder / PAGE_CACHE_FILE)) as store:
        for source in sources:
            places.append(hash_page_place(source, rules))
            if source.html is None:
                keys.append(store.get(places[-1]) or b"")
            else:
                keys.append(hash_page(source, rules))
            known.append(_get_intact(store, keys[-1]))
            if known[-1] is None:
                if source.html is None:
                    raise UnreadPageError(
                        f"{source.id}: its text is not known; build without --dirty once"
                    )
                missing.append((source, rules))
    size = sum(len(source.html or "") for source, _ in missing)
    fresh = workers.each(_index_source, missing, size)
    return PendingPages(tuple(keys), tuple(places), tuple(known), fresh, cache_folder)


def index_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path
) -> tuple[PageIndex, ...]:
    """Every page, cut, in order. SiteError if one cannot be read."""
    with closing(ProcessPool()) as workers:
        return start_indexing_pages(sources, rules, cache_folder, workers).pages()


def _get_intact(store: SqliteCache, key: bytes) -> bytes | None:
    """What the cache has under a key, unless it is damaged."""
    data = store.get(key)
    return data if data is not None and is_intact(data) else None


def _index_source(work: tuple[PageSource, CuttingRules]) -> bytes:
    source, rules = work
    return encode_page(index_record(page_index.parse_record(source), rules))
