"""Who asks: addresses reduced to an asker and hashed, and tokens of those who may ask."""

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence

# 64 bits tell the askers of a day apart, and no more is needed.
_HASH_DIGITS = 16


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
    """True if a header ``Authorization: Bearer TOKEN`` has a token of these SHA-256 digests.

    digests: in lower-case hexadecimal. The time that it takes does not depend on which of them
    matches.
    """
    scheme, _, value = (header or "").partition(" ")
    token = value.strip(" ")
    # A token of RFC 6750 is printable ASCII without a space.
    is_token = token.isascii() and token.isprintable() and " " not in token
    if scheme.lower() != "bearer" or not token or not is_token:
        return False
    actual = hashlib.sha256(token.encode()).hexdigest().encode()
    accepted = False
    for digest in digests:
        accepted |= hmac.compare_digest(actual, digest.encode())
    return accepted
