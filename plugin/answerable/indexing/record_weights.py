"""Section weights: how much the pages of a part of the site count, by pattern of their ids.

Pages of history: what a project was, announces or has decided, rather than how it is used.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from ..serve.errors import SiteError
from ..serve.text.normalization import normalize_phrase
from .pages.records import Record


def check_weight_patterns(patterns: Iterable[str], ids: Sequence[str]) -> None:
    """Refuse a pattern that matches none of the site's records; SiteError names it."""
    for pattern in patterns:
        if not any(matches_pattern(name, pattern) for name in ids):
            raise SiteError(
                f"retrieval.weights: {pattern!r} matches no page; give a page's path without its "
                "suffix, a folder, or a pattern such as `blog/*`"
            )


def weigh_records(ids: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """The weight of each record: that of the first pattern that its id matches, else 1.

    A pattern without wildcards names a page or a folder.
    """
    return tuple(
        next((float(w) for pattern, w in weights.items() if matches_pattern(name, pattern)), 1.0)
        for name in ids
    )


def matches_pattern(name: str, pattern: str) -> bool:
    """Test a record's id against a pattern: a page, a folder or a glob."""
    plain = pattern.rstrip("/")
    return name == plain or name.startswith(f"{plain}/") or fnmatchcase(name, pattern)


# As whole words anywhere in a title or in a part of a path.
_HISTORY_PHRASES = (
    "changelog", "change log", "release notes", "release history", "version history",
    "upgrade notes", "what s new", "whats new",
)  # fmt: skip
# As the whole of a title or of a part of a path, but for the site's name.
_HISTORY_NAMES = frozenset(("changes", "releases", "proposals", "rfcs", "blog", "people"))
_HISTORY_PATTERN = re.compile(rf"\b({'|'.join(_HISTORY_PHRASES)})\b")


def mark_history_pages(
    records: Sequence[Record], site: str, weights: Mapping[str, float]
) -> tuple[bool, ...]:
    """Mark the records that tell history.

    site: its name. weights: section weights by pattern; a page that one matches is not marked. A
    site that consists of such pages for the most part, such as a blog, has none.
    """
    names = frozenset(normalize_phrase(site).split())
    marks = [_is_history(record, names) for record in records]
    if 2 * sum(marks) > len(marks):
        return (False,) * len(marks)
    return tuple(
        is_marked and not any(matches_pattern(record.id, each) for each in weights)
        for record, is_marked in zip(records, marks, strict=True)
    )


def _is_history(record: Record, names: frozenset[str]) -> bool:
    return any(_names_history(part, names) for part in (record.title, *record.id.split("/")))


def _names_history(text: str, names: Iterable[str]) -> bool:
    words = normalize_phrase(text).split()
    own = " ".join(word for word in words if word not in names)
    return own in _HISTORY_NAMES or _HISTORY_PATTERN.search(" ".join(words)) is not None
