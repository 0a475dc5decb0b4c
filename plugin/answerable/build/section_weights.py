"""Section weights: how much the pages of a part of the site count, by pattern of their ids."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from ..serve.errors import SiteError


def check(patterns: Iterable[str], ids: Sequence[str]) -> None:
    """Refuse a pattern that matches none of the site's records; SiteError names it."""
    for pattern in patterns:
        if not any(matches(name, pattern) for name in ids):
            raise SiteError(
                f"retrieval.weights: {pattern!r} matches no page; give a page's path without its "
                "suffix, a folder, or a pattern such as `blog/*`"
            )


def of(ids: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """The weight of each record: that of the first pattern that its id matches, else 1.

    A pattern without wildcards names a page or a folder.
    """
    return tuple(
        next((float(w) for pattern, w in weights.items() if matches(name, pattern)), 1.0)
        for name in ids
    )


def matches(name: str, pattern: str) -> bool:
    """Test a record's id against a pattern: a page, a folder or a glob."""
    plain = pattern.rstrip("/")
    return name == plain or name.startswith(f"{plain}/") or fnmatchcase(name, pattern)
