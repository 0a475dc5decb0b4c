"""Who asks, without who they are: addresses as hashes that last a day.

Whether a request brings a token whose digest is known.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence

# 64 bits tell the askers of a day apart and are no more than that takes.
_DIGITS = 16


def mask_address(address: str) -> str:
    """The address of an asker, or of the network of 64 bits that an IPv6 one may choose from."""
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    if address.count(":") < 2:
        # Some proxies tell the port too, which is another one for every connection.
        return address.partition(":")[0]
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), 64), strict=False))


def hash_with_secret(address: str, secret: bytes, day: str) -> str:
    """An asker's address as 16 hexadecimal digits of an HMAC-SHA256; "" for an unknown one.

    day: in UTC, such as 2024-05-01. It makes the key, so an asker of two days is two askers.
    """
    if not address:
        return ""
    key = hmac.digest(secret, day.encode(), "sha256")
    return hmac.digest(key, address.encode("utf-8", "replace"), "sha256").hex()[:_DIGITS]


_SCHEME = "bearer"


def accepts_bearer_token(header: str | None, digests: Sequence[str]) -> bool:
    """Whether a header ``Authorization: Bearer TOKEN`` holds a token of these SHA-256 digests.

    digests: in lower-case hexadecimal; none of them allows nobody. It takes as long whichever of
    them fits, and none.
    """
    scheme, _, rest = (header or "").partition(" ")
    token = rest.strip(" ")
    # A token of RFC 6750 is printable ASCII without a space.
    if scheme.lower() != _SCHEME or not (token.isascii() and token.isprintable()) or " " in token:
        return False
    if not token:
        return False
    found = hashlib.sha256(token.encode()).hexdigest().encode()
    allowed = False
    for digest in digests:
        allowed |= hmac.compare_digest(found, digest.encode())
    return allowed
