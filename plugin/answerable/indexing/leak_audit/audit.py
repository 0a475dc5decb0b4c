"""Refuse files that hold a run of a note's words no `published_in` allows; remember clean files."""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from functools import cache
from pathlib import Path

from ...serve.errors import LeakError
from ...serve.text import tokenization
from ..browser_index import container
from ..notes import captions
from ..notes.note import Note
from ..notes.note_lint import ErrorCollector
from ..process_pool import ProcessPool
from ..sqlite_cache import SqliteCache
from .artifacts import Artifact
from .leaks import (
    AuditedFile,
    AuditScope,
    Leak,
    allow_listed_runs,
    find_leaks,
    format_leaks,
    normalize_page,
)

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

    NotebookError if a note's ``published_in`` names no page. cache_folder: where to remember which
    files are clean; those that have not changed since are not read again. drafts: private as notes
    are, but the pages that they list need not be there yet.
    """
    private = [*notes, *drafts]
    if not private:
        return
    audited = list(artifacts)
    _check_all_published_in(notes, audited)
    scope = AuditScope(private, [frozenset(map(normalize_page, n.published_in)) for n in private])
    allow_listed_runs(scope, (_read(each) for each in audited if scope.lists_page(each.page)))
    cache_file = cache_folder / AUDIT_CACHE_FILE if cache_folder else None
    with closing(SqliteCache(cache_file)) if cache_file else nullcontext() as clean_files:
        leaks = _find_all(scope, audited, clean_files, workers or ProcessPool(min_size=sys.maxsize))
    if leaks:
        raise LeakError(format_leaks(scope, leaks))


def check_published_in(note: Note, pages: Iterable[str]) -> None:
    """Refuse a ``published_in`` that names a page which is not among the published ones."""
    published = set(map(normalize_page, pages))
    errors = ErrorCollector()
    for page in note.published_in:
        if normalize_page(page) not in published:
            errors.add_error(
                f"{note.path}: published_in: {page} is not a published page; correct it or "
                "take it out"
            )
    errors.report()


def _check_all_published_in(notes: Sequence[Note], artifacts: Sequence[Artifact]) -> None:
    pages = {artifact.page for artifact in artifacts if artifact.page is not None}
    errors = ErrorCollector()
    for note in notes:
        with errors.collecting():
            check_published_in(note, pages)
    errors.report()


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
        for key, file_leaks in _find_in_parallel(scope, unread, workers):
            leaks += file_leaks
            if not file_leaks:
                clean[key] = b""
    if clean_files:
        clean_files.put(clean)
        clean_files.touch(unchanged)
    return leaks


def _read(artifact: Artifact) -> AuditedFile:
    return AuditedFile(artifact.name, artifact.page, artifact.data())


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
) -> Iterator[tuple[bytes, list[Leak]]]:
    """Find the leaks of each file; yields them with the file's cache key."""
    if not unread:
        return
    step = -(-len(unread) // _PARTS)
    parts = [unread[at : at + step] for at in range(0, len(unread), step)]
    size = sum(len(file.data) for _, file in unread)
    if len(scope.runs.owners) > _MANY_RUNS:
        size = 0
    tasks = [(scope, [file for _, file in part]) for part in parts]
    for part, leaks in zip(parts, workers.map(_find_in_part, tasks, size), strict=True):
        yield from zip((key for key, _ in part), leaks, strict=True)


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
