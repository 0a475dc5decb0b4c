"""Which urls a bundle may hold: a reader is sent nowhere else."""

import re

from .bundle_format.columns import Lines
from .errors import BUILD_AGAIN, BundleError

# A control character, white space or a backslash could make a browser read another url.
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_UNSAFE_BYTES = bytes(byte for byte in range(128) if _UNSAFE.match(chr(byte)))


def is_safe_url(url: str) -> bool:
    """Whether a url is root-relative or absolute http(s), without control characters."""
    return _has_safe_start(url) and not _UNSAFE.search(url)


def check_urls(urls: Lines, name: str) -> None:
    """Refuse an unsafe url in a bundle's file; BundleError names both."""
    # All of them at once: a large notebook has ten thousand, and a cold start waits for this.
    lines = b"\n" + urls.joined if len(urls) else b""
    rooted = lines.count(b"\n/") - lines.count(b"\n//")
    absolute = lines.count(b"\nhttps://") + lines.count(b"\nhttp://")
    clean = lines.translate(None, _UNSAFE_BYTES)
    counted = rooted + absolute == len(urls) == len(lines) - len(clean)
    if not counted or not (clean.isascii() or all(map(is_safe_url, urls.texts()))):
        url = next((url for url in urls.texts() if not is_safe_url(url)), "")
        raise BundleError(f"{name} holds the unsafe url {url!r:.80}: {BUILD_AGAIN}")


def _has_safe_start(url: str) -> bool:
    return url.startswith(("https://", "http://")) or (
        url.startswith("/") and not url.startswith("//")
    )
