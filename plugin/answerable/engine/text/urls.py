"""Urls: those that a reader may follow, and where servers are."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

# A control character, white space or a backslash could make a browser read another url.
UNSAFE_IN_URL = re.compile(r"[\x00-\x20\x7f-\xa0\\]")


def is_safe_url(url: str) -> bool:
    """True for a url that is root-relative or absolute http(s), without control characters."""
    is_rooted = url.startswith("/") and not url.startswith("//")
    return (is_rooted or url.startswith(("https://", "http://"))) and not UNSAFE_IN_URL.search(url)


# Domains that no public server is in.
_PRIVATE_DOMAINS = (".localhost", ".local", ".internal")


def is_private_address(base_url: str | None) -> bool:
    """True if a server is on this machine or in a private network, where nobody needs a key."""
    host = urlsplit(base_url or "").hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        # A name without a dot is one of a local network, such as a container's.
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_DOMAINS))


def is_loopback_address(base_url: str | None) -> bool:
    """True if a server is on this machine, so that no other machine can reach it."""
    host = urlsplit(base_url or "").hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return f".{host}".endswith(".localhost")
