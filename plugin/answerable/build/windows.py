"""Where in its material a note is searched: all of it, or its time ranges or pages."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..serve import wording
from ..serve.terms import count_words
from . import passages
from .notebook import Note, Page
from .passages import Window
from .transcripts import Cue

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = Window(words=60, overlap=0.25)


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere in a note, and the private text there.

    ``locator`` and ``about`` are the note's own, with a time or the number of a page.
    """

    locator: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A cue and how many words are said in it."""

    cue: Cue
    words: int


def places(note: Note, language: str) -> Iterator[Place]:
    """Where a note is searched: everywhere at once, or in each time range or page.

    language: the site's, in which pages are named.
    """
    if not note.parts:
        yield Place(note.locator, note.about, note.body)
    page_name = wording.of(language).page
    for page in note.parts:
        if isinstance(page, Page):
            number = str(page.number)
            yield Place(
                _located(note, page_name.format(page=number)),
                note.about.replace("{page}", number),
                page.text,
            )
    for cues in _groups([cue for cue in note.parts if isinstance(cue, Cue)]):
        start, end = cues[0].start, max(cue.end for cue in cues)
        yield Place(
            _located(note, _range(start, end)),
            note.about.replace("{seconds}", str(int(start))),
            " ".join(cue.text for cue in cues),
        )


def _located(note: Note, place: str) -> str:
    return f"{note.locator}, {place}" if note.locator else place


def _range(start: float, end: float) -> str:
    first, last = _clock(int(start)), _clock(math.ceil(end))
    return first if first == last else f"{first}–{last}"


def _clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def _groups(cues: Iterable[Cue]) -> Iterator[list[Cue]]:
    """Cues in windows; one cue may be too long."""
    spoken = (_Spoken(cue, count_words(cue.text)) for cue in cues)
    for group in passages.pack(spoken, NOTE_WINDOW):
        yield [each.cue for each in group]
