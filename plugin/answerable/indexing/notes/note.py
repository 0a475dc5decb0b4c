"""Dataclasses of a private note, of a numbered page in it, of a notebook of notes and drafts."""

from dataclasses import dataclass
from pathlib import Path

from .transcripts import Cue


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
