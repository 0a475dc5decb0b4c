"""The cache of pages: a page is indexed again only if something has changed that decides how."""

import multiprocessing
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec

from ...engine.errors import SiteError
from ..caches import SqliteCache, hash_inputs, show_progress
from .page_index import CuttingRules, PageIndex, index_record, parse_record
from .records import PageSource

_TABLE = "pages"
_HASH_BYTES = 32
# Characters to read from which a process is worth its start, of a quarter of a second.
_MIN_SHARED_CHARACTERS = 1_500_000
_MAX_PROCESSES = 8
# A process that is not forked runs the program's file again, under another name. These commands
# ask for their name first; somebody's script, which may build a site there and then, may not.
_COMMANDS = frozenset(("mkdocs", "properdocs", "answerable"))

T = TypeVar("T")
R = TypeVar("R")


class UnreadPageError(SiteError):
    """A page that a dirty build has not rendered and that no earlier build has kept."""


def start_indexing_pages(
    sources: Iterable[PageSource], rules: CuttingRules, cache_folder: Path
) -> Callable[[], tuple[PageIndex, ...]]:
    """Begin to index the pages that the cache lacks. UnreadPageError if one has no text.

    Returns a function that waits for them, and returns every page's index in order. Nothing is
    decoded before: while MkDocs writes its pages, the garbage collector would go through it
    repeatedly.
    """
    entries: list[tuple[bytes, bytes, bytes | None]] = []
    missing: list[tuple[PageSource, CuttingRules]] = []
    with closing(SqliteCache(cache_folder, _TABLE)) as cache:
        for source in sources:
            options = rules.window, rules.abbreviations, rules.enrichment.get(source.id, "")
            place = hash_inputs(source.id, source.url, source.language, *options)
            page_hash = hash_inputs(source, *options)
            entry = cache.get(place) or b""
            is_kept = bool(entry) and (source.html is None or entry[:_HASH_BYTES] == page_hash)
            if not is_kept:
                if source.html is None:
                    raise UnreadPageError(
                        f"{source.id}: its text is not known; build without --dirty once"
                    )
                missing.append((source, rules))
            entries.append((place, page_hash, entry[_HASH_BYTES:] if is_kept else None))
    size = sum(len(source.html or "") for source, _ in missing)
    is_shared = size >= _MIN_SHARED_CHARACTERS and _count_cores() > 1 and can_spawn()
    new_entries = (share_work if is_shared else map)(_index_source, missing)

    def collect() -> tuple[PageIndex, ...]:
        new: dict[bytes, bytes] = {}
        pages: list[PageIndex] = []
        with show_progress("reading pages") as report:
            for place, page_hash, data in entries:
                if data is None:
                    data = next(new_entries)
                    new[place] = page_hash + data
                    if report:
                        report(len(new), len(missing))
                pages.append(decode_page(data))
        with closing(SqliteCache(cache_folder, _TABLE)) as cache:
            cache.put(new)
        return tuple(pages)

    return collect


def _index_source(task: tuple[PageSource, CuttingRules]) -> bytes:
    source, rules = task
    return encode_page(index_record(parse_record(source), rules))


def share_work(function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
    """Share work among processes; yields the result for each task, in order.

    They end with their work. What those that have died did not do is done here.
    """
    # Not forked: a dev server has threads, and a fork of them can hang.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(min(_count_cores(), _MAX_PROCESSES), mp_context=context)
    results: Iterator[R] = iter(())
    with suppress(BrokenProcessPool):
        results = executor.map(function, tasks)
    return _complete(results, function, tasks)


def _complete(results: Iterator[R], function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
    done = 0
    with suppress(BrokenProcessPool):
        for result in results:
            yield result
            done += 1
    yield from map(function, tasks[done:])


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_spawn() -> bool:
    """True if a new process may import the main module without running a user's script."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        # A package that was run by its name: its `__main__` is not run again.
        return str(spec.name).endswith("__main__")
    return Path(getattr(main, "__file__", None) or "").name in _COMMANDS


def encode_page(page: PageIndex) -> bytes:
    """Encode the index of a page as compressed JSON."""
    return zlib.compress(msgspec.json.encode(page), 1)


def decode_page(data: bytes) -> PageIndex:
    """Decode what ``encode_page`` wrote."""
    page = msgspec.json.decode(zlib.decompress(data), type=PageIndex)
    # A site repeats its terms.
    shared = (replace(row, terms=tuple(map(sys.intern, row.terms))) for row in page.term_counts)
    return replace(page, term_counts=tuple(shared))
