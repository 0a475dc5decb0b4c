"""Find runs of private notes' words in files, but for pages a note lists; report only the place."""

import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ..notes.note import Note
from .text_extraction import NAME_PLACE, ExtractedText, extract_name_texts, extract_texts
from .word_runs import RunIndex, RunOwner, WordRun, find_line, index_runs


@dataclass(frozen=True, slots=True)
class Leak:
    """A run of a note's words in a published file, and the page that the file is."""

    name: str
    page: str | None
    owner: RunOwner
    place: str


@dataclass(frozen=True, slots=True)
class AuditedFile:
    """The name, the page and the bytes of an artifact, as they are sent to another process."""

    name: str
    page: str | None
    data: bytes


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

    def lists_page(self, page: str | None) -> bool:
        """Tell whether any note lists a page."""
        return page is not None and normalize_page(page) in self._all_listed

    def find_runs(
        self, texts: Iterable[ExtractedText]
    ) -> Iterator[tuple[ExtractedText, int, WordRun, RunOwner]]:
        """Find each run in some texts: the text, the number of the run's first token, its owner."""
        for text in texts:
            for start, run in self.runs.find(text.text):
                for owner in self.runs.owners[run]:
                    yield text, start, run, owner

    def is_allowed(self, page: str | None, owner: RunOwner, run: WordRun) -> bool:
        """Tell whether a note allows a run on a page, or in a file that is no page."""
        if page is None:
            return run in self.allowed.get(owner.note, ())
        return normalize_page(page) in self.listed_pages[owner.note]

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


def normalize_page(page: str) -> str:
    """Normalize the path of a page in the docs folder: no leading slash, no `.` and `..`."""
    return posixpath.normpath("/" + page).lstrip("/")


def allow_listed_runs(scope: AuditScope, files: Iterable[AuditedFile]) -> None:
    """Add the runs of listed pages to the scope, before any file is judged."""
    for file in files:
        if file.page is None:
            continue
        page = normalize_page(file.page)
        for _, _, run, owner in scope.find_runs(extract_texts(file.name, file.data)):
            if page in scope.listed_pages[owner.note]:
                scope.allowed.setdefault(owner.note, set()).add(run)


def find_leaks(scope: AuditScope, file: AuditedFile) -> list[Leak]:
    """Find the first leak of each note in a file."""
    leaks: dict[int, Leak] = {}
    texts = chain(extract_name_texts(file.name), extract_texts(file.name, file.data))
    for text, start, run, owner in scope.find_runs(texts):
        if owner.note not in leaks and not scope.is_allowed(file.page, owner, run):
            place = _describe_place(scope, text, start)
            leaks[owner.note] = Leak(file.name, file.page, owner, place)
    return [leaks[note] for note in sorted(leaks)]


def _describe_place(scope: AuditScope, text: ExtractedText, start: int) -> str:
    """Describe where in a file a run stands; a name in it that holds a run is left out."""
    line = text.first_line - 1 + find_line(text.text, start) if text.has_lines else 0
    parts = (text.place, f"line {line}" if line else "")
    return ", ".join(part for part in parts if part and not scope.holds_run(part)) or "its text"


def format_leaks(scope: AuditScope, leaks: Sequence[Leak]) -> str:
    """Describe the first leak and its remedy in one sentence, and count the others."""
    leak = leaks[0]
    owner = leak.owner
    if owner.start == owner.end:
        words, verb = f"word {owner.start}", "stands"
    else:
        words, verb = f"words {owner.start} to {owner.end}", "stand"
    if leak.page is not None:
        page = scope.redact_name(leak.page)
        remedy = f"take them out, or list {page} in the note's published_in"
    elif leak.place == NAME_PLACE:
        remedy = "rename the file"
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
