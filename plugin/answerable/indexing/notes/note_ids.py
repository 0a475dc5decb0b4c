"""Derive opaque note ids from paths by HMAC with a notebook's secret key; read or make that key."""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path

from ...serve.errors import NotebookError
from ..output.atomic_files import temporary_path, write_private_file

# A file whose name begins with a dot is never read as a note.
NOTE_KEY_FILE = ".answerable-key"
# Hexadecimal digits of an id: a reader may come upon one, and 40 bits tell the notes apart.
NOTE_ID_DIGITS = 10
# Logged once by a build. %s: the key's path.
NEW_KEY_MESSAGE = (
    "notebook: %s is new; keep it private and with the notes, since their ids are made with it"
)

_KEY = re.compile(rb"\s*([0-9a-fA-F]{64})\s*")
_KEY_BYTES = 32
_MAX_FILE_BYTES = 1024


class NoteIds:
    """Derive the ids of notes that declare none, with the key of their notebook.

    The key is read when the first id is needed. writes_key: a missing one is created, and
    ``new_key`` holds its path; else it is an error.
    """

    def __init__(self, folder: Path, *, writes_key: bool) -> None:
        self._folder = folder
        self._writes_key = writes_key
        self._key: bytes | None = None
        self.new_key: Path | None = None

    def derive(self, path: str) -> str:
        """Derive a note's id from its path; NotebookError if there is no usable key."""
        if self._key is None:
            self._key = read_note_key(self._folder) or self._create()
        return derive_note_id(self._key, path)

    def _create(self) -> bytes:
        path = self._folder / NOTE_KEY_FILE
        if not self._writes_key:
            raise NotebookError(
                f"notebook: {path} is missing, so the ids of notes are unknown; build the site, or "
                "restore that file"
            )
        key = create_note_key(self._folder)
        self.new_key = path
        return key


def derive_note_id(key: bytes, path: str) -> str:
    """Derive a note's id from its path: HMAC-SHA256, the first 40 bits.

    Without the key nobody can test whether a guessed path is that of a note. path: relative to the
    notebook, with forward slashes.
    """
    digest = hmac.new(key, path.encode(errors="surrogateescape"), hashlib.sha256)
    return f"note:{digest.hexdigest()[:NOTE_ID_DIGITS]}"


def read_note_key(folder: Path) -> bytes | None:
    """Read a notebook's key, 32 bytes; None if it has none yet.

    NotebookError for a file that is no key or cannot be read; its content is never repeated.
    """
    path = folder / NOTE_KEY_FILE
    if not os.path.lexists(path):
        return None
    data = b""
    try:
        # To open a named pipe would wait for whoever writes into it.
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                data = file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise NotebookError(
            f"notebook: {path} cannot be read ({error.strerror}); make it readable for whoever "
            "builds the site"
        ) from None
    match = _KEY.fullmatch(data)
    if match is None:
        raise NotebookError(
            f"notebook: {path} is not a file of 64 hexadecimal digits; restore it from a backup, "
            "or delete it and build again, which gives the notes new ids"
        )
    return bytes.fromhex(match[1].decode("ascii"))


def create_note_key(folder: Path) -> bytes:
    """Write a new random key into a notebook, for its owner alone, and read it back.

    The file appears whole or not at all. Of two builds at once, both use the key of the first.
    NotebookError if the folder cannot be written.
    """
    path = folder / NOTE_KEY_FILE
    try:
        _write_new(path, f"{secrets.token_hex(_KEY_BYTES)}\n".encode())
    except OSError as error:
        raise NotebookError(
            f"notebook: {path} cannot be written ({error.strerror}), and ids of notes are made "
            "with it; make the folder writable for one build, or give every note an `id`"
        ) from None
    key = read_note_key(folder)
    if key is None:
        raise NotebookError(f"notebook: {path} was removed while it was read; build again")
    return key


def _write_new(path: Path, data: bytes) -> None:
    """Write a private file unless it exists by then; the first of two writers wins."""
    temporary = temporary_path(path)
    try:
        write_private_file(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
        except OSError:
            # A file system without hard links: here two first builds at once would differ.
            temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
