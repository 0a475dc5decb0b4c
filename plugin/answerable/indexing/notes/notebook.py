"""The notebook: notes, their front matter and ids, read with what they declare public."""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
import yaml

from ...serve.errors import NotebookError
from ..files import temporary_path, write_private_file
from ..yaml_reader import YamlError, find_duplicate_key, parse_yaml
from .note_lint import ErrorCollector, lint_public_field
from .transcripts import Cue, TranscriptFormat, parse_transcript, strip_cue_times


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


_Page = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Text = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*\Z")]


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True):
    """What the front matter of a note may declare; any other key is its author's own."""

    draft: bool = False
    routes: bool | Literal["on", "off"] = True
    label: _Text = ""
    about: _Text = ""
    locator: _Text = ""
    title: _Text = ""
    id: Annotated[str, msgspec.Meta(pattern=r"\A[\w.:-]*\Z")] = ""
    published_in: list[_Page] = msgspec.field(default_factory=list[str])
    first_page: Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,9}\Z")] = ""

    @property
    def is_routed(self) -> bool:
        """True if readers may be led to the note."""
        return self.routes in (True, "on")

    @property
    def pages(self) -> tuple[str, ...]:
        """List the pages that may repeat what the note says."""
        return tuple(page.strip() for page in self.published_in)


_EXPECTED = {
    **dict.fromkeys(("label", "about", "locator", "title"), "a text in quotes, on one line"),
    "draft": "`true` or `false`",
    "routes": "`on` or `off`",
    "id": "a text of letters, digits, `.`, `_`, `:` and `-`",
    "published_in": "a page such as `guide/deploy.md`, or a list of pages",
    "first_page": "a whole number such as 1",
}
# If one of these is misspelled or empty, a note is published that its author keeps back.
_SWITCHES = ("draft", "routes")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M | re.S)
_TEXT_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp", "merge"))
# Reading more YAML takes minutes.
_MAX_LENGTH = 65_536


class _Loader(yaml.SafeLoader):
    """Load YAML in which a number, a time or a date is the text that its author wrote.

    Otherwise the locator `12:30` would be 750, and `1.10` another page than it says.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _TEXT_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_constructors = {
    tag: construct
    for tag, construct in yaml.SafeLoader.yaml_constructors.items()
    if tag not in _TEXT_TAGS
}


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note's front matter and text; ``meta_name`` is the file that holds the front matter.

    ``problems``: what is wrong with a field of it, by key. ``first_line`` is the number of the
    text's first line in its file.
    """

    meta_name: str
    front_matter: FrontMatter
    problems: Mapping[str, str]
    text: str
    first_line: int


def _check_front_matter(meta: Mapping[object, object]) -> tuple[FrontMatter, dict[str, str]]:
    """Check the types of front matter; a field with a problem, which is the second, is left out."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for field in msgspec.structs.fields(FrontMatter):
        key, value = field.name, meta.get(field.name)
        if key not in meta or (value is None and key not in _SWITCHES):
            continue
        try:
            if isinstance(value, str):
                value = [value] if key == "published_in" else " ".join(value.split())
            values[key] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            problems[key] = f"{key} has to be {_EXPECTED[key]}; correct it"
    for unknown in (key for key in meta if isinstance(key, str) and key not in _EXPECTED):
        for switch in get_close_matches(unknown.lower(), _SWITCHES, 1, 0.75):
            problems[unknown] = f"{unknown} is not a key of notes; write `{switch}`, or drop it"
    return FrontMatter(**values), problems


def read_note_file(path: Path, folder: Path, sidecar: Path | None) -> NoteFile:
    """Read a note and its front matter, which a sidecar may hold. NotebookError names the file."""
    name = path.relative_to(folder).as_posix()
    text = _read_text(path, name)
    match = _FRONT_MATTER.match(text)
    if sidecar is None:
        meta = _parse_front_matter(match[1], name, 2) if match else {}
        end = match.end() if match else 0
        checked = _check_front_matter(meta)
        return NoteFile(name, *checked, text[end:], text.count("\n", 0, end) + 1)
    meta_name = sidecar.relative_to(folder).as_posix()
    if match:
        raise NotebookError(
            f"{name}: it has front matter, and so has {meta_name}; keep one of them"
        )
    content = _read_text(sidecar, meta_name)
    fenced = _FRONT_MATTER.match(content)
    yaml_text, first_line = (fenced[1], 2) if fenced else (content, 1)
    meta = _parse_front_matter(yaml_text, meta_name, first_line)
    return NoteFile(meta_name, *_check_front_matter(meta), text, 1)


def _read_text(path: Path, name: str) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Reading a named pipe would wait for someone to write into it.
            raise NotebookError(f"{name}: neither a file nor a folder; remove or rename it")
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise NotebookError(f"{name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise NotebookError(f"{name}: cannot be read ({error.strerror})") from None


def _parse_front_matter(text: str, name: str, first_line: int) -> Mapping[object, object]:
    """Parse YAML. first_line: the number of the text's first line in its file."""
    if len(text) > _MAX_LENGTH:
        raise NotebookError(
            f"{name}: the front matter has more than {_MAX_LENGTH} characters; shorten it"
        )

    def check_keys(root: yaml.Node | None) -> None:
        if duplicate := find_duplicate_key(root):
            # Any other key may be the note's prose.
            line = duplicate.line + first_line - 1
            shown = duplicate.key if duplicate.key in _EXPECTED else f"the key in line {line}"
            raise NotebookError(f"{name}: {shown} appears in the front matter twice; remove one")

    try:
        meta = parse_yaml(text, check_keys, _Loader, empty={})
    except YamlError as error:
        where = f" in line {error.line + first_line - 1}" if error.line else ""
        raise NotebookError(f"{name}: the front matter is not YAML{where}; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(
            f"{name}: the front matter is not a list of `key: value` lines; correct it"
        )
    return meta


_TEXT_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".txt"))
_TRANSCRIPT_SUFFIXES = frozenset((".vtt", ".srt"))
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
        if file.front_matter.draft:
            drafts.append(_read_draft(path, folder, file))
            continue
        note = _read_note(path, folder, file, errors)
        if not file.front_matter.is_routed:
            unrouted.append(note)
            continue
        notes.append(note)
        for check in checks:
            with errors.collecting():
                check(note)
    new_key: Path | None = None
    with errors.collecting():
        # The key is read where a note declares no id.
        if not all(note.id for note in notes):
            key = read_note_key(folder)
            if key is None and not writes_key:
                raise NotebookError(
                    f"notebook: {folder / NOTE_KEY_FILE} is missing, so the ids of notes are "
                    "unknown; build the site, or restore that file"
                )
            if key is None:
                key, new_key = create_note_key(folder), folder / NOTE_KEY_FILE
            notes = [replace(n, id=n.id or derive_note_id(key, n.path)) for n in notes]
    owners: dict[str, str] = {}
    for note in (note for note in notes if note.id):
        other = owners.setdefault(note.id, note.path)
        if other != note.path:
            errors.add_error(
                f"{note.path}: id {note.id!r} is also that of {other}; give one of them another"
            )
    errors.report()
    return Notebook(tuple(notes), tuple(drafts), tuple(unrouted), new_key)


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
        if path.suffix.lower() not in (".yml", ".yaml") or not _is_transcript(transcript):
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
    is_transcript = _is_transcript(path)
    return Note(
        path=path.relative_to(folder).as_posix(),
        id="",
        label="",
        locator="",
        about="",
        title=file.front_matter.title,
        body=strip_cue_times(file.text) if is_transcript else file.text.strip(),
        published_in=file.front_matter.pages,
        raw=file.text if is_transcript else "",
    )


def _read_note(path: Path, folder: Path, file: NoteFile, errors: ErrorCollector) -> Note:
    """Read a note; a field with an error is empty, and so is an id that is not declared."""
    name, front_matter = path.relative_to(folder).as_posix(), file.front_matter
    is_transcript = _is_transcript(path)
    for problem in file.problems.values():
        errors.add_error(f"{file.meta_name}: {problem}")
    for key in ("label", "about") if front_matter.is_routed else ():
        if not getattr(front_matter, key) and key not in file.problems:
            sidecar = f" or to {name}.yml" if is_transcript else ""
            place = "it" if file.meta_name != name else f"its front matter{sidecar}"
            errors.add_error(f"{file.meta_name}: {key} is missing; add `{key}: …` to {place}")
    note = Note(
        path=name,
        id=front_matter.id,
        label=front_matter.label,
        locator=front_matter.locator,
        about="",
        title=front_matter.title,
        body="",
        published_in=front_matter.pages,
        raw=file.text if is_transcript else "",
    )
    with errors.collecting():
        parts: tuple[Cue | NotePage, ...]
        if is_transcript:
            kind = cast(TranscriptFormat, Path(name).suffix.lower()[1:])
            parts = parse_transcript(file.text, kind, name, file.first_line)
        else:
            parts = _split_pages(file.text, front_matter.first_page)
        divider = "\n" if is_transcript else "\n\n"
        body = divider.join(part.text for part in parts) if parts else file.text.strip()
        note = replace(note, parts=parts, body=body)
        _check_placeholders(front_matter.about, parts, file.meta_name)
        note = replace(note, about=front_matter.about)
    for key in ("label", "locator", "id"):
        with errors.collecting():
            lint_public_field(getattr(note, key), note.text, f"{file.meta_name}: {key}")
    return note


def _split_pages(text: str, first_page: str) -> tuple[NotePage, ...]:
    """Split a text that has form feeds or declares its first page; else return no pages."""
    if not first_page and "\f" not in text:
        return ()
    pages = enumerate(text.split("\f"), int(first_page or 1))
    return tuple(NotePage(page.strip(), number) for number, page in pages if page.strip())


def _check_placeholders(about: str, parts: Sequence[Cue | NotePage], where: str) -> None:
    allowed = {"{seconds}" if isinstance(part, Cue) else "{page}" for part in parts[:1]}
    if not allowed.issuperset(_PLACEHOLDER.findall(about)):
        raise NotebookError(
            f"{where}: about may hold `{{seconds}}` in a transcript and `{{page}}` in a paged "
            "note, and nothing else in braces; correct it"
        )
