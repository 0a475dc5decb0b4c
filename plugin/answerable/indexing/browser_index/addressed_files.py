"""Name a folder of files by their contents, so that browsers may keep each file forever."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class AddressedFiles:
    """Hold files by their path in a folder, and the name of the folder, such as ``index/0123…``.

    The name follows from the files.
    """

    folder: str
    files: Mapping[str, bytes]

    @property
    def id(self) -> str:
        """Return the last part of the folder's name."""
        return self.folder.rpartition("/")[2]


def address_files(kind: str, files: Mapping[str, bytes]) -> AddressedFiles:
    """Name a folder below ``kind`` by the SHA-256 of the names and contents of its files."""
    return AddressedFiles(f"{kind}/{hash_files(files)}", files)


def hash_files(files: Mapping[str, bytes]) -> str:
    """Hash the names and contents of files to hexadecimal digits."""
    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        digest.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()[:_DIGITS]
