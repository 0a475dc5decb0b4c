"""A bundle's files read, decompressed and hashed by another thread.

All of that lets go of the interpreter, so a function that starts it before it imports numpy has it
done by the time it opens its bundle. What could not be read ahead is read when it is wanted.
"""

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from ..bundle_format.compression import hash_file, inflate
from ..errors import BundleError

COMPRESSED_SUFFIX = ".z"


class Prefetch:
    """What a thread has made of the files in a bundle's folder.

    ``verify``: hash every file too.
    """

    def __init__(self, folder: Path, *, verify: bool) -> None:
        self._folder = folder
        self._verify = verify
        self._texts: dict[Path, bytes] = {}
        self._digests: dict[Path, str] = {}
        self._inflated = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def text(self, path: Path) -> bytes:
        """A compressed file's bytes; OSError, or BundleError if they do not decompress."""
        self._inflated.wait()
        found = self._texts.get(path)
        return inflate(path.read_bytes(), path.name) if found is None else found

    def digest(self, path: Path) -> str:
        """A file's SHA-256 in hexadecimal digits; OSError."""
        self._thread.join()
        return self._digests.get(path) or hash_file(path)

    def close(self) -> None:
        """Wait for it, so that the folder can be removed, and forget its texts."""
        self._thread.join()
        self._texts.clear()

    def _run(self) -> None:
        try:
            paths = [path for path in self._folder.iterdir() if path.is_file()]
        except OSError:
            paths = []
        # Whoever asks for a file that is left out here meets the same error, and can name it.
        for path in paths:
            if path.suffix == COMPRESSED_SUFFIX:
                with suppress(OSError, BundleError):
                    self._texts[path] = inflate(path.read_bytes(), path.name)
        self._inflated.set()
        for path in paths if self._verify else ():
            with suppress(OSError, ValueError):
                self._digests[path] = hash_file(path)
