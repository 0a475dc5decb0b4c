"""Find runs of private notes' words in files, but for pages a note lists; report only the place."""

import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ..notes.note import Note
from .artifacts import Artifact
from .text_extraction import NAME_PLACE, ExtractedText, extract_name_texts, extract_texts
from .word_runs import RunIndex, RunOwner, WordRun, find_line, index_runs, is_short


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


@dataclass(frozen=True, slots=True)
class AuditedFile:
    """An artifact with its bytes, as it is sent to another process."""

    name: str
    page: str | None
    data: bytes
    file: str | None
    public_names: frozenset[str]


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

    def is_allowed(self, file: AuditedFile, owner: RunOwner, run: WordRun) -> bool:
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


def allow_listed_runs(scope: AuditScope, files: Iterable[AuditedFile]) -> None:
    """Add the runs of listed pages to the scope, before any file is judged."""
    for file in files:
        for _, _, run, owner in scope.find_runs(extract_texts(file.name, file.data)):
            if not file.public_names.isdisjoint(scope.listed_pages[owner.note]):
                scope.allowed.setdefault(owner.note, set()).add(run)


def find_leaks(scope: AuditScope, file: AuditedFile) -> list[Leak]:
    """Find the first leak of each note in a file, and of each of its short runs."""
    leaks: dict[tuple[int, WordRun], Leak] = {}
    texts = chain(extract_name_texts(file.name), extract_texts(file.name, file.data))
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
