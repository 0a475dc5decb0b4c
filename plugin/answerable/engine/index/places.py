"""Ids and urls of passages, of which an index stores what does not follow from page and heading.

Written out they would make the file that every question loads twice as long.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..types import TITLE_SEPARATOR
from .columns import Index
from .format import MAX_FILE_BYTES

_WINDOW_SUFFIX = re.compile(r"~[0-9]+$")
_NOT_IN_ANCHOR, _ANCHOR_GAPS = re.compile("[^a-z0-9_ -]+"), re.compile("[ -]+")
# Stands for the anchor that Markdown gives the heading; no id holds white space.
_GUESSED = "# "


def guess_anchor(title: str) -> str:
    """Make the anchor that Markdown gives the last heading of a title, of its letters in ASCII."""
    heading = _NOT_IN_ANCHOR.sub("", title.rpartition(TITLE_SEPARATOR)[2].lower())
    return _ANCHOR_GAPS.sub("-", heading.strip(" "))


def shorten_places(index: Index) -> Index:
    """Leave out of the ids of passages that of their page and a guessed anchor, and urls."""
    ids: list[str] = []
    # None for a url that follows.
    urls: list[Any] = []
    rows = zip(
        index.passage_ids, index.passage_urls, index.passage_titles, index.passage_records,
        strict=True,
    )  # fmt: skip
    for passage_id, url, title, record in rows:
        tail = passage_id.removeprefix(index.record_ids[record])
        anchor = f"#{guess_anchor(title)}"
        window = tail.removeprefix(anchor)
        is_guessed = window != tail and (not window or _WINDOW_SUFFIX.fullmatch(window))
        ids.append(_GUESSED + window if is_guessed else tail)
        urls.append(None if url == index.record_urls[record] + _cut_window(tail) else url)
    return replace(index, passage_ids=ids, passage_urls=urls)


def expand_places(columns: dict[str, Any]) -> None:
    """Restore the ids and urls of passages among columns by name; an error of ``MALFORMED``."""
    ids: list[str] = []
    urls: list[str] = []
    records: Sequence[int] = columns["passage_records"].tolist()
    rows = zip(
        columns["passage_ids"], columns["passage_urls"], columns["passage_titles"], records,
        strict=True,
    )  # fmt: skip
    length = 0
    for tail, url, title, record in rows:
        if tail.startswith(_GUESSED):
            tail = f"#{guess_anchor(title)}{tail.removeprefix(_GUESSED)}"
        ids.append(columns["record_ids"][record] + tail)
        urls.append(columns["record_urls"][record] + _cut_window(tail) if url is None else url)
        length += len(ids[-1]) + len(urls[-1])
        if length > MAX_FILE_BYTES:
            raise ValueError("ids that pages share take too much memory")
    columns |= {"passage_ids": ids, "passage_urls": urls}


def _cut_window(tail: str) -> str:
    return _WINDOW_SUFFIX.sub("", tail) if "~" in tail else tail
