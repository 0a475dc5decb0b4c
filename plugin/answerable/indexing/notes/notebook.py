"""The notebook: its notes, each with what its author declares public."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ...engine.errors import NotebookError
from .front_matter import FrontMatter, NoteFile, split_front_matter
from .note_key import NOTE_KEY_FILE, create_note_key, derive_note_id, read_note_key
from .note_lint import lint_public_field
from .transcripts import TRANSCRIPT_SUFFIXES, Cue, parse_transcript

_TEXT_SUFFIXES = (".md", ".markdown", ".txt")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
# How many notes an error names.
_MAX_ERRORS = 3

# Called with each note once it is read; it raises NotebookError.
NoteCheck = Callable[["Note"], None]


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
        """Join all that is private in the note: no public field may repeat it."""
        return "\n\n".join(part for part in (self.title, self.body) if part)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of a folder; its drafts and its notes with `routes: off` are for the audit alone.

    All are in path order. Fields of a draft may be incomplete; neither a draft nor an ``unrouted``
    note need have an id. ``new_key``: the file of the key for ids, if it was just written.
    """

    notes: tuple[Note, ...] = ()
    drafts: tuple[Note, ...] = ()
    unrouted: tuple[Note, ...] = ()
    new_key: Path | None = None

    @property
    def ids(self) -> dict[str, str]:
        """Map the path of each routed note to its id."""
        return {note.path: note.id for note in self.notes}

    @property
    def unindexed(self) -> tuple[Note, ...]:
        """List the notes that no index is given and the leak audit compares all the same."""
        return (*self.drafts, *self.unrouted)

    @property
    def unrouted_paths(self) -> tuple[str, ...]:
        """List the paths of the notes with `routes: off`."""
        return tuple(note.path for note in self.unrouted)


def read_notebook(
    folder: Path, checks: Sequence[NoteCheck] = (), *, writes_key: bool = False
) -> Notebook:
    """Read every note and draft of a notebook; files and folders named `.…` are not read.

    checks: of each note that readers may be led to. writes_key: a notebook that needs a key for
    the ids of notes and has none gets a new one; else that is an error. NotebookError names the
    first notes that are wrong, one on a line, and what is wrong first in each.
    """
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    notes: list[Note] = []
    drafts: list[Note] = []
    unrouted: list[Note] = []
    errors: list[str] = []
    for path in sorted(_walk_notes(folder)):
        try:
            note, front_matter = _read_note(path, path.relative_to(folder).as_posix())
            if front_matter.draft:
                drafts.append(note)
            elif not front_matter.routes:
                unrouted.append(note)
            else:
                notes.append(note)
                for check in checks:
                    check(note)
        except NotebookError as error:
            errors.append(str(error))
            if len(errors) == _MAX_ERRORS:
                break
    if errors:
        raise NotebookError("\n".join(errors))
    new_key: Path | None = None
    # The key is read where a note declares no id.
    if not all(note.id for note in notes):
        key = read_note_key(folder)
        if key is None and not writes_key:
            raise NotebookError(
                f"notebook: {folder / NOTE_KEY_FILE} is missing, so the ids of notes are unknown; "
                "build the site, or restore that file"
            )
        if key is None:
            key, new_key = create_note_key(folder), folder / NOTE_KEY_FILE
        notes = [replace(n, id=n.id or derive_note_id(key, n.path)) for n in notes]
    _check_ids(notes)
    return Notebook(tuple(notes), tuple(drafts), tuple(unrouted), new_key)


def _walk_notes(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise NotebookError(f"notebook: {error.filename} cannot be read ({error.strerror})")

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(parent, name) for name in names if not name.startswith(".")):
            if path.suffix.lower() in (*_TEXT_SUFFIXES, *TRANSCRIPT_SUFFIXES):
                yield path


def _check_ids(notes: Sequence[Note]) -> None:
    owners: dict[str, str] = {}
    for note in notes:
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            raise NotebookError(
                f"{note.path}: id {note.id!r} is also that of {other}; give one of them another"
            )


def _read_note(path: Path, name: str) -> tuple[Note, FrontMatter]:
    """Read a note, all private text of a draft, or raise NotebookError that names file and line."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise NotebookError(f"{name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise NotebookError(f"{name}: cannot be read ({error.strerror})") from None
    file = split_front_matter(content, name)
    front_matter = file.front_matter
    is_transcript = PurePosixPath(name).suffix.lower() in TRANSCRIPT_SUFFIXES
    note = Note(
        path=name,
        id=front_matter.id,
        label=front_matter.label,
        locator=front_matter.locator,
        about=front_matter.about,
        title=front_matter.title,
        body=file.text.strip(),
        published_in=front_matter.pages,
        raw=file.text if is_transcript else "",
    )
    if front_matter.draft:
        return note, front_matter
    for key in ("label", "about") if front_matter.routes else ():
        if not getattr(front_matter, key):
            raise NotebookError(
                f"{name}: {key} is missing; add `{key}: …` to its front matter, between two lines "
                "of `---` at the top"
            )
    parts: tuple[Cue | NotePage, ...]
    if is_transcript:
        parts = parse_transcript(file.text, name, file.first_line)
    else:
        parts = _split_pages(file.text, front_matter.first_page)
    _check_placeholders(file, parts)
    if parts:
        note = replace(note, parts=parts, body="\n\n".join(part.text for part in parts))
    for key in ("label", "locator", "id"):
        lint_public_field(getattr(note, key), note.text, file.locate(key))
    return note, front_matter


def _split_pages(text: str, first_page: int | None) -> tuple[NotePage, ...]:
    """Split a text that has form feeds or declares its first page; else return no pages."""
    if first_page is None and "\f" not in text:
        return ()
    pages = enumerate(text.split("\f"), 1 if first_page is None else first_page)
    return tuple(NotePage(page.strip(), number) for number, page in pages if page.strip())


def _check_placeholders(file: NoteFile, parts: Sequence[Cue | NotePage]) -> None:
    allowed = {"{seconds}" if isinstance(part, Cue) else "{page}" for part in parts[:1]}
    if not allowed.issuperset(_PLACEHOLDER.findall(file.front_matter.about)):
        raise NotebookError(
            f"{file.locate('about')} may hold `{{seconds}}` in a transcript and `{{page}}` in a "
            "paged note, and nothing else in braces; correct it"
        )
