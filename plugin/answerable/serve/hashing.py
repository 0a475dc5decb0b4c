"""The SHA-256 of a file."""

import mmap
from pathlib import Path


def sha256(path: Path) -> str:
    """A file's SHA-256 in hexadecimal digits; OSError."""
    # OpenSSL's library takes a while to load: only where something is verified.
    import hashlib

    with path.open("rb") as file:
        if not path.stat().st_size:
            return hashlib.sha256(b"").hexdigest()
        # In one call: every other one waits for the interpreter again.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return hashlib.sha256(data).hexdigest()
