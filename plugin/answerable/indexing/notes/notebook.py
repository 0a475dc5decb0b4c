"""The notebook: private notes and the public surface their authors declare."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ...serve.errors import NotebookError
from . import front_matter
from .front_matter import NoteFile, read_note_file
from .note_ids import NoteIds
from .note_lint import ErrorCollector, lint_public_field
from .transcripts import Cue, TranscriptFormat, parse_transcript, strip_cue_times

_TEXTS = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".txt"))
_TRANSCRIPTS = frozenset((".vtt", ".srt"))
_SIDECARS = frozenset((".yml", ".yaml"))
_ID = re.compile(r"[\w.:-]+")
_PAGE = re.compile(r"[0-9]{1,9}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class NotePage:
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
    parts: tuple[Cue | NotePage, ...] = ()
    raw: str = ""

    @property
    def text(self) -> str:
        """All that is private in the note: no public field may repeat it."""
        return "\n\n".join(part for part in (self.title, self.body) if part)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of a folder; its drafts and its notes with `routes: off` are for the audit alone.

    All are in path order. What a draft declares may be incomplete; neither a draft nor an
    ``unrouted`` note need have an id. ``new_key``: the file of the key for ids, if this reading has
    written it.
    """

    notes: tuple[Note, ...] = ()
    drafts: tuple[Note, ...] = ()
    unrouted: tuple[Note, ...] = ()
    new_key: Path | None = None

    @property
    def withheld(self) -> tuple[Note, ...]:
        """What no index is given and the leak audit looks for all the same."""
        return (*self.drafts, *self.unrouted)

    @property
    def unrouted_paths(self) -> tuple[str, ...]:
        """The paths of the notes with `routes: off`."""
        return tuple(note.path for note in self.unrouted)


# What is looked up of a note once it is read; it raises NotebookError.
NoteCheck = Callable[[Note], None]


def read_routed_notes(folder: Path, *, writes_key: bool = False) -> list[Note]:
    """Read every note that readers may be led to; parameters and errors of ``read_all``."""
    return list(read_notebook(folder, writes_key=writes_key).notes)


def map_note_ids(notes: Iterable[Note]) -> dict[str, str]:
    """The id of each note by its path."""
    return {note.path: note.id for note in notes}


def read_notebook(folder: Path, checks: Sequence[NoteCheck] = (), *, writes_key: bool) -> Notebook:
    """Read every note and draft of a notebook; files and folders named `.…` are not read.

    checks: of each note that readers may be led to. writes_key: a notebook that needs a key for
    the ids of notes and has none gets a new one; else that is a mistake. NotebookError has a line
    for every mistake, which names the file and the field.
    """
    mistakes = ErrorCollector()
    notes: list[Note] = []
    drafts: list[Note] = []
    unrouted: list[Note] = []
    for path, file in _all(folder, mistakes):
        if file.is_draft:
            drafts.append(_draft(path, folder, file))
        else:
            is_routed = True
            with mistakes.collecting():
                is_routed = file.is_routed()
            note = _note(path, folder, file, mistakes, is_routed=is_routed)
            if not is_routed:
                unrouted.append(note)
                continue
            notes.append(note)
            for check in checks:
                with mistakes.collecting():
                    check(note)
    ids = NoteIds(folder, writes_key=writes_key)
    with mistakes.collecting():
        notes = [note if note.id else replace(note, id=ids.derive(note.path)) for note in notes]
    owners: dict[str, str] = {}
    for note in (note for note in notes if note.id):
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            mistakes.add(
                NotebookError(
                    f"{note.path}: id {note.id!r} is that of {other} too; give one of them another"
                )
            )
    mistakes.report()
    return Notebook(tuple(notes), tuple(drafts), tuple(unrouted), ids.new_key)


def _paths(folder: Path, mistakes: ErrorCollector) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        mistakes.add(NotebookError(f"notebook: {error.filename} cannot be read ({error.strerror})"))

    for here, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in names if not name.startswith("."))


def _sidecars(paths: Sequence[Path], folder: Path, mistakes: ErrorCollector) -> dict[Path, Path]:
    """Find the front matter files of transcripts, by transcript."""
    known = set(paths)
    sidecars: dict[Path, Path] = {}
    for path in paths:
        owner = path.with_suffix("")
        if path.suffix.lower() not in _SIDECARS or owner.suffix.lower() not in _TRANSCRIPTS:
            continue
        name = path.relative_to(folder).as_posix()
        if owner not in known:
            mistakes.add(
                NotebookError(
                    f"{name}: its transcript {owner.name} is missing; add it or remove this file"
                )
            )
        elif sidecars.setdefault(owner, path) != path:
            mistakes.add(
                NotebookError(f"{name}: {owner.name} has another such file; keep one of them")
            )
    return sidecars


def _all(folder: Path, mistakes: ErrorCollector) -> Iterator[tuple[Path, NoteFile]]:
    """Every note's path and what its files hold, drafts too."""
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    paths = sorted(_paths(folder, mistakes))
    sidecars = _sidecars(paths, folder, mistakes)
    for path in paths:
        if path.suffix.lower() in _TEXTS | _TRANSCRIPTS:
            file: NoteFile | None = None
            with mistakes.collecting():
                file = read_note_file(path, folder, sidecars.get(path))
            if file:
                yield path, file


def _draft(path: Path, folder: Path, file: NoteFile) -> Note:
    name = path.relative_to(folder).as_posix()
    title, pages = file.meta.get("title"), file.meta.get("published_in")
    listed = pages if isinstance(pages, list) else [pages]
    is_transcript = path.suffix.lower() in _TRANSCRIPTS
    return Note(
        path=name,
        id="",
        label="",
        locator="",
        about="",
        title=title if isinstance(title, str) else "",
        body=strip_cue_times(file.rest) if is_transcript else file.rest.strip(),
        published_in=tuple(page.strip() for page in listed if isinstance(page, str)),
        raw=file.rest if is_transcript else "",
    )


def _note(
    path: Path, folder: Path, file: NoteFile, mistakes: ErrorCollector, *, is_routed: bool
) -> Note:
    """Read a note; its id is empty where it declares none. is_routed: it has to be complete.

    A field with a mistake is empty, and so is ``about`` where its text has one.
    """
    name = path.relative_to(folder).as_posix()
    is_transcript = path.suffix.lower() in _TRANSCRIPTS
    needed = ("label", "about") if is_routed else ()
    fields = _fields(file, name, is_transcript, mistakes, needed)
    note = Note(
        path=name,
        id=fields["id"],
        label=fields["label"],
        locator=fields["locator"],
        about="",
        title=fields["title"],
        body="",
        raw=file.rest if is_transcript else "",
    )
    with mistakes.collecting():
        note = replace(note, published_in=file.published_in())
    with mistakes.collecting():
        parts = _parts(path, name, file, is_transcript)
        divider = "\n" if is_transcript else "\n\n"
        body = divider.join(part.text for part in parts) if parts else file.rest.strip()
        note = replace(note, parts=parts, body=body)
        _check_placeholders(fields["about"], parts, file.where)
        note = replace(note, about=fields["about"])
    for key in ("label", "locator", "id"):
        with mistakes.collecting():
            lint_public_field(fields[key], note.text, f"{file.where}: {key}")
    return note


def _fields(
    file: NoteFile, name: str, is_transcript: bool, mistakes: ErrorCollector, needed: Sequence[str]
) -> dict[str, str]:
    """Read the declared fields; one with a mistake is empty. needed: those that may not be."""
    fields = dict.fromkeys(front_matter.FIELD_KEYS, "")
    for key in front_matter.FIELD_KEYS:
        with mistakes.collecting():
            fields[key] = file.field(key)
            if key in needed and not fields[key]:
                apart = f" or to {name}.yml" if is_transcript else ""
                place = "it" if file.where != name else f"its front matter{apart}"
                raise NotebookError(f"{file.where}: {key} is missing; add `{key}: …` to {place}")
            if key == "id" and fields[key] and not _ID.fullmatch(fields[key]):
                raise NotebookError(
                    f"{file.where}: id may hold letters, digits, `.`, `_`, `:` and `-` only; "
                    "write another"
                )
    return fields


def _parts(
    path: Path, name: str, file: NoteFile, is_transcript: bool
) -> tuple[Cue | NotePage, ...]:
    """The cues of a transcript, or the pages of a paged note."""
    if not is_transcript:
        return _pages(file)
    kind = cast(TranscriptFormat, path.suffix.lower()[1:])
    return parse_transcript(file.rest, kind, name, file.first)


def _pages(file: NoteFile) -> tuple[NotePage, ...]:
    """The pages of a text that has form feeds or says where its pages begin; else none."""
    first = file.field("first_page")
    if first and not _PAGE.fullmatch(first):
        raise NotebookError(
            f"{file.where}: first_page has to be a whole number such as 1; correct it"
        )
    if not first and "\f" not in file.rest:
        return ()
    pages = enumerate(file.rest.split("\f"), int(first or 1))
    return tuple(NotePage(page.strip(), number) for number, page in pages if page.strip())


def _check_placeholders(about: str, parts: tuple[Cue | NotePage, ...], where: str) -> None:
    allowed = {"{seconds}" if isinstance(part, Cue) else "{page}" for part in parts[:1]}
    if not allowed.issuperset(_PLACEHOLDER.findall(about)):
        raise NotebookError(
            f"{where}: about may hold `{{seconds}}` in a transcript and `{{page}}` in a paged "
            "note, and nothing else in braces; correct it"
        )
