"""The leak audit: every written file is compared with the notes before anything is published."""

import base64
import hashlib
import json
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib.metadata import distributions, entry_points
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from ...serve.errors import LeakError, SiteError
from ..caches import SqliteCache, hash_code, show_progress
from ..notes.note_lint import ErrorCollector
from ..notes.notebook import Note
from .readings import MEDIA_SUFFIXES, NAME_PLACE, Reading, read_file, read_name, strip_tags
from .runs import RunIndex, RunOwner, WordRun, cut_notes, find_line, find_rare_words, is_short

# How many places an error names.
_MAX_PLACES = 5
# The hash of a file in the list of an installed distribution.
_RECORDED_HASH = re.compile(r",sha256=([\w-]+),")
_NO_PAGES: Mapping[str, str] = MappingProxyType({})


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
    folder: Path, name: str, pages: Mapping[str, str] = _NO_PAGES
) -> Iterator[Artifact]:
    """Yield every file below a folder, sorted, as an artifact ``name/…``; links are followed.

    pages: from a file's path in the folder to the page that it is. A missing folder has no files.
    SiteError for a file that cannot be read.
    """
    for inner in sorted(_walk_files(folder)):
        read = partial(_read_bytes, folder / inner)
        yield Artifact(f"{name}/{inner}", read, pages.get(inner), inner)


def normalize_page(page: str) -> str:
    """Normalize the path of a page in the docs folder: no leading slash, no `.` and `..`."""
    return posixpath.normpath("/" + page).lstrip("/")


def _walk_files(folder: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise SiteError(f"{error.filename} cannot be read ({error.strerror}); make it readable")

    visited: set[str] = set()
    roots = [folder]
    # Links come last: a folder that lies here gets its own name.
    for root in roots:
        if os.path.realpath(root) in visited:
            continue
        for parent, folders, names in os.walk(root, onerror=fail if root.exists() else None):
            visited.add(os.path.realpath(parent))
            paths = (Path(parent, name) for name in sorted(folders))
            roots += [path for path in paths if path.is_symlink()]
            for name in names:
                yield Path(parent, name).relative_to(folder).as_posix()


def _read_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Reading a named pipe would wait for someone to write into it.
            raise SiteError(f"{path} is neither a file nor a folder; remove it")
        # A film may be larger than the memory, and is not read.
        return b"" if path.suffix.lower() in MEDIA_SUFFIXES else path.read_bytes()
    except OSError as error:
        raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None


@dataclass(frozen=True, slots=True)
class Leak:
    """A run of a note's words in a published file. short_run: the run, if it is a leak only where
    its words are rare.
    """

    file: Artifact
    owner: RunOwner
    place: str
    short_run: WordRun = ()


@dataclass(frozen=True)
class AuditScope:
    """Private notes, and for each the pages and the runs that it allows to be published.

    allowed: by note, the runs in the pages that it lists; other files may repeat those.
    """

    notes: Sequence[Note]
    listed_pages: Sequence[frozenset[str]]
    allowed: dict[int, set[WordRun]] = field(default_factory=dict)

    @cached_property
    def owners(self) -> dict[WordRun, list[RunOwner]]:
        """Cut all notes into runs, once."""
        return cut_notes(self.notes)

    @cached_property
    def index(self) -> RunIndex:
        """Index the runs of all notes, once."""
        return RunIndex(self.owners)

    @cached_property
    def digest(self) -> str:
        """Hash all that files are judged by: what is private, and what each note allows."""
        texts = [[note.title, note.body, note.raw] for note in self.notes]
        pages = [sorted(pages) for pages in self.listed_pages]
        allowed = sorted([note, *sorted(runs)] for note, runs in self.allowed.items())
        values = json.dumps([hash_code(), texts, pages, allowed])
        return hashlib.sha256(values.encode("utf-8", "surrogatepass")).hexdigest()

    def find_runs(
        self, readings: Iterable[Reading]
    ) -> Iterator[tuple[Reading, int, WordRun, RunOwner]]:
        """Find each run in some readings: the reading, the letters before the run, its owner."""
        for reading in readings:
            for start, run in self.index.find(reading.text):
                for owner in self.owners[run]:
                    yield reading, start, run, owner

    def allow_runs(self, files: Iterable[Artifact]) -> None:
        """Allow the runs of the pages that notes list, before any file is judged."""
        listed = frozenset[str]().union(*self.listed_pages)
        for file in files:
            if file.page is None or file.public_names.isdisjoint(listed):
                continue
            for _, _, run, owner in self.find_runs(read_file(file.name, file.data())):
                if not file.public_names.isdisjoint(self.listed_pages[owner.note]):
                    self.allowed.setdefault(owner.note, set()).add(run)

    def find_leaks(self, file: Artifact, data: bytes) -> list[Leak]:
        """Find the first leak of each note in a file, and of each of its short runs."""
        leaks: dict[tuple[int, WordRun], Leak] = {}
        readings = chain(read_name(file.name), read_file(file.name, data))
        for reading, start, run, owner in self.find_runs(readings):
            short_run = run if is_short(run) else ()
            key = owner.note, short_run
            if key in leaks or self._allows(file, owner, run):
                continue
            place = reading.place
            if reading.has_lines:
                place = f"line {find_line(reading.text, start)}"
            leaks[key] = Leak(file, owner, place, short_run)
        return [leaks[key] for key in sorted(leaks)]

    def _allows(self, file: Artifact, owner: RunOwner, run: WordRun) -> bool:
        """Tell whether a note lists a file, or a page that the file is made from."""
        if not file.public_names.isdisjoint(self.listed_pages[owner.note]):
            return True
        return file.page is None and run in self.allowed.get(owner.note, ())

    def redact_name(self, name: str) -> str:
        """Cut a file's name off before the part that holds a run, which no error may repeat."""
        shown = name
        while shown and any(True for _ in self.find_runs(read_name(shown))):
            shown = posixpath.dirname(shown)
        shown = shown if shown == name else posixpath.join(shown, "…")
        return shown.encode("utf-8", "replace").decode()


def format_leaks(scope: AuditScope, leaks: Sequence[Leak]) -> str:
    """Name the first places of leaks, one on a line, with the remedy of the first.

    A page comes first: what is made from it may repeat what the page is allowed to.
    """
    leaks = sorted(leaks, key=lambda leak: leak.file.page is None)
    lines = [_format_place(scope, leak) for leak in leaks[:_MAX_PLACES]]
    listed = leaks[0].file.page or leaks[0].file.file
    if leaks[0].place == NAME_PLACE:
        remedy = "rename the file"
    elif listed is not None:
        remedy = f"take them out, or list {scope.redact_name(listed)} in the note's published_in"
    else:
        remedy = (
            "take them out of what it is made from, or list the page that publishes them in the "
            "note's published_in"
        )
    lines[0] = f"{lines[0]}; {remedy}"
    others = len(leaks) - len(lines)
    if others:
        lines.append(f"and {others} more place{'s' if others > 1 else ''}")
    return "\n".join(lines)


def _format_place(scope: AuditScope, leak: Leak) -> str:
    owner = leak.owner
    if owner.start == owner.end:
        words = f"word {owner.start} of {owner.part} stands"
    else:
        words = f"words {owner.start} to {owner.end} of {owner.part} stand"
    place = f", {leak.place}" if leak.place else ""
    file = scope.redact_name(leak.file.name)
    return f"{scope.notes[owner.note].path}: {words} in {file}{place}"


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
    audited = list(artifacts)
    errors = ErrorCollector()
    for note in notes:
        with errors.collecting():
            check_published_in(note, audited)
    errors.report()
    scope = AuditScope(private, [frozenset(map(normalize_page, n.published_in)) for n in private])
    scope.allow_runs(audited)
    cache = closing(SqliteCache(cache_folder, "clean_files")) if cache_folder else nullcontext()
    with cache as clean_files:
        leaks = _drop_common(_find_all(scope, audited, clean_files), audited)
    if leaks:
        raise LeakError(format_leaks(scope, leaks))


def check_published_in(note: Note, artifacts: Iterable[Artifact]) -> None:
    """Refuse a ``published_in`` that names neither a page nor a file that is published."""
    if not note.published_in:
        return
    published = frozenset[str]().union(*(artifact.public_names for artifact in artifacts))
    errors = ErrorCollector()
    for page in note.published_in:
        if normalize_page(page) not in published:
            errors.add_error(
                f"{note.path}: published_in: {page} is not a published page or file; correct it "
                "or take it out"
            )
    errors.report()


def _find_all(
    scope: AuditScope, artifacts: Sequence[Artifact], clean_files: SqliteCache | None
) -> list[Leak]:
    """Find every leak, and remember the clean files: the next audit need not read them."""
    leaks: list[Leak] = []
    unchanged: list[bytes] = []
    clean: dict[bytes, bytes] = {}
    with show_progress("comparing files with notes") as report:
        for number, file in enumerate(artifacts, 1):
            data = file.data()
            content = hashlib.sha256(data)
            named = f"{scope.digest}\0{file.name}\0{file.page}\0{content.hexdigest()}"
            key = hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()
            if clean_files and clean_files.get(key) is not None:
                unchanged.append(key)
            elif (
                file_leaks := () if _is_shipped(content.digest()) else scope.find_leaks(file, data)
            ):
                leaks += file_leaks
            else:
                clean[key] = b""
            if report:
                report(number, len(artifacts))
    if clean_files:
        clean_files.put(clean)
        clean_files.touch(unchanged)
    return leaks


def _is_shipped(digest: bytes) -> bool:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") in _hash_shipped_files()


@cache
def _hash_shipped_files() -> frozenset[str]:
    """Hash what installed themes and plugins ship: their words are no note's.

    Each hash is SHA-256 as a distribution's record has it. Zensical brings its theme itself.
    """
    groups = ("mkdocs.themes", "mkdocs.plugins")
    entries = (entry for group in groups for entry in entry_points(group=group))
    packages = {entry.dist.name: entry.dist for entry in entries if entry.dist}
    # Their thousands of files are listed in a text, which is read faster than parsed.
    records = (
        package.read_text("RECORD") or ""
        for package in (*packages.values(), *distributions(name="zensical"))
    )
    return frozenset(chain.from_iterable(map(_RECORDED_HASH.findall, records)))


def _drop_common(leaks: Sequence[Leak], artifacts: Sequence[Artifact]) -> list[Leak]:
    """Drop short runs whose words are common; one leak of each note is left in a file."""
    words = {word for leak in leaks for word in leak.short_run}
    rare: set[str] = set()
    if words:
        pages: dict[str, list[str]] = {}
        for artifact in artifacts:
            if artifact.page is not None:
                text = strip_tags(artifact.data().decode("utf-8", "replace"))
                pages.setdefault(artifact.page, []).append(text)
        rare = find_rare_words(words, pages)
    remaining: dict[tuple[str, int], Leak] = {}
    for leak in leaks:
        if not leak.short_run or not rare.isdisjoint(leak.short_run):
            remaining.setdefault((leak.file.name, leak.owner.note), leak)
    return list(remaining.values())
