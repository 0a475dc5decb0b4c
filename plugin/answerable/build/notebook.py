"""The notebook: private notes and the public surface their authors declare."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
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
_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd"))
_NUMBERS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp"))
_ID = re.compile(r"[\w.:-]+")


class _Loader(yaml.SafeLoader):
    """YAML in which a number, a time or a date is the text that its author wrote.

    Otherwise the locator `12:30` would be 750, and `1.10` another page than it says.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Note:
    """One private document. Everything but label, locator, about and id is private.

    ``path`` is relative to the notebook, with forward slashes; ``published_in`` lists the pages
    that may repeat what the note says.
    """

    path: str
    id: str
    label: str
    locator: str
    about: str
    title: str
    body: str
    published_in: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that is private in the note: no public field may repeat it."""
        return "\n\n".join(part for part in (self.title, self.body) if part)


def read(folder: Path) -> list[Note]:
    """Every Markdown file of a notebook, in path order; files and folders named `.…` are not read.

    A notebook without notes is an empty list. NotebookError names the file and the field of the
    first mistake.
    """
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    notes = [note for path in sorted(_paths(folder)) if (note := _note(path, folder)) is not None]
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


def _paths(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise NotebookError(f"notebook: {error.filename} cannot be read ({error.strerror})")

    for here, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and Path(name).suffix.lower() in _SUFFIXES:
                yield Path(here, name)


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
    if fields["id"] and not _ID.fullmatch(fields["id"]):
        raise NotebookError(
            f"{name}: id may hold letters, digits, `.`, `_`, `:` and `-` only; write another"
        )
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
        loader = _Loader(text)
        root = loader.get_single_node()
        _check_keys(root, name)
        meta = loader.construct_document(root) if root else {}
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark else ""
        raise NotebookError(f"{name}: the front matter is not YAML{where}; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(f"{name}: the front matter is not a list of `key: value` lines")
    return meta


def _check_keys(root: yaml.Node | None, name: str) -> None:
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    seen: set[str] = set()
    for key in (key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)):
        if key in seen:
            raise NotebookError(f"{name}: {key} stands in the front matter twice; remove one")
        seen.add(key)


def _field(meta: Mapping[str, object], key: str, name: str) -> str:
    value = meta.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotebookError(f"{name}: {key} has to be a text; put it in quotes")
    return " ".join(value.split())
