"""Postings of terms that were asked for, kept while there is room: common words come again."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

TermPostings = tuple[NDArray[np.uint32], NDArray[np.uint16]]
FetchPostings = Callable[[list[str]], dict[str, TermPostings]]

CACHE_BYTES = 32 * 1024 * 1024
# What an entry takes beside its numbers.
_ENTRY_BYTES = 500

_NO_POSTINGS: TermPostings = (np.zeros(0, np.uint32), np.zeros(0, np.uint16))


class PostingsCache:
    """Of each term the passages that hold it and how often; asked for longest ago goes first."""

    def __init__(self, room: int = CACHE_BYTES) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._found: OrderedDict[str, TermPostings] = OrderedDict()

    def of(self, terms: Sequence[str], fetch: FetchPostings) -> list[TermPostings]:
        """Those of some terms, none for an unknown one. fetch: gives what is not kept."""
        found: dict[str, TermPostings] = {}
        with self._lock:
            for term in terms:
                if term in self._found:
                    self._found.move_to_end(term)
                    found[term] = self._found[term]
        if missing := [term for term in terms if term not in found]:
            fetched = fetch(missing)
            for term in missing:
                found[term] = fetched.get(term, _NO_POSTINGS)
                self._keep(term, found[term])
        return [found[term] for term in terms]

    def _keep(self, term: str, listed: TermPostings) -> None:
        with self._lock:
            if term not in self._found:
                self._found[term] = listed
                self._room -= _entry_size(listed)
            while self._room < 0:
                _, dropped = self._found.popitem(last=False)
                self._room += _entry_size(dropped)


def _entry_size(listed: TermPostings) -> int:
    return _ENTRY_BYTES + sum(numbers.nbytes for numbers in listed)
