"""Read and lint a folder of notes, transcripts too: routed with ids, unrouted ones, and drafts."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from ...serve.errors import NotebookError
from .captions import strip_cue_times
from .front_matter import FIELD_KEYS, NoteFile, read_note_file
from .note import Note, Notebook, NotePage
from .note_ids import NoteIds
from .note_lint import ErrorCollector, lint_public_field
from .transcripts import Cue, TranscriptFormat, parse_transcript

_TEXT_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".txt"))
_TRANSCRIPT_SUFFIXES = frozenset((".vtt", ".srt"))
_SIDECAR_SUFFIXES = frozenset((".yml", ".yaml"))
_ID = re.compile(r"[\w.:-]+")
_PAGE_NUMBER = re.compile(r"[0-9]{1,9}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")

# Called with each note once it is read; it raises NotebookError.
NoteCheck = Callable[[Note], None]


def read_notebook(
    folder: Path, checks: Sequence[NoteCheck] = (), *, writes_key: bool = False
) -> Notebook:
    """Read every note and draft of a notebook; files and folders named `.…` are not read.

    checks: of each note that readers may be led to. writes_key: a notebook that needs a key for
    the ids of notes and has none gets a new one; else that is an error. NotebookError has a line
    for every error, which names the file and the field.
    """
    errors = ErrorCollector()
    notes: list[Note] = []
    drafts: list[Note] = []
    unrouted: list[Note] = []
    for path, file in _iter_note_files(folder, errors):
        if file.is_draft:
            drafts.append(_read_draft(path, folder, file))
            continue
        is_routed = True
        with errors.collecting():
            is_routed = file.is_routed()
        note = _read_note(path, folder, file, errors, is_routed=is_routed)
        if not is_routed:
            unrouted.append(note)
            continue
        notes.append(note)
        for check in checks:
            with errors.collecting():
                check(note)
    ids = NoteIds(folder, writes_key=writes_key)
    with errors.collecting():
        notes = [note if note.id else replace(note, id=ids.derive(note.path)) for note in notes]
    _check_unique_ids(notes, errors)
    errors.report()
    return Notebook(tuple(notes), tuple(drafts), tuple(unrouted), ids.new_key)


def _check_unique_ids(notes: Sequence[Note], errors: ErrorCollector) -> None:
    owners: dict[str, str] = {}
    for note in (note for note in notes if note.id):
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            errors.add_error(
                f"{note.path}: id {note.id!r} is also that of {other}; give one of them another"
            )


def _iter_note_files(folder: Path, errors: ErrorCollector) -> Iterator[tuple[Path, NoteFile]]:
    """Read the file of every note, drafts too, in path order."""
    if not folder.is_dir():
        raise NotebookError(f"notebook: {folder} is not a folder; create it or correct the option")
    paths = sorted(_walk_files(folder, errors))
    sidecars = _find_sidecars(paths, folder, errors)
    for path in paths:
        if path.suffix.lower() in _TEXT_SUFFIXES | _TRANSCRIPT_SUFFIXES:
            file: NoteFile | None = None
            with errors.collecting():
                file = read_note_file(path, folder, sidecars.get(path))
            if file:
                yield path, file


def _walk_files(folder: Path, errors: ErrorCollector) -> Iterator[Path]:
    def add_error(error: OSError) -> None:
        errors.add_error(f"notebook: {error.filename} cannot be read ({error.strerror})")

    for parent, folders, names in os.walk(folder, onerror=add_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in names if not name.startswith("."))


def _find_sidecars(paths: Sequence[Path], folder: Path, errors: ErrorCollector) -> dict[Path, Path]:
    """Map each transcript to the file of its front matter, where it has one."""
    all_paths = set(paths)
    sidecars: dict[Path, Path] = {}
    for path in paths:
        transcript = path.with_suffix("")
        if path.suffix.lower() not in _SIDECAR_SUFFIXES or not _is_transcript(transcript):
            continue
        name = path.relative_to(folder).as_posix()
        if transcript not in all_paths:
            errors.add_error(
                f"{name}: its transcript {transcript.name} is missing; add it or remove this file"
            )
        elif sidecars.setdefault(transcript, path) != path:
            errors.add_error(f"{name}: {transcript.name} has another such file; keep one of them")
    return sidecars


def _is_transcript(path: Path) -> bool:
    return path.suffix.lower() in _TRANSCRIPT_SUFFIXES


def _read_draft(path: Path, folder: Path, file: NoteFile) -> Note:
    """Read all private text of a draft, whatever is wrong with it."""
    title, pages = file.meta.get("title"), file.meta.get("published_in")
    listed = pages if isinstance(pages, list) else [pages]
    is_transcript = _is_transcript(path)
    return Note(
        path=path.relative_to(folder).as_posix(),
        id="",
        label="",
        locator="",
        about="",
        title=title if isinstance(title, str) else "",
        body=strip_cue_times(file.text) if is_transcript else file.text.strip(),
        published_in=tuple(page.strip() for page in listed if isinstance(page, str)),
        raw=file.text if is_transcript else "",
    )


def _read_note(
    path: Path, folder: Path, file: NoteFile, errors: ErrorCollector, *, is_routed: bool
) -> Note:
    """Read a note; its id is empty where it declares none. is_routed: it has to be complete.

    A field with an error is empty, and so is ``about`` where the note's text has one.
    """
    name = path.relative_to(folder).as_posix()
    is_transcript = _is_transcript(path)
    required = ("label", "about") if is_routed else ()
    fields = _read_fields(file, name, errors, required)
    note = Note(
        path=name,
        id=fields["id"],
        label=fields["label"],
        locator=fields["locator"],
        about="",
        title=fields["title"],
        body="",
        raw=file.text if is_transcript else "",
    )
    with errors.collecting():
        note = replace(note, published_in=file.list_published_in())
    with errors.collecting():
        parts = _read_cues(name, file) if is_transcript else _split_pages(file)
        divider = "\n" if is_transcript else "\n\n"
        body = divider.join(part.text for part in parts) if parts else file.text.strip()
        note = replace(note, parts=parts, body=body)
        _check_placeholders(fields["about"], parts, file.meta_name)
        note = replace(note, about=fields["about"])
    for key in ("label", "locator", "id"):
        with errors.collecting():
            lint_public_field(fields[key], note.text, f"{file.meta_name}: {key}")
    return note


def _read_fields(
    file: NoteFile, name: str, errors: ErrorCollector, required: Sequence[str]
) -> dict[str, str]:
    """Read the declared fields; one with an error is empty. required: those that may not be."""
    fields = dict.fromkeys(FIELD_KEYS, "")
    for key in FIELD_KEYS:
        with errors.collecting():
            fields[key] = file.read_field(key)
            if key in required and not fields[key]:
                sidecar = f" or to {name}.yml" if _is_transcript(Path(name)) else ""
                place = "it" if file.meta_name != name else f"its front matter{sidecar}"
                raise NotebookError(
                    f"{file.meta_name}: {key} is missing; add `{key}: …` to {place}"
                )
            if key == "id" and fields[key] and not _ID.fullmatch(fields[key]):
                raise NotebookError(
                    f"{file.meta_name}: id may hold letters, digits, `.`, `_`, `:` and `-` only; "
                    "write another"
                )
    return fields


def _read_cues(name: str, file: NoteFile) -> tuple[Cue, ...]:
    kind = cast(TranscriptFormat, Path(name).suffix.lower()[1:])
    return parse_transcript(file.text, kind, name, file.first_line)


def _split_pages(file: NoteFile) -> tuple[NotePage, ...]:
    """Split a text that has form feeds or declares its first page; else return no pages."""
    first_page = file.read_field("first_page")
    if first_page and not _PAGE_NUMBER.fullmatch(first_page):
        raise NotebookError(
            f"{file.meta_name}: first_page has to be a whole number such as 1; correct it"
        )
    if not first_page and "\f" not in file.text:
        return ()
    pages = enumerate(file.text.split("\f"), int(first_page or 1))
    return tuple(NotePage(text.strip(), number) for number, text in pages if text.strip())


def _check_placeholders(about: str, parts: Sequence[Cue | NotePage], where: str) -> None:
    allowed = {"{seconds}" if isinstance(part, Cue) else "{page}" for part in parts[:1]}
    if not allowed.issuperset(_PLACEHOLDER.findall(about)):
        raise NotebookError(
            f"{where}: about may hold `{{seconds}}` in a transcript and `{{page}}` in a paged "
            "note, and nothing else in braces; correct it"
        )
