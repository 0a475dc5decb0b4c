"""The leak audit: every written file is compared with the notes before anything is published."""

import base64
import hashlib
import json
import os
import posixpath
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib.metadata import distributions, entry_points
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from ...serve.errors import LeakError, SiteError
from ..caches import ProcessPool, ReportProgress, SqliteCache, hash_code, show_progress
from ..notes.note_lint import ErrorCollector
from ..notes.notebook import Note
from .markup import strip_tags
from .text_extraction import (
    HEAD_BYTES,
    MEDIA_SUFFIXES,
    NAME_PLACE,
    ZIP_TAIL_BYTES,
    ExtractedText,
    extract_name_texts,
    extract_texts,
    has_end_record,
    is_text,
)
from .word_runs import RunIndex, RunOwner, WordRun, find_line, find_rare_words, index_runs, is_short

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
    Of media only the first bytes are read. SiteError for a file that cannot be read.
    """
    for inner in sorted(_walk_files(folder)):
        yield Artifact(f"{name}/{inner}", _make_reader(folder / inner), pages.get(inner), inner)


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


def _make_reader(path: Path) -> Callable[[], bytes]:
    def read_bytes() -> bytes:
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                # Reading a named pipe would wait for someone to write into it.
                raise SiteError(f"{path} is neither a file nor a folder; remove it")
            with path.open("rb") as file:
                head = file.read(HEAD_BYTES) if path.suffix.lower() in MEDIA_SUFFIXES else b""
                is_media = bool(head) and not is_text(head)
                return head if is_media and not _is_archive(file) else head + file.read()
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None

    return read_bytes


def _is_archive(file: BinaryIO) -> bool:
    """Tell whether a picture or a film is a zip archive, too; the position stays."""
    at = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(max(at, size - ZIP_TAIL_BYTES))
    tail = file.read()
    file.seek(at)
    return has_end_record(tail)


@dataclass(frozen=True, slots=True)
class Leak:
    """A run of a note's words in a published file.

    listed_as: how a note's ``published_in`` lists the file, None if it cannot; is_page: whether
    that is a page; short_run: the run, if it is a leak only where its words are rare.
    """

    name: str
    listed_as: str | None
    owner: RunOwner
    place: str
    is_page: bool = False
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
    def runs(self) -> RunIndex:
        """Index the runs of all notes, once."""
        return index_runs(self.notes)

    @cached_property
    def notes_digest(self) -> str:
        """Hash all that is private, and the pages that each note lists."""
        return _digest(
            [note.title, note.body, note.raw, sorted(pages)]
            for note, pages in zip(self.notes, self.listed_pages, strict=True)
        )

    @cached_property
    def allowed_digest(self) -> str:
        """Hash the allowed runs; call it once they are all there."""
        return _digest(sorted([note, *sorted(runs)] for note, runs in self.allowed.items()))

    @cached_property
    def _all_listed(self) -> frozenset[str]:
        return frozenset().union(*self.listed_pages)

    def lists_page(self, artifact: Artifact) -> bool:
        """Tell whether an artifact is a page that any note lists."""
        return artifact.page is not None and not artifact.public_names.isdisjoint(self._all_listed)

    def find_runs(
        self, texts: Iterable[ExtractedText]
    ) -> Iterator[tuple[ExtractedText, int, WordRun, RunOwner]]:
        """Find each run in some texts: the text, the number of the run's first token, its owner."""
        for text in texts:
            for start, run in self.runs.find(text.text):
                for owner in self.runs.owners[run]:
                    yield text, start, run, owner

    def is_allowed(self, file: Artifact, owner: RunOwner, run: WordRun) -> bool:
        """Tell whether a note allows a run in a file: it lists that, or a page it is made from."""
        if not file.public_names.isdisjoint(self.listed_pages[owner.note]):
            return True
        return file.page is None and run in self.allowed.get(owner.note, ())

    def holds_run(self, name: str) -> bool:
        """Tell whether a name of a file or of a place in it holds a run itself."""
        return any(True for _ in self.find_runs(extract_name_texts(name)))

    def redact_name(self, name: str) -> str:
        """Cut a file's name off before the part that holds a run, which no error may repeat."""
        shown = name
        while self.holds_run(shown) and shown:
            shown = posixpath.dirname(shown)
        shown = shown if shown == name else posixpath.join(shown, "…")
        return shown.encode("utf-8", "replace").decode()


def _digest(parts: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def allow_listed_runs(scope: AuditScope, files: Iterable[Artifact]) -> None:
    """Add the runs of listed pages to the scope, before any file is judged."""
    for file in files:
        names = file.public_names
        for _, _, run, owner in scope.find_runs(extract_texts(file.name, file.data())):
            if not names.isdisjoint(scope.listed_pages[owner.note]):
                scope.allowed.setdefault(owner.note, set()).add(run)


def find_leaks(scope: AuditScope, file: Artifact) -> list[Leak]:
    """Find the first leak of each note in a file, and of each of its short runs."""
    leaks: dict[tuple[int, WordRun], Leak] = {}
    texts = chain(extract_name_texts(file.name), extract_texts(file.name, file.data()))
    for text, start, run, owner in scope.find_runs(texts):
        short_run = run if is_short(run) else ()
        key = owner.note, short_run
        if key not in leaks and not scope.is_allowed(file, owner, run):
            place = _describe_place(scope, text, start)
            listed_as, is_page = file.page or file.file, file.page is not None
            leaks[key] = Leak(file.name, listed_as, owner, place, is_page, short_run)
    return [leaks[key] for key in sorted(leaks)]


def _describe_place(scope: AuditScope, text: ExtractedText, start: int) -> str:
    """Describe where in a file a run stands; a name in it that holds a run is left out."""
    line = text.first_line - 1 + find_line(text.text, start) if text.has_lines else 0
    parts = (text.place, f"line {line}" if line else "")
    return ", ".join(part for part in parts if part and not scope.holds_run(part)) or "its text"


def format_leaks(scope: AuditScope, leaks: Sequence[Leak]) -> str:
    """Describe the first leak and its remedy in one sentence, and count the others.

    A page comes first: what is made from it may repeat what the page is allowed to.
    """
    leak = next((leak for leak in leaks if leak.is_page), leaks[0])
    owner = leak.owner
    if owner.start == owner.end:
        words, verb = f"word {owner.start}", "stands"
    else:
        words, verb = f"words {owner.start} to {owner.end}", "stand"
    if leak.place == NAME_PLACE:
        remedy = "rename the file"
    elif leak.listed_as is not None:
        listed = scope.redact_name(leak.listed_as)
        remedy = f"take them out, or list {listed} in the note's published_in"
    else:
        remedy = (
            "take them out of what it is made from, or list the page that publishes them in the "
            "note's published_in"
        )
    others = len(leaks) - 1
    count = f" (and {others} more place{'s' if others > 1 else ''})" if others else ""
    return (
        f"{scope.notes[owner.note].path}: {words} of {owner.part} {verb} in "
        f"{scope.redact_name(leak.name)}, {leak.place}; {remedy}{count}"
    )


# Bytes of files that are held at a time, and in how many parts processes are sent them.
_BATCH_BYTES = 16_000_000
_PARTS = 8
# Runs from which sending them to another process costs more than it gains.
_MANY_RUNS = 200_000


def audit_artifacts(
    notes: Sequence[Note],
    artifacts: Iterable[Artifact],
    cache_folder: Path | None = None,
    workers: ProcessPool | None = None,
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
    allow_listed_runs(scope, map(_read, filter(scope.lists_page, audited)))
    cache = closing(SqliteCache(cache_folder, "clean_files")) if cache_folder else nullcontext()
    with cache as clean_files:
        pool = workers or ProcessPool(min_size=sys.maxsize)
        with show_progress("comparing files with notes") as report:
            leaks = _find_all(scope, audited, clean_files, pool, report)
    leaks = _drop_common(leaks, audited)
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
    remaining: list[Leak] = []
    places: set[tuple[str, int]] = set()
    for leak in leaks:
        place = leak.name, leak.owner.note
        if leak.short_run and (place in places or rare.isdisjoint(leak.short_run)):
            continue
        places.add(place)
        remaining.append(leak)
    return remaining


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


def _is_shipped(file: Artifact) -> bool:
    digest = base64.urlsafe_b64encode(hashlib.sha256(file.data()).digest())
    return digest.decode().rstrip("=") in _hash_shipped_files()


def _find_all(
    scope: AuditScope,
    artifacts: Sequence[Artifact],
    clean_files: SqliteCache | None,
    workers: ProcessPool,
    progress: ReportProgress | None = None,
) -> list[Leak]:
    """Find every leak, and remember the clean files: the next audit need not read them."""
    leaks: list[Leak] = []
    unchanged: list[bytes] = []
    clean: dict[bytes, bytes] = {}
    for batch in _iter_batches(artifacts):
        unread: list[tuple[bytes, Artifact]] = []
        for file in batch:
            key = _cache_key(scope, file) if clean_files else b""
            if clean_files and clean_files.get(key) is not None:
                unchanged.append(key)
            elif _is_shipped(file):
                clean[key] = b""
            else:
                unread.append((key, file))
        for (key, _), file_leaks in _find_in_parallel(scope, unread, workers):
            leaks += file_leaks
            if not file_leaks:
                clean[key] = b""
            if progress:
                progress(len(unchanged) + len(clean) + len(leaks), len(artifacts))
    if clean_files:
        clean_files.put(clean)
        clean_files.touch(unchanged)
    return leaks


def _read(artifact: Artifact) -> Artifact:
    """Read the bytes of an artifact once, so that it can be sent to another process."""
    return replace(artifact, data=partial(bytes, artifact.data()))


def _iter_batches(artifacts: Iterable[Artifact]) -> Iterator[list[Artifact]]:
    """Read artifacts, as many at a time as can be held."""
    batch: list[Artifact] = []
    size = 0
    for artifact in artifacts:
        batch.append(_read(artifact))
        size += len(batch[-1].data())
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _find_in_parallel(
    scope: AuditScope, unread: Sequence[tuple[bytes, Artifact]], workers: ProcessPool
) -> Iterator[tuple[tuple[bytes, Artifact], list[Leak]]]:
    """Find the leaks of each file; yields them with the file and its cache key."""
    if not unread:
        return
    step = -(-len(unread) // _PARTS)
    parts = [unread[at : at + step] for at in range(0, len(unread), step)]
    size = sum(len(file.data()) for _, file in unread)
    if len(scope.runs.owners) > _MANY_RUNS:
        size = 0
    tasks = [(scope, [file for _, file in part]) for part in parts]
    for part, leaks in zip(parts, workers.map(_find_in_part, tasks, size), strict=True):
        yield from zip(part, leaks, strict=True)


def _find_in_part(task: tuple[AuditScope, Sequence[Artifact]]) -> list[list[Leak]]:
    scope, files = task
    return [find_leaks(scope, file) for file in files]


def _cache_key(scope: AuditScope, file: Artifact) -> bytes:
    # A page is judged by what its notes list, anything else also by what those pages hold.
    allowed = scope.allowed_digest if file.page is None else ""
    judged_by = [hash_code(), scope.notes_digest, allowed, file.name, file.page]
    content = hashlib.sha256(file.data()).digest()
    return hashlib.sha256(json.dumps(judged_by).encode() + b"\0" + content).digest()
