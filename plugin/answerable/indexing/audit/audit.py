"""The leak audit: every written file is compared with the notes before anything is published."""

import base64
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import distributions, entry_points
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from ...engine.errors import LeakError, NotebookError
from ..caches import SqliteCache, hash_inputs, show_progress
from ..files import walk_entries
from ..notes.notebook import Note
from ..word_runs import RunIndex, WordRun, find_line
from .readings import MEDIA_SUFFIXES, NAME_PLACE, Reading, read_file, read_name, strip_tags
from .runs import RunOwner, cut_notes, find_common_runs

# How many places an error names.
_MAX_PLACES = 5


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file that is published or served.

    name: its path in an error, with forward slashes; data: reads its bytes; page: the page that
    it is (a path in the docs folder), None for a file that is no page: an index, an asset; file:
    its path in the site's folder, None for what is no file of the site.
    """

    name: str
    data: Callable[[], bytes]
    page: str | None = None
    file: str | None = None

    @property
    def public_names(self) -> frozenset[str]:
        """Names by which a note's ``published_in`` may list it, normalized."""
        return frozenset(normalize_page(name) for name in (self.page, self.file) if name)


def walk_artifacts(
    folder: Path, name: str, pages: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Artifact]:
    """Yield every file below a folder, sorted, as an artifact ``name/…``; links are followed.

    pages: from a file's path in the folder to the page that it is. A missing folder has no files.
    """
    paths = (path for path in map(Path, walk_entries(folder)) if not path.is_dir())
    for inner in sorted(path.relative_to(folder).as_posix() for path in paths):
        read = partial(_read_bytes, folder / inner)
        yield Artifact(f"{name}/{inner}", read, pages.get(inner), inner)


def normalize_page(page: str) -> str:
    """Normalize the path of a page in the docs folder: no leading slash, no `.` and `..`."""
    return posixpath.normpath("/" + page).lstrip("/")


def _read_bytes(path: Path) -> bytes:
    # A film may be larger than the memory, and is not read.
    return b"" if path.suffix.lower() in MEDIA_SUFFIXES else path.read_bytes()


@dataclass(frozen=True, slots=True)
class _Leak:
    """A run of a note's words in a published file. place: where in it, "" for front matter."""

    file: Artifact
    owner: RunOwner
    place: str


class _NoteAudit:
    """Private notes, cut into runs, and what each of them allows to be published.

    files: all that is published. What a page repeats that a note lists is allowed in other files,
    too, unless they are pages.
    """

    def __init__(self, notes: Sequence[Note], files: Sequence[Artifact]) -> None:
        self._notes = notes
        self._listed = [frozenset(map(normalize_page, note.published_in)) for note in notes]
        owners = cut_notes(notes)
        pages = (
            (file.page, strip_tags(file.data().decode("utf-8", "replace")))
            for file in files
            if file.page is not None
        )
        common = find_common_runs(owners, pages)
        self._owners = {run: owner for run, owner in owners.items() if run not in common}
        self._index = RunIndex(self._owners)
        self._allowed: set[tuple[int, WordRun]] = set()
        for file in files:
            if file.page is not None and any(map(file.public_names.intersection, self._listed)):
                for _, _, run, owner in self._find_runs(read_file(file.name, file.data())):
                    if file.public_names & self._listed[owner.note]:
                        self._allowed.add((owner.note, run))
        texts = [[note.title, note.body, note.raw] for note in notes]
        listed = [sorted(pages) for pages in self._listed]
        self._digest = hash_inputs(texts, listed, sorted(self._allowed), sorted(common)).hex()

    def hash_file(self, file: Artifact, data: bytes) -> bytes:
        """Hash all that decides whether a file is clean."""
        return hash_inputs(self._digest, file.name, file.page, hashlib.sha256(data).hexdigest())

    def find_leaks(self, file: Artifact, data: bytes) -> list[_Leak]:
        """Find the first leak of each note in a file; none in what a theme or a plugin ships."""
        if hashlib.sha256(data).digest() in _hash_shipped_files():
            return []
        leaks: dict[int, _Leak] = {}
        readings = chain(read_name(file.name), read_file(file.name, data))
        for reading, start, run, owner in self._find_runs(readings):
            is_listed = bool(file.public_names & self._listed[owner.note])
            is_allowed = file.page is None and (owner.note, run) in self._allowed
            if owner.note not in leaks and not is_listed and not is_allowed:
                # A page that is no file is its front matter: only the values there are compared.
                has_lines = file.file is not None or file.page is None
                line = f"line {find_line(reading.text, start)}" if has_lines else ""
                place = reading.place or line
                leaks[owner.note] = _Leak(file, owner, place)
        return [leaks[note] for note in sorted(leaks)]

    def _find_runs(
        self, readings: Iterable[Reading]
    ) -> Iterator[tuple[Reading, int, WordRun, RunOwner]]:
        """Find each run in some readings: the reading, the letters before the run, its owner."""
        for reading in readings:
            for start, run in self._index.find(reading.text):
                for owner in self._owners[run]:
                    yield reading, start, run, owner

    def format_leaks(self, leaks: Sequence[_Leak]) -> str:
        """Name the first places of leaks, one on a line, with the remedy of the first.

        A page comes first: what is made from it may repeat what the page is allowed to.
        """
        leaks = sorted(leaks, key=lambda leak: leak.file.page is None)
        lines = [self._format_place(leak) for leak in leaks[:_MAX_PLACES]]
        file = leaks[0].file.page or leaks[0].file.file
        listed = self._redact_name(file) if file else "the page that publishes them"
        remedy = f"take them out, or list {listed} in the note's published_in"
        lines[0] += f"; {'rename the file' if leaks[0].place == NAME_PLACE else remedy}"
        others = len(leaks) - len(lines)
        if others:
            lines.append(f"and {others} more place{'s' if others > 1 else ''}")
        return "\n".join(lines)

    def _format_place(self, leak: _Leak) -> str:
        owner = leak.owner
        words = f"words {owner.start} to {owner.end} of {owner.part} stand"
        if owner.start == owner.end:
            words = f"word {owner.start} of {owner.part} stands"
        file = self._redact_name(leak.file.name)
        where = f"{file}, {leak.place}" if leak.place else file
        return f"{self._notes[owner.note].path}: {words} in {where}"

    def _redact_name(self, name: str) -> str:
        """Cut a file's name off before the part that holds a run, which no error may repeat."""
        shown = name
        while shown and any(True for _ in self._find_runs(read_name(shown))):
            shown = posixpath.dirname(shown)
        shown = shown if shown == name else posixpath.join(shown, "…")
        return shown.encode("utf-8", "replace").decode()


def audit_artifacts(
    notes: Sequence[Note],
    artifacts: Iterable[Artifact],
    cache_folder: Path | None = None,
    drafts: Sequence[Note] = (),
) -> None:
    """Refuse artifacts that hold a run of a note's words; LeakError names note, file and place.

    NotebookError if a note's ``published_in`` names nothing that is published. cache_folder: where
    to remember which files are clean; those that have not changed since are not read again.
    drafts: private as notes are, but the pages that they list need not be there yet.
    """
    private = [*notes, *drafts]
    if not private:
        return
    files = list(artifacts)
    for note in notes:
        check_published_in(note, files)
    audit = _NoteAudit(private, files)
    leaks: list[_Leak] = []
    clean: dict[bytes, bytes] = {}
    cache = closing(SqliteCache(cache_folder, "clean_files")) if cache_folder else nullcontext()
    with cache as clean_files, show_progress("comparing files with notes") as report:
        for number, file in enumerate(files, 1):
            data = file.data()
            key = audit.hash_file(file, data)
            if clean_files is None or clean_files.get(key) is None:
                found = audit.find_leaks(file, data)
                leaks += found
                if not found:
                    clean[key] = b""
            if report:
                report(number, len(files))
        if clean_files:
            clean_files.put(clean)
    if leaks:
        raise LeakError(audit.format_leaks(leaks))


def check_published_in(note: Note, artifacts: Iterable[Artifact]) -> None:
    """Refuse a ``published_in`` that names neither a page nor a file that is published."""
    if not note.published_in:
        return
    published = frozenset[str]().union(*(artifact.public_names for artifact in artifacts))
    for page in note.published_in:
        if normalize_page(page) not in published:
            raise NotebookError(
                f"{note.path}: published_in: {page} is not a published page or file; correct it "
                "or take it out"
            )


@cache
def _hash_shipped_files() -> frozenset[bytes]:
    """Hash what installed themes and plugins ship: a license in it is no note's."""
    groups = ("mkdocs.themes", "mkdocs.plugins")
    entries = (entry for group in groups for entry in entry_points(group=group))
    packages = {entry.dist.name: entry.dist for entry in entries if entry.dist}
    # Zensical brings its theme itself.
    listed = (*packages.values(), *distributions(name="zensical"))
    # Lists of thousands of files, which are searched faster than they are parsed.
    records = "\n".join(package.read_text("RECORD") or "" for package in listed)
    hashes = re.findall(r",sha256=([\w-]+),", records)
    return frozenset(base64.urlsafe_b64decode(f"{text}=") for text in hashes)
