"""Weights of pages: the owner's patterns, and pages of history or for contributors."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from ..engine.errors import SiteError
from ..engine.text.tokenization import normalize_phrase
from .pages.records import Record

# As whole words anywhere in a title or in a part of a path.
_HISTORY_PHRASES = (
    "changelog", "change log", "release notes", "release history", "version history",
    "upgrade notes", "what s new", "whats new",
)  # fmt: skip
# What a site's readers seldom want: pages for those who work on the project.
_CONTRIBUTING_NAMES = frozenset(("contributing", "contribute", "contributing guide", "development"))
# As the whole of a title or of a part of a path, but for the site's name.
_HISTORY_NAMES = frozenset(("changes", "releases", "proposals", "rfcs", "blog", "people"))
_HISTORY_PATTERN = re.compile(rf"\b({'|'.join(_HISTORY_PHRASES)})\b")


def check_weight_patterns(patterns: Iterable[str], ids: Sequence[str]) -> None:
    """Refuse a pattern that matches none of the site's records; SiteError names it."""
    for pattern in patterns:
        if not any(_matches_pattern(name, pattern) for name in ids):
            raise SiteError(
                f"retrieval.weights: {pattern!r} matches no page; give a page's path without its "
                "suffix, a folder, or a pattern such as `blog/*`"
            )


def weigh_records(ids: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """Return the weight of each record: that of the first pattern that its id matches, else 1.

    A pattern without wildcards names a page or a folder. Pages on contributing weigh .8.
    """

    def weigh(name: str) -> float:
        is_for_others = not _CONTRIBUTING_NAMES.isdisjoint(map(normalize_phrase, name.split("/")))
        usual = 0.8 if is_for_others else 1.0
        matching = (float(w) for pattern, w in weights.items() if _matches_pattern(name, pattern))
        return next(matching, usual)

    return tuple(map(weigh, ids))


def mark_history_pages(
    records: Sequence[Record], site: str, weights: Mapping[str, float]
) -> tuple[bool, ...]:
    """Mark the records that tell what a project was, announces or has decided.

    site: its name. weights: section weights by pattern; a page that one matches is not marked. A
    site that consists of such pages for the most part, such as a blog, has none.
    """
    site_words = frozenset(normalize_phrase(site).split())
    marks = [
        any(_names_history(part, site_words) for part in (record.title, *record.id.split("/")))
        for record in records
    ]
    if 2 * sum(marks) > len(marks):
        return (False,) * len(marks)
    return tuple(
        is_marked and not any(_matches_pattern(record.id, pattern) for pattern in weights)
        for record, is_marked in zip(records, marks, strict=True)
    )


def _matches_pattern(name: str, pattern: str) -> bool:
    """Test a record's id against a pattern: a page, a folder or a glob."""
    plain = pattern.rstrip("/")
    return name == plain or name.startswith(f"{plain}/") or fnmatchcase(name, pattern)


def _names_history(text: str, site_words: frozenset[str]) -> bool:
    words = normalize_phrase(text).split()
    name = " ".join(word for word in words if word not in site_words)
    return name in _HISTORY_NAMES or _HISTORY_PATTERN.search(" ".join(words)) is not None
