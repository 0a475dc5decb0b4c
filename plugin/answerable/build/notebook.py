"""The notebook: private notes and the public surface their authors declare."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from ..serve.errors import NotebookError
from ..serve.types import RoutingHint
from . import labels, transcripts
from .transcripts import Cue

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M | re.S)
_KEYS = ("label", "locator", "about", "title", "id")
_ALL_KEYS = frozenset((*_KEYS, "draft", "published_in", "first_page"))
_TEXTS = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".txt"))
_TRANSCRIPTS = frozenset((".vtt", ".srt"))
_SIDECARS = frozenset((".yml", ".yaml"))
_PLAIN = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp", "merge"))
# Reading more YAML takes minutes.
_LONGEST = 65_536
_ID = re.compile(r"[\w.:-]+")
_PAGE = re.compile(r"[0-9]{1,9}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class _Loader(yaml.SafeLoader):
    """YAML in which a number, a time or a date is the text that its author wrote.

    Otherwise the locator `12:30` would be 750, and `1.10` another page than it says.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _PLAIN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_constructors = {
    tag: make for tag, make in yaml.SafeLoader.yaml_constructors.items() if tag not in _PLAIN
}


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one page of a note, and the page's number."""

    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Note:
    """One private document. Everything but label, locator, about and id is private.

    ``path`` is relative to the notebook, with forward slashes; ``published_in`` lists the pages
    that may repeat what the note says; ``parts`` are the cues of a transcript or the pages of a
    paged note that hold text, and ``body`` is all of their text. ``raw`` is a transcript as it
    stands in its file, without front matter.
    """

    path: str
    id: str
    label: str
    locator: str
    about: str
    title: str
    body: str
    published_in: tuple[str, ...] = ()
    parts: tuple[Cue | Page, ...] = ()
    raw: str = ""

    @property
    def text(self) -> str:
        """All that is private in the note: no public field may repeat it."""
        return "\n\n".join(part for part in (self.title, self.body) if part)


@dataclass(frozen=True, slots=True)
class _File:
    """A note's front matter, the name of the file that holds it, and the rest of the note.

    ``first`` is the number of the rest's first line.
    """

    where: str
    meta: Mapping[str, object]
    rest: str
    first: int


def read(folder: Path) -> list[Note]:
    """Every note of a notebook, in path order; files and folders named `.…` are not read.

    A notebook without notes is an empty list. NotebookError names the file and the field of the
    first mistake.
    """
    notes = [
        _note(path, folder, file)
        for path, file in _all(folder)
        if file.meta.get("draft") is not True
    ]
    owners: dict[str, str] = {}
    for note in notes:
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            raise NotebookError(
                f"{note.path}: id {note.id!r} is that of {other} too; give one of them another"
            )
    return notes


def drafts(folder: Path) -> list[Note]:
    """Every note that is a draft, for the audit alone: what else it declares may be incomplete."""
    return [
        _draft(path, folder, file) for path, file in _all(folder) if file.meta.get("draft") is True
    ]


def hint(note: Note, resolve: Callable[[str], str]) -> RoutingHint:
    """A note's public surface. resolve: from ``about`` to a url; it raises NotebookError."""
    try:
        url = resolve(note.about)
    except NotebookError as error:
        raise NotebookError(f"{note.path}: about: {error}") from None
    except ValueError:
        raise NotebookError(f"{note.path}: about is not a url; correct it") from None
    return RoutingHint(note.id, note.label, note.locator, url)


def opaque_id(path: str) -> str:
    """The id of a note that declares none: it tells nothing of the file's name."""
    return f"note:{hashlib.sha256(path.encode(errors='surrogateescape')).hexdigest()[:10]}"


def _paths(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise NotebookError(f"notebook: {error.filename} cannot be read ({error.strerror})")

    for here, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in names if not name.startswith("."))


def _sidecars(paths: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """The front matter files of transcripts, by transcript."""
    known = set(paths)
    found: dict[Path, Path] = {}
    for path in paths:
        owner = path.with_suffix("")
        if path.suffix.lower() not in _SIDECARS or owner.suffix.lower() not in _TRANSCRIPTS:
            continue
        name = path.relative_to(folder).as_posix()
        if owner not in known:
            raise NotebookError(
                f"{name}: its transcript {owner.name} is missing; add it or remove this file"
            )
        if found.setdefault(owner, path) != path:
            raise NotebookError(f"{name}: {owner.name} has another such file; keep one of them")
    return found


def _all(folder: Path) -> Iterator[tuple[Path, _File]]:
    """Every note's path and what its files hold, drafts too."""
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    paths = sorted(_paths(folder))
    sidecars = _sidecars(paths, folder)
    for path in paths:
        if path.suffix.lower() in _TEXTS | _TRANSCRIPTS:
            yield path, _file(path, folder, sidecars.get(path))


def _draft(path: Path, folder: Path, file: _File) -> Note:
    name = path.relative_to(folder).as_posix()
    title, pages = file.meta.get("title"), file.meta.get("published_in")
    listed = pages if isinstance(pages, list) else [pages]
    is_transcript = path.suffix.lower() in _TRANSCRIPTS
    return Note(
        path=name,
        id=opaque_id(name),
        label="",
        locator="",
        about="",
        title=title if isinstance(title, str) else "",
        body=transcripts.untimed(file.rest) if is_transcript else file.rest.strip(),
        published_in=tuple(page.strip() for page in listed if isinstance(page, str)),
        raw=file.rest if is_transcript else "",
    )


def _note(path: Path, folder: Path, file: _File) -> Note:
    name = path.relative_to(folder).as_posix()
    meta, where = file.meta, file.where
    is_transcript = path.suffix.lower() in _TRANSCRIPTS
    fields = {key: _field(meta, key, where) for key in _KEYS}
    for key in ("label", "about"):
        if not fields[key]:
            apart = f" or to {name}.yml" if is_transcript else ""
            place = "it" if where != name else f"its front matter{apart}"
            raise NotebookError(f"{where}: {key} is missing; add `{key}: …` to {place}")
    if fields["id"] and not _ID.fullmatch(fields["id"]):
        raise NotebookError(
            f"{where}: id may hold letters, digits, `.`, `_`, `:` and `-` only; write another"
        )
    parts: tuple[Cue | Page, ...]
    if is_transcript:
        kind = cast(transcripts.Format, path.suffix.lower()[1:])
        parts = transcripts.read(file.rest, kind, name, file.first)
        body = "\n".join(cue.text for cue in parts)
    else:
        parts = _pages(file.rest, meta, where)
        body = "\n\n".join(page.text for page in parts) if parts else file.rest.strip()
    _check_placeholders(fields["about"], parts, where)
    note = Note(
        path=name,
        id=fields["id"] or opaque_id(name),
        label=fields["label"],
        locator=fields["locator"],
        about=fields["about"],
        title=fields["title"],
        body=body,
        published_in=_published_in(meta, where),
        parts=parts,
        raw=file.rest if is_transcript else "",
    )
    for key in ("label", "locator", "id"):
        labels.lint(fields[key], note.text, f"{where}: {key}")
    return note


def _file(path: Path, folder: Path, sidecar: Path | None) -> _File:
    name = path.relative_to(folder).as_posix()
    text = _text(path, name)
    match = _FRONT_MATTER.match(text)
    if sidecar is None:
        meta = _front_matter(match[1], name, 2) if match else {}
        end = match.end() if match else 0
        return _File(name, meta, text[end:], text.count("\n", 0, end) + 1)
    where = sidecar.relative_to(folder).as_posix()
    if match:
        raise NotebookError(f"{name}: it has front matter, and so has {where}; keep one of them")
    apart = _text(sidecar, where)
    fenced = _FRONT_MATTER.match(apart)
    meta = _front_matter(fenced[1], where, 2) if fenced else _front_matter(apart, where, 1)
    return _File(where, meta, text, 1)


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise NotebookError(f"{name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise NotebookError(f"{name}: cannot be read ({error.strerror})") from None


def _pages(text: str, meta: Mapping[str, object], where: str) -> tuple[Page, ...]:
    """The pages of a text that has form feeds or says where its pages begin; else none."""
    first = _field(meta, "first_page", where)
    if first and not _PAGE.fullmatch(first):
        raise NotebookError(f"{where}: first_page has to be a whole number such as 1; correct it")
    if not first and "\f" not in text:
        return ()
    pages = enumerate(text.split("\f"), int(first or 1))
    return tuple(Page(page.strip(), number) for number, page in pages if page.strip())


def _check_placeholders(about: str, parts: tuple[Cue | Page, ...], where: str) -> None:
    allowed = {"{seconds}" if isinstance(part, Cue) else "{page}" for part in parts[:1]}
    if not allowed.issuperset(_PLACEHOLDER.findall(about)):
        raise NotebookError(
            f"{where}: about may hold `{{seconds}}` in a transcript and `{{page}}` in a paged "
            "note, and nothing else in braces; correct it"
        )


def _published_in(meta: Mapping[str, object], where: str) -> tuple[str, ...]:
    value = meta.get("published_in")
    pages = value if isinstance(value, list) else [] if value is None else [value]
    texts = tuple(page.strip() for page in pages if isinstance(page, str) and page.strip())
    if len(texts) != len(pages):
        raise NotebookError(
            f"{where}: published_in has to be a page such as `guide/deploy.md`, or a list of pages"
        )
    return texts


def _front_matter(text: str, name: str, first: int) -> Mapping[str, object]:
    """first: the number of the text's first line in its file."""
    if len(text) > _LONGEST:
        raise NotebookError(
            f"{name}: the front matter has more than {_LONGEST} characters; shorten it"
        )
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        _check_keys(root, name, first)
        meta = loader.construct_document(root) if root else {}
    except (yaml.YAMLError, ValueError, KeyError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + first}" if mark else ""
        raise NotebookError(f"{name}: the front matter is not YAML{where}; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(f"{name}: the front matter is not a list of `key: value` lines")
    return meta


def _check_keys(root: yaml.Node | None, name: str, first: int) -> None:
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    seen: set[str] = set()
    for key in (key for key, _ in pairs if isinstance(key, yaml.ScalarNode)):
        if key.value in seen:
            # Any other key may be the note's prose.
            line = key.start_mark.line + first
            known = key.value if key.value in _ALL_KEYS else f"the key in line {line}"
            raise NotebookError(f"{name}: {known} stands in the front matter twice; remove one")
        seen.add(key.value)


def _field(meta: Mapping[str, object], key: str, name: str) -> str:
    value = meta.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotebookError(f"{name}: {key} has to be a text; put it in quotes")
    text = " ".join(value.split())
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise NotebookError(f"{name}: {key} holds a control character; remove it")
    return text
