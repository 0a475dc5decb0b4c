"""Language tags: which of a site's languages somebody asks in."""

import re
from collections.abc import Iterable

MAX = 35

# The shape of BCP 47, with the underscore that gettext's locales have.
TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")


def is_tag(text: str) -> bool:
    """Whether a text may name a language, such as ``fr`` or ``fr-CA``."""
    return len(text) <= MAX and TAG.fullmatch(text) is not None


def matching(asked: str | None, languages: Iterable[str]) -> frozenset[str]:
    """The languages that somebody who asks in one can read; none for one the site does not have.

    The most specific match wins, as in RFC 4647's lookup: ``fr-CA`` takes ``fr-CA``, else ``fr``,
    else every variety of French.
    """
    if asked is None:
        return frozenset()
    known = {language: _parts(language) for language in languages}
    wanted = _parts(asked)
    for length in range(len(wanted), 0, -1):
        found = {name for name, parts in known.items() if parts == wanted[:length]}
        if found:
            return frozenset(found)
    return frozenset(name for name, parts in known.items() if parts[0] == wanted[0])


def _parts(tag: str) -> list[str]:
    return re.split("[-_]", tag.lower())
