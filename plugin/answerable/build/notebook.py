"""The notebook: private notes and the public surface their authors declare."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from ..serve.errors import NotebookError
from ..serve.types import RoutingHint
from . import labels

_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M | re.S
)
_KEYS = ("label", "locator", "about", "title", "id")


@dataclass(frozen=True, slots=True)
class Note:
    """One private document. Everything but label, locator, about and id is private.

    ``path`` is relative to the notebook, with forward slashes.
    """

    path: str
    id: str
    label: str
    locator: str
    about: str
    title: str
    body: str

    @property
    def text(self) -> str:
        """What is embedded so that the note can be found."""
        return "\n\n".join(part for part in (self.title, self.body) if part)


def read(folder: Path) -> list[Note]:
    """Every Markdown file of a notebook, in path order; files and folders named `.…` are not read.

    NotebookError names the file and the field of the first mistake.
    """
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    found = (path for path in folder.rglob("*.md") if not path.is_dir())
    paths = sorted(path for path in found if _is_visible(path, folder))
    notes = [note for path in paths if (note := _note(path, folder)) is not None]
    owners: dict[str, str] = {}
    for note in notes:
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            raise NotebookError(
                f"{note.path}: id {note.id!r} is that of {other} too; give one of them another"
            )
    return notes


def hint(note: Note, resolve: Callable[[str], str]) -> RoutingHint:
    """A note's public surface. resolve: from ``about`` to a url; it raises NotebookError."""
    try:
        url = resolve(note.about)
    except NotebookError as error:
        raise NotebookError(f"{note.path}: about: {error}") from None
    return RoutingHint(note.id, note.label, note.locator, url)


def opaque_id(path: str) -> str:
    """The id of a note that declares none: it tells nothing of the file's name."""
    return f"note:{hashlib.sha256(path.encode()).hexdigest()[:10]}"


def _is_visible(path: Path, folder: Path) -> bool:
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)


def _note(path: Path, folder: Path) -> Note | None:
    name = path.relative_to(folder).as_posix()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NotebookError(f"{name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise NotebookError(f"{name}: cannot be read ({error.strerror})") from None
    match = _FRONT_MATTER.match(text)
    meta = _front_matter(match[1] if match else "", name)
    if meta.get("draft") is True:
        return None
    fields = {key: _field(meta, key, name) for key in _KEYS}
    for key in ("label", "about"):
        if not fields[key]:
            raise NotebookError(f"{name}: {key} is missing; add `{key}: …` to its front matter")
    body = (text[match.end() :] if match else text).strip()
    note = Note(
        path=name,
        id=fields["id"] or opaque_id(name),
        label=fields["label"],
        locator=fields["locator"],
        about=fields["about"],
        title=fields["title"],
        body=body,
    )
    for key in ("label", "locator", "id"):
        labels.lint(fields[key], note.text, f"{name}: {key}")
    return note


def _front_matter(text: str, name: str) -> Mapping[str, object]:
    try:
        meta = yaml.safe_load(text) if text.strip() else {}
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark else ""
        raise NotebookError(f"{name}: the front matter is not YAML{where}; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(f"{name}: the front matter is not a list of `key: value` lines")
    return meta


def _field(meta: Mapping[str, object], key: str, name: str) -> str:
    value = meta.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise NotebookError(f"{name}: {key} has to be a text; put it in quotes")
    return " ".join(str(value).split())
