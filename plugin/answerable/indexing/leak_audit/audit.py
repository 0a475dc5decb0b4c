"""The leak audit: no run of a private note's words is in anything that is published or served."""

import hashlib
import json
import posixpath
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from ...serve.errors import LeakError, NotebookError
from ...serve.text import tokenization
from ..notes import transcripts
from ..notes.note_lint import ErrorCollector
from ..notes.notebook import Note
from ..process_pool import ProcessPool
from ..sqlite_cache import SqliteCache
from . import archives, captions, json_strings, markup, text_extraction, word_runs
from .artifacts import Artifact, walk_artifacts
from .text_extraction import ExtractedText, extract_name_texts, extract_texts
from .word_runs import RunIndex, RunOwner, WordRun, find_line, index_runs

__all__ = ["Artifact", "audit_artifacts", "check_published_in", "walk_artifacts"]

AUDIT_CACHE_FILE = "audit.sqlite3"

# Bytes of artifacts that are held at a time, and in how many parts processes are sent them.
_WINDOW = 16_000_000
_PARTS = 8
# Runs from which sending them to another process costs more than it gains.
_MANY_RUNS = 200_000


@dataclass(frozen=True, slots=True)
class _Leak:
    """A run of a note's in an artifact of a name and a page."""

    name: str
    page: str | None
    owner: RunOwner
    place: str


@dataclass(frozen=True, slots=True)
class _Content:
    """An artifact and its bytes, as another process is sent it."""

    name: str
    page: str | None
    data: bytes


@dataclass(frozen=True)
class _Audit:
    """What one audit compares with. allowed: by note, the runs that its listed pages hold."""

    notes: Sequence[Note]
    listed: Sequence[frozenset[str]]
    allowed: dict[int, set[WordRun]] = field(default_factory=dict)

    @cached_property
    def runs(self) -> RunIndex:
        return index_runs(self.notes)

    @cached_property
    def digest(self) -> str:
        private = [
            [note.title, note.body, note.raw, sorted(pages)]
            for note, pages in zip(self.notes, self.listed, strict=True)
        ]
        return _digest(_code(), private)

    @cached_property
    def allowed_digest(self) -> str:
        return _digest("", sorted([note, *sorted(held)] for note, held in self.allowed.items()))


def audit_artifacts(
    notes: Sequence[Note],
    artifacts: Iterable[Artifact],
    cache_folder: Path | None = None,
    workers: ProcessPool | None = None,
    drafts: Sequence[Note] = (),
) -> None:
    """Refuse artifacts that hold a run of a note's words; LeakError names note, file and place.

    NotebookError if a note's ``published_in`` names no page. cache_folder: where to remember what
    was found clean; what has not changed since is not read again. drafts: private as notes are,
    but the pages that they list need not be there yet.
    """
    private = [*notes, *drafts]
    if not private:
        return
    audited = list(artifacts)
    _check_all_pages(notes, audited)
    audit = _Audit(private, [frozenset(map(_page, note.published_in)) for note in private])
    _allow(audit, audited)
    with (
        closing(SqliteCache(cache_folder / AUDIT_CACHE_FILE))
        if cache_folder
        else nullcontext() as store
    ):
        leaks = _all_leaks(audit, audited, store, workers or ProcessPool(worth=sys.maxsize))
    if leaks:
        raise LeakError(_sentence(audit, leaks))


def _all_leaks(
    audit: _Audit, artifacts: Iterable[Artifact], store: SqliteCache | None, workers: ProcessPool
) -> list[_Leak]:
    """Every leak, after what is clean has been remembered: the next audit need not read it."""
    leaks: list[_Leak] = []
    clean: list[bytes] = []
    fresh: dict[bytes, bytes] = {}
    for window in _windows(artifacts):
        unread: list[tuple[bytes, _Content]] = []
        for content in window:
            key = _key(audit, content) if store else b""
            if store and store.get(key) is not None:
                clean.append(key)
            else:
                unread.append((key, content))
        for key, found in _judged(audit, unread, workers):
            leaks += found
            if not found:
                fresh[key] = b""
    if store:
        store.put(fresh)
        store.touch(clean)
    return leaks


def _windows(artifacts: Iterable[Artifact]) -> Iterator[list[_Content]]:
    """The contents of artifacts, so many at a time that they can be held."""
    window: list[_Content] = []
    size = 0
    for artifact in artifacts:
        window.append(_Content(artifact.name, artifact.page, artifact.data()))
        size += len(window[-1].data)
        if size >= _WINDOW:
            yield window
            window, size = [], 0
    yield window


def _judged(
    audit: _Audit, unread: Sequence[tuple[bytes, _Content]], workers: ProcessPool
) -> Iterator[tuple[bytes, list[_Leak]]]:
    """The leaks of each content, with its key."""
    if not unread:
        return
    step = -(-len(unread) // _PARTS)
    parts = [unread[at : at + step] for at in range(0, len(unread), step)]
    size = sum(len(content.data) for _, content in unread)
    if len(audit.runs.owners) > _MANY_RUNS:
        size = 0
    tasks = [(audit, [content for _, content in part]) for part in parts]
    for part, found in zip(parts, workers.each(_judge, tasks, size), strict=True):
        yield from zip((key for key, _ in part), found, strict=True)


def _judge(task: tuple[_Audit, Sequence[_Content]]) -> list[list[_Leak]]:
    """The leaks of each content."""
    audit, contents = task
    return [_leaks(audit, content) for content in contents]


def _page(name: str) -> str:
    return posixpath.normpath("/" + name).lstrip("/")


def check_published_in(note: Note, pages: Iterable[str]) -> None:
    """Refuse a ``published_in`` that names none of some pages; NotebookError."""
    published = set(map(_page, pages))
    mistakes = ErrorCollector()
    for page in note.published_in:
        if _page(page) not in published:
            mistakes.add(
                NotebookError(
                    f"{note.path}: published_in: {page} is not a published page; correct it or "
                    "take it out"
                )
            )
    mistakes.report()


def _check_all_pages(notes: Sequence[Note], artifacts: Sequence[Artifact]) -> None:
    pages = {artifact.page for artifact in artifacts if artifact.page is not None}
    mistakes = ErrorCollector()
    for note in notes:
        with mistakes.collecting():
            check_published_in(note, pages)
    mistakes.report()


def _allow(audit: _Audit, artifacts: Sequence[Artifact]) -> None:
    """Collect the runs that stand in the pages their notes list, before anything is judged."""
    pages = frozenset().union(*audit.listed)
    for artifact in artifacts:
        page = None if artifact.page is None else _page(artifact.page)
        if page is None or page not in pages:
            continue
        for reading in extract_texts(artifact.name, artifact.data()):
            for _, run in audit.runs.find(reading.text):
                for owner in audit.runs.owners[run]:
                    if page in audit.listed[owner.note]:
                        audit.allowed.setdefault(owner.note, set()).add(run)


def _leaks(audit: _Audit, content: _Content) -> list[_Leak]:
    """The first leak of each note in a content."""
    leaks: dict[int, _Leak] = {}
    for reading in (*extract_name_texts(content.name), *extract_texts(content.name, content.data)):
        for start, run in audit.runs.find(reading.text):
            for owner in audit.runs.owners[run]:
                if owner.note not in leaks and not _is_allowed(audit, content.page, owner, run):
                    place = _place(audit, reading, start)
                    leaks[owner.note] = _Leak(content.name, content.page, owner, place)
    return [leaks[note] for note in sorted(leaks)]


def _is_allowed(audit: _Audit, page: str | None, owner: RunOwner, run: WordRun) -> bool:
    if page is None:
        return run in audit.allowed.get(owner.note, ())
    return _page(page) in audit.listed[owner.note]


def _place(audit: _Audit, reading: ExtractedText, start: int) -> str:
    """Where in a file a run stands; a name in it that holds one is left out."""
    line = reading.first - 1 + find_line(reading.text, start) if reading.has_lines else 0
    at = f"line {line}" if line else ""
    parts = [part for part in (reading.place, at) if part and not _is_private(audit, part)]
    return ", ".join(parts) or "its text"


def _is_private(audit: _Audit, name: str) -> bool:
    return any(any(audit.runs.find(reading.text)) for reading in extract_name_texts(name))


def _shown(audit: _Audit, name: str) -> str:
    """A file's name up to the part that holds a run, which an error must not repeat."""
    shown = name
    while _is_private(audit, shown) and shown:
        shown = posixpath.dirname(shown)
    shown = shown if shown == name else posixpath.join(shown, "…")
    return shown.encode("utf-8", "replace").decode()


def _sentence(audit: _Audit, leaks: Sequence[_Leak]) -> str:
    leak = leaks[0]
    note, owner, page = audit.notes[leak.owner.note], leak.owner, leak.page
    words = (
        f"word {owner.start}" if owner.start == owner.end else f"words {owner.start} to {owner.end}"
    )
    stand = "stands" if owner.start == owner.end else "stand"
    if page is not None:
        remedy = f"take them out, or list {_shown(audit, page)} in the note's published_in"
    elif leak.place == text_extraction.NAME_PLACE:
        remedy = "rename the file"
    else:
        remedy = (
            "take them out of what it is made from, or list the page that publishes them in the "
            "note's published_in"
        )
    others = len(leaks) - 1
    more = f" (and {others} more place{'s' if others > 1 else ''})" if others else ""
    return (
        f"{note.path}: {words} of {owner.part} {stand} in {_shown(audit, leak.name)}, "
        f"{leak.place}; {remedy}{more}"
    )


def _key(audit: _Audit, content: _Content) -> bytes:
    # A page is judged by what its notes list, anything else also by what those pages hold.
    allowed = audit.allowed_digest if content.page is None else ""
    names = [audit.digest, allowed, content.name, content.page]
    digest = hashlib.sha256(content.data).digest()
    return hashlib.sha256(f"{_digest('', names)}\0".encode() + digest).digest()


def _digest(mark: str, value: object) -> str:
    return hashlib.sha256(f"{mark}\0{json.dumps(value)}".encode()).hexdigest()


@cache
def _code() -> str:
    """A mark of the code that judges: what an older one found clean is read again."""
    modules = (
        *(
            captions,
            markup,
            archives,
            json_strings,
            markup,
            text_extraction,
            word_runs,
            tokenization,
        ),
        *(word_runs, transcripts, archives),
    )
    sources = (__file__, *(str(module.__file__) for module in modules))
    return hashlib.sha256(b"\0".join(Path(source).read_bytes() for source in sources)).hexdigest()
