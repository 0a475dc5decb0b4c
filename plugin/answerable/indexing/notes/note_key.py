"""The key of a notebook, and the ids of notes that are made with it."""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from ...engine.errors import NotebookError
from ..files import temporary_path, write_private_file

# A file whose name begins with a dot is never read as a note.
NOTE_KEY_FILE = ".answerable-key"
# Logged once by a build. %s: the key's path.
NEW_KEY_MESSAGE = (
    "notebook: %s is new; keep it private and with the notes, since their ids are made with it"
)

_KEY = re.compile(rb"\s*([0-9a-fA-F]{64})\s*")


def derive_note_id(key: bytes, path: str) -> str:
    """Derive a note's id from its path: HMAC-SHA256, the first 40 bits.

    Without the key nobody can test whether a guessed path is that of a note. path: relative to the
    notebook, with forward slashes.
    """
    digest = hmac.new(key, path.encode(errors="surrogateescape"), hashlib.sha256)
    return f"note:{digest.hexdigest()[:10]}"


def read_note_key(folder: Path) -> bytes | None:
    """Read a notebook's key, 32 bytes; None if it has none yet.

    NotebookError for a file that is no key or cannot be read; its content is never repeated.
    """
    path = folder / NOTE_KEY_FILE
    if not os.path.lexists(path):
        return None
    try:
        match = _KEY.fullmatch(path.read_bytes())
    except OSError as error:
        raise NotebookError(
            f"notebook: {path} cannot be read ({error.strerror}); make it readable for whoever "
            "builds the site"
        ) from None
    if match is None:
        raise NotebookError(
            f"notebook: {path} is not a file of 64 hexadecimal digits; restore it from a backup, "
            "or delete it and build again, which gives the notes new ids"
        )
    return bytes.fromhex(match[1].decode("ascii"))


def create_note_key(folder: Path) -> bytes:
    """Write a new random key into a notebook, for its owner alone, and read it back.

    Of two builds at once, both use the key of the first. NotebookError if the folder cannot be
    written.
    """
    path = folder / NOTE_KEY_FILE
    temporary = temporary_path(path)
    try:
        write_private_file(temporary, f"{secrets.token_hex(32)}\n".encode())
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:
            # A file system without hard links: here two first builds at once would differ.
            temporary.replace(path)
        temporary.unlink(missing_ok=True)
    except OSError as error:
        raise NotebookError(
            f"notebook: {path} cannot be written ({error.strerror}), and ids of notes are made "
            "with it; make the folder writable for one build, or give every note an `id`"
        ) from None
    key = read_note_key(folder)
    if key is None:
        raise NotebookError(f"notebook: {path} was removed while it was read; build again")
    return key
