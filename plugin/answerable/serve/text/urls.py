"""Urls that a reader may follow."""

import re

# A control character, white space or a backslash could make a browser read another url.
UNSAFE_IN_URL = re.compile(r"[\x00-\x20\x7f-\xa0\\]")


def is_safe_url(url: str) -> bool:
    """True for a url that is root-relative or absolute http(s), without control characters."""
    is_rooted = url.startswith("/") and not url.startswith("//")
    return (is_rooted or url.startswith(("https://", "http://"))) and not UNSAFE_IN_URL.search(url)
