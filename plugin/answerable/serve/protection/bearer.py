"""Whether a request brings a token whose digest is known."""

import hashlib
import hmac
from collections.abc import Sequence

_SCHEME = "bearer"


def allows(header: str | None, digests: Sequence[str]) -> bool:
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
