"""Mask and hash client addresses, check bearer tokens, bound answers in flight."""

import hashlib
import hmac
import ipaddress
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# 64 bits tell the askers of a day apart, and no more is needed.
_HASH_DIGITS = 16
_BEARER_SCHEME = "bearer"


def mask_address(address: str) -> str:
    """Reduce an address to its asker: no port, and of an IPv6 one its network of 64 bits."""
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    if address.count(":") < 2:
        # Some proxies add the port, which is another one for every connection.
        return address.partition(":")[0]
    try:
        ipv6 = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if ipv6.ipv4_mapped:
        return str(ipv6.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(ipv6), 64), strict=False))


def hash_with_secret(text: str, secret: bytes, purpose: str) -> str:
    """Hash an address or a question to 16 hexadecimal digits of HMAC-SHA256; "" stays "".

    purpose: a part of the key. For an asker it is the UTC day, such as 2024-05-01, so that an asker
    of two days is two askers.
    """
    if not text:
        return ""
    key = hmac.digest(secret, purpose.encode(), "sha256")
    return hmac.digest(key, text.encode("utf-8", "replace"), "sha256").hex()[:_HASH_DIGITS]


def accepts_bearer_token(header: str | None, digests: Sequence[str]) -> bool:
    """Check the token of a header ``Authorization: Bearer TOKEN`` against SHA-256 digests.

    digests: in lower-case hexadecimal; without any, no token is accepted. The time that it takes
    does not depend on which of them matches.
    """
    scheme, _, value = (header or "").partition(" ")
    token = value.strip(" ")
    # A token of RFC 6750 is printable ASCII without a space.
    is_token = token.isascii() and token.isprintable() and " " not in token
    if scheme.lower() != _BEARER_SCHEME or not token or not is_token:
        return False
    actual = hashlib.sha256(token.encode()).hexdigest().encode()
    accepted = False
    for digest in digests:
        accepted |= hmac.compare_digest(actual, digest.encode())
    return accepted


class AskerSlots:
    """Bound the answers that are made at once for each asker; ``limit`` None for no bound.

    Otherwise one asker holds all slots of a model that answers slowly: as many questions as there
    are slots are within the rate of a minute, and each of them may take half of one.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Count the askers that hold a slot."""
        with self._changed:
            return len(self._counts)

    @contextmanager
    def hold_slot(self, asker: str, wait: float) -> Iterator[bool]:
        """Hold one of an asker's slots in this block; yield False if none is free in time.

        wait: seconds.
        """
        with self._changed:
            is_held = self._changed.wait_for(lambda: self._has_room(asker), wait)
            if is_held:
                self._counts[asker] += 1
        try:
            yield is_held
        finally:
            if is_held:
                self._release(asker)

    def _has_room(self, asker: str) -> bool:
        return self._limit is None or self._counts[asker] < self._limit

    def _release(self, asker: str) -> None:
        with self._changed:
            self._counts[asker] -= 1
            if not self._counts[asker]:
                del self._counts[asker]
            # All who wait: the first of them may be another asker.
            self._changed.notify_all()
