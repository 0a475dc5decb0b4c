"""Which urls a bundle may hold: a reader is sent nowhere else."""

import re
from collections.abc import Sequence

from .errors import AGAIN, BundleError

# A control character, white space or a backslash could make a browser read another url.
_BAD = re.compile(r"[\x00-\x20\x7f-\xa0\\]")


def is_safe_url(url: str) -> bool:
    """Whether a url is root-relative or absolute http(s), without control characters."""
    return _leads_somewhere(url) and not _BAD.search(url)


def check(urls: Sequence[str], name: str) -> None:
    """Refuse an unsafe url in a bundle's file; BundleError names both."""
    # All of them at once: a large notebook has ten thousand, and a cold start waits for this.
    lines = "\n" + "\n".join(urls) if urls else ""
    rooted = lines.count("\n/") - lines.count("\n//")
    absolute = lines.count("\nhttps://") + lines.count("\nhttp://")
    counted = lines.count("\n") == rooted + absolute == len(urls)
    if not counted or _BAD.search(lines.replace("\n", "")):
        url = next((url for url in urls if not is_safe_url(url)), "")
        raise BundleError(f"{name} holds the unsafe url {url!r:.80}: {AGAIN}")


def _leads_somewhere(url: str) -> bool:
    return url.startswith(("https://", "http://")) or (
        url.startswith("/") and not url.startswith("//")
    )
