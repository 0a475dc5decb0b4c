"""The cache of pages: a page is indexed again only if something has changed that decides how."""

import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ...engine.errors import SiteError
from ..caches import ProcessPool, SqliteCache, hash_inputs, show_progress
from .page_index import CuttingRules, PageIndex, index_record, parse_record
from .records import PageSource

_TABLE = "pages"
_HASH_BYTES = 32


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and that no earlier build has kept."""


@dataclass(frozen=True, slots=True)
class PendingPages:
    """Pages that are being indexed, by their places, each with its hash and what is kept of it.

    ``new_entries`` yields the others, encoded, in their order; it can be read once. Nothing is
    decoded while MkDocs writes its pages: the garbage collector would go through it repeatedly.
    """

    places: tuple[bytes, ...]
    hashes: tuple[bytes, ...]
    kept: tuple[bytes | None, ...]
    new_entries: Iterator[bytes]
    cache_folder: Path

    def collect(self) -> tuple[PageIndex, ...]:
        """Return every page's index, in order. SiteError if one cannot be read."""
        entries: dict[bytes, bytes] = {}
        pages: list[PageIndex] = []
        missing = self.kept.count(None)
        with show_progress("reading pages") as report:
            for place, page_hash, data in zip(self.places, self.hashes, self.kept, strict=True):
                if data is None:
                    data = next(self.new_entries)
                    entries[place] = page_hash + data
                    if report:
                        report(len(entries), missing)
                pages.append(decode_page(data))
        with closing(SqliteCache(self.cache_folder, _TABLE)) as cache:
            cache.put(entries)
            cache.touch(self.places)
        return tuple(pages)


def start_indexing_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path, pool: ProcessPool
) -> PendingPages:
    """Begin to index the pages that the cache lacks. UnreadPageError if one has no text."""
    places: list[bytes] = []
    hashes: list[bytes] = []
    kept: list[bytes | None] = []
    missing: list[tuple[PageSource, CuttingRules]] = []
    with closing(SqliteCache(cache_folder, _TABLE)) as cache:
        for source in sources:
            options = rules.window, rules.abbreviations, rules.enrichment.get(source.id, "")
            place = hash_inputs(source.id, source.url, source.language, *options)
            page_hash = hash_inputs(source, *options)
            entry = cache.get(place) or b""
            is_current = source.html is None or entry[:_HASH_BYTES] == page_hash
            data: bytes | None = entry[_HASH_BYTES:]
            if not (is_current and _is_intact(entry[_HASH_BYTES:])):
                data = None
                if source.html is None:
                    raise UnreadPageError(
                        f"{source.id}: its text is not known; build without --dirty once"
                    )
                missing.append((source, rules))
            places.append(place)
            hashes.append(page_hash)
            kept.append(data)
    size = sum(len(source.html or "") for source, _ in missing)
    new_entries = pool.map(_index_source, missing, size)
    return PendingPages(tuple(places), tuple(hashes), tuple(kept), new_entries, cache_folder)


def _index_source(task: tuple[PageSource, CuttingRules]) -> bytes:
    source, rules = task
    return encode_page(index_record(parse_record(source), rules))


def _is_intact(data: bytes) -> bool:
    try:
        return bool(zlib.decompress(data))
    except zlib.error:
        return False


def encode_page(page: PageIndex) -> bytes:
    """Encode the index of a page as compressed JSON, which has a checksum."""
    return zlib.compress(msgspec.json.encode(page), 1)


def decode_page(data: bytes) -> PageIndex:
    """Decode what ``encode_page`` wrote."""
    page = msgspec.json.decode(zlib.decompress(data), type=PageIndex)
    # A site repeats its terms.
    shared = (replace(row, terms=tuple(map(sys.intern, row.terms))) for row in page.term_counts)
    return replace(page, term_counts=tuple(shared))
