"""Refuse files that hold a run of a note's words no `published_in` allows; remember clean files."""

import base64
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from functools import cache
from importlib.metadata import distributions, entry_points
from pathlib import Path

from ...serve.errors import LeakError
from ...serve.text import tokenization
from ..browser_index import container
from ..notes import captions
from ..notes.note import Note
from ..notes.note_lint import ErrorCollector
from ..process_pool import ProcessPool
from ..sqlite_cache import SqliteCache
from .artifacts import Artifact, normalize_page
from .leaks import (
    AuditedFile,
    AuditScope,
    Leak,
    allow_listed_runs,
    find_leaks,
    format_leaks,
)
from .markup import strip_tags
from .word_runs import find_rare_words

AUDIT_CACHE_FILE = "audit.sqlite3"

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
    cache_file = cache_folder / AUDIT_CACHE_FILE if cache_folder else None
    with closing(SqliteCache(cache_file)) if cache_file else nullcontext() as clean_files:
        leaks = _find_all(scope, audited, clean_files, workers or ProcessPool(min_size=sys.maxsize))
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
    files = (
        file
        for package in (*packages.values(), *distributions(name="zensical"))
        for file in package.files or ()
    )
    return frozenset(file.hash.value for file in files if file.hash)


def _find_all(
    scope: AuditScope,
    artifacts: Iterable[Artifact],
    clean_files: SqliteCache | None,
    workers: ProcessPool,
) -> list[Leak]:
    """Find every leak, and remember the clean files: the next audit need not read them."""
    leaks: list[Leak] = []
    unchanged: list[bytes] = []
    clean: dict[bytes, bytes] = {}
    for batch in _iter_batches(artifacts):
        unread: list[tuple[bytes, AuditedFile]] = []
        for file in batch:
            key = _cache_key(scope, file) if clean_files else b""
            if clean_files and clean_files.get(key) is not None:
                unchanged.append(key)
            else:
                unread.append((key, file))
        for (key, file), file_leaks in _find_in_parallel(scope, unread, workers):
            digest = base64.urlsafe_b64encode(hashlib.sha256(file.data).digest())
            if file_leaks and digest.decode().rstrip("=") not in _hash_shipped_files():
                leaks += file_leaks
            else:
                clean[key] = b""
    if clean_files:
        clean_files.put(clean)
        clean_files.touch(unchanged)
    return leaks


def _read(artifact: Artifact) -> AuditedFile:
    data, names = artifact.data(), artifact.public_names
    return AuditedFile(artifact.name, artifact.page, data, artifact.file, names)


def _iter_batches(artifacts: Iterable[Artifact]) -> Iterator[list[AuditedFile]]:
    """Read artifacts, as many at a time as can be held."""
    batch: list[AuditedFile] = []
    size = 0
    for artifact in artifacts:
        batch.append(_read(artifact))
        size += len(batch[-1].data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _find_in_parallel(
    scope: AuditScope, unread: Sequence[tuple[bytes, AuditedFile]], workers: ProcessPool
) -> Iterator[tuple[tuple[bytes, AuditedFile], list[Leak]]]:
    """Find the leaks of each file; yields them with the file and its cache key."""
    if not unread:
        return
    step = -(-len(unread) // _PARTS)
    parts = [unread[at : at + step] for at in range(0, len(unread), step)]
    size = sum(len(file.data) for _, file in unread)
    if len(scope.runs.owners) > _MANY_RUNS:
        size = 0
    tasks = [(scope, [file for _, file in part]) for part in parts]
    for part, leaks in zip(parts, workers.map(_find_in_part, tasks, size), strict=True):
        yield from zip(part, leaks, strict=True)


def _find_in_part(task: tuple[AuditScope, Sequence[AuditedFile]]) -> list[list[Leak]]:
    scope, files = task
    return [find_leaks(scope, file) for file in files]


def _cache_key(scope: AuditScope, file: AuditedFile) -> bytes:
    # A page is judged by what its notes list, anything else also by what those pages hold.
    allowed = scope.allowed_digest if file.page is None else ""
    judged_by = [_code_digest(), scope.notes_digest, allowed, file.name, file.page]
    content = hashlib.sha256(file.data).digest()
    return hashlib.sha256(json.dumps(judged_by).encode() + b"\0" + content).digest()


@cache
def _code_digest() -> str:
    """Hash the code that judges: files that an older version found clean are read again."""
    shared = [Path(str(module.__file__)) for module in (captions, container, tokenization)]
    sources = [*sorted(Path(__file__).parent.glob("*.py")), *shared]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
