"""Who asks, without who they are: addresses as hashes that last a day."""

import hmac
import ipaddress

# 64 bits tell the askers of a day apart and are no more than that takes.
_DIGITS = 16


def network(address: str) -> str:
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


def hashed(address: str, secret: bytes, day: str) -> str:
    """An asker's address as 16 hexadecimal digits of an HMAC-SHA256; "" for an unknown one.

    day: in UTC, such as 2024-05-01. It makes the key, so an asker of two days is two askers.
    """
    if not address:
        return ""
    key = hmac.digest(secret, day.encode(), "sha256")
    return hmac.digest(key, address.encode("utf-8", "replace"), "sha256").hex()[:_DIGITS]
