"""Pages of history: what a project was, announces or has decided, rather than how it is used."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ..serve.phrases import normalise
from . import section_weights
from .records import Record

# As whole words anywhere in a title or in a part of a path.
_ANYWHERE = (
    "changelog", "change log", "release notes", "release history", "version history",
    "upgrade notes", "what s new", "whats new",
)  # fmt: skip
# As the whole of a title or of a part of a path, but for the site's name.
_WHOLE = frozenset(("changes", "releases", "proposals", "rfcs", "blog", "people"))
_PATTERN = re.compile(rf"\b({'|'.join(_ANYWHERE)})\b")


def mark(records: Sequence[Record], site: str, weights: Mapping[str, float]) -> tuple[bool, ...]:
    """Mark the records that tell history.

    site: its name. weights: section weights by pattern; a page that one matches is not marked. A
    site that consists of such pages for the most part, such as a blog, has none.
    """
    names = frozenset(normalise(site).split())
    marks = [_is_history(record, names) for record in records]
    if 2 * sum(marks) > len(marks):
        return (False,) * len(marks)
    return tuple(
        is_marked and not any(section_weights.matches(record.id, each) for each in weights)
        for record, is_marked in zip(records, marks, strict=True)
    )


def _is_history(record: Record, names: frozenset[str]) -> bool:
    return any(_names_history(part, names) for part in (record.title, *record.id.split("/")))


def _names_history(text: str, names: Iterable[str]) -> bool:
    words = normalise(text).split()
    own = " ".join(word for word in words if word not in names)
    return own in _WHOLE or _PATTERN.search(" ".join(words)) is not None
