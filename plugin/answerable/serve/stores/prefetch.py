"""Decompress and, with ``verify``, hash a bundle's files in a thread, begun before numpy's import.

All of that releases the interpreter's lock, so that a function that starts it first has it done by
the time it opens its bundle. A file that could not be prefetched is read when it is needed.
"""

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from ..bundle_format.compression import hash_file, inflate
from ..errors import BundleError

COMPRESSED_SUFFIX = ".z"


class Prefetch:
    """Read the files of a bundle's folder in a thread. ``verify``: hash every file too."""

    def __init__(self, folder: Path, *, verify: bool) -> None:
        self._folder = folder
        self._verify = verify
        self._texts: dict[Path, bytes] = {}
        self._digests: dict[Path, str] = {}
        self._inflated = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def read_decompressed(self, path: Path) -> bytes:
        """Return a compressed file's text; OSError, or BundleError if it does not decompress."""
        self._inflated.wait()
        text = self._texts.get(path)
        return inflate(path.read_bytes(), path.name) if text is None else text

    def read_digest(self, path: Path) -> str:
        """Return a file's SHA-256 in hexadecimal digits; OSError."""
        self._thread.join()
        return self._digests.get(path) or hash_file(path)

    def close(self) -> None:
        """Join the thread, so that the folder can be removed, and free its texts."""
        self._thread.join()
        self._texts.clear()

    def _run(self) -> None:
        try:
            paths = [path for path in self._folder.iterdir() if path.is_file()]
        except OSError:
            paths = []
        # Whoever needs a file that is left out here meets the same error, and can name it.
        for path in paths:
            if path.suffix == COMPRESSED_SUFFIX:
                with suppress(OSError, BundleError):
                    self._texts[path] = inflate(path.read_bytes(), path.name)
        self._inflated.set()
        for path in paths if self._verify else ():
            with suppress(OSError, ValueError):
                self._digests[path] = hash_file(path)
