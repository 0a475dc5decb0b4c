"""A site's pages, cut: from the page cache where nothing has changed, else by all cores."""

import multiprocessing
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from ..serve.errors import SiteError
from . import cutting, page_cache
from .cutting import CutRecord, Rules
from .records import Source
from .store import Store

# Pages that are held at a time before they are cut.
_CHUNK = 256
# Characters of HTML to cut from which another process pays for its start, of half a second.
_WORTH_A_POOL = 20_000_000


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and no earlier build has kept."""


def read(sources: Iterable[Source], rules: Rules, cache_folder: Path) -> Iterator[CutRecord]:
    """Every page, cut, in order. SiteError if one cannot be read."""
    waiting = iter(sources)
    with ExitStack() as stack:
        store = stack.enter_context(Store(cache_folder / page_cache.FILE))
        pool = _Pool(stack)
        while chunk := list(islice(waiting, _CHUNK)):
            yield from _read(chunk, rules, store, pool)


def _read(
    sources: Sequence[Source], rules: Rules, store: Store, pool: "_Pool"
) -> Iterator[CutRecord]:
    keys = [_key(source, rules, store) for source in sources]
    found = [_known(store, key) for key in keys]
    missing = [source for source, page in zip(sources, found, strict=True) if page is None]
    for source in missing:
        if source.html is None:
            raise UnreadPageError(f"{source.id}: its text is not known; build without --dirty once")
    fresh = iter(pool.cut(missing, rules))
    entries: dict[bytes, bytes] = {}
    places = [page_cache.place(source, rules) for source in sources]
    for place, key, page in zip(places, keys, found, strict=True):
        if page is None:
            entries[key] = next(fresh)
            page = page_cache.decode(entries[key])
        if store.get(place) != key:
            entries[place] = key
        yield page
    store.put(entries)
    store.touch([*keys, *places])


def _key(source: Source, rules: Rules, store: Store) -> bytes:
    if source.html is None:
        return store.get(page_cache.place(source, rules)) or b""
    return page_cache.key(source, rules)


def _known(store: Store, key: bytes) -> CutRecord | None:
    data = store.get(key)
    if data is None:
        return None
    try:
        return page_cache.decode(data)
    except (ValueError, LookupError, TypeError, zlib.error):
        return None


class _Pool:
    """Cuts pages here, and by all cores once there has been enough to cut."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._processes: ProcessPoolExecutor | None = None
        self._ahead = 0

    def cut(self, sources: Sequence[Source], rules: Rules) -> Iterable[bytes]:
        self._ahead += sum(len(source.html or "") for source in sources)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self._processes is None and (cores or 1) > 1 and self._ahead >= _WORTH_A_POOL:
            # Not forked: a dev server has threads, and a fork of them can hang.
            context = multiprocessing.get_context("spawn")
            executor = ProcessPoolExecutor(cores, mp_context=context)
            self._processes = self._stack.enter_context(executor)
        if self._processes is None:
            return (_cut((source, rules)) for source in sources)
        work = ((source, rules) for source in sources)
        return self._processes.map(_cut, work, chunksize=8)


def _cut(work: tuple[Source, Rules]) -> bytes:
    source, rules = work
    return page_cache.encode(cutting.cut(cutting.read(source), rules))
