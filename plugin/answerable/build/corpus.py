"""A site's pages, cut: from the page cache where nothing has changed, else by all cores."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..serve.errors import SiteError
from . import cutting, page_cache
from .cutting import CutRecord, Rules
from .records import Source
from .store import Store
from .workers import Workers


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and no earlier build has kept."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Pages that are being cut: for each its keys and what the cache has of it, encoded.

    ``fresh`` gives the others, encoded, in their order; it can be read once. Nothing is decoded
    while MkDocs writes its pages: the garbage collector would go through all of it again and again.
    """

    keys: tuple[bytes, ...]
    places: tuple[bytes, ...]
    known: tuple[bytes | None, ...]
    fresh: Iterator[bytes]
    cache_folder: Path

    def pages(self) -> tuple[CutRecord, ...]:
        """Every page, cut, in order. SiteError if one cannot be read."""
        entries: dict[bytes, bytes] = {}
        pages: list[CutRecord] = []
        with closing(Store(self.cache_folder / page_cache.FILE)) as store:
            for place, key, data in zip(self.places, self.keys, self.known, strict=True):
                if data is None:
                    data = entries[key] = next(self.fresh)
                if store.get(place) != key:
                    entries[place] = key
                pages.append(page_cache.decode(data))
            store.put(entries)
            store.touch([*self.keys, *self.places])
        return tuple(pages)


def start(sources: Iterable[Source], rules: Rules, cache_folder: Path, workers: Workers) -> Pending:
    """Begin to cut what the cache does not have. UnreadPageError if that is not possible."""
    keys: list[bytes] = []
    places: list[bytes] = []
    known: list[bytes | None] = []
    missing: list[tuple[Source, Rules]] = []
    with closing(Store(cache_folder / page_cache.FILE)) as store:
        for source in sources:
            places.append(page_cache.place(source, rules))
            if source.html is None:
                keys.append(store.get(places[-1]) or b"")
            else:
                keys.append(page_cache.key(source, rules))
            known.append(_known(store, keys[-1]))
            if known[-1] is None:
                if source.html is None:
                    raise UnreadPageError(
                        f"{source.id}: its text is not known; build without --dirty once"
                    )
                missing.append((source, rules))
    size = sum(len(source.html or "") for source, _ in missing)
    fresh = workers.each(_cut, missing, size)
    return Pending(tuple(keys), tuple(places), tuple(known), fresh, cache_folder)


def read(sources: Iterable[Source], rules: Rules, cache_folder: Path) -> tuple[CutRecord, ...]:
    """Every page, cut, in order. SiteError if one cannot be read."""
    with closing(Workers()) as workers:
        return start(sources, rules, cache_folder, workers).pages()


def _known(store: Store, key: bytes) -> bytes | None:
    """What the cache has under a key, unless it is damaged."""
    data = store.get(key)
    return data if data is not None and page_cache.is_whole(data) else None


def _cut(work: tuple[Source, Rules]) -> bytes:
    source, rules = work
    return page_cache.encode(cutting.cut(cutting.read(source), rules))
