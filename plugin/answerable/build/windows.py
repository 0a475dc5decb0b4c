"""A note as it is searched: its windows, and where in the material each of them is."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ..serve import wording
from ..serve.terms import count_words
from ..serve.types import RoutingHint
from . import notebook, passages
from .notebook import Note, Page
from .passages import Window
from .transcripts import Cue

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = Window(words=60, overlap=0.25)


@dataclass(frozen=True, slots=True)
class Surface:
    """A note as it is searched: its hints, and for each embedded text the row of its hint.

    ``texts`` are private, and made to be embedded only; ``owners`` is parallel to them.
    """

    hints: tuple[RoutingHint, ...]
    texts: tuple[str, ...]
    owners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Somewhere in a note, with its own locator and ``about``, and the private text there."""

    locator: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A cue and how many words are said in it."""

    cue: Cue
    words: int


def surface(note: Note, resolve: Callable[[str], str], language: str = "en") -> Surface:
    """A note's hints and windows: one hint, or one for each time range or page.

    resolve: from ``about`` to a url; it raises NotebookError, which then names the file.
    language: the site's, in which pages are named and sentences are split.
    """
    head = "\n".join(part for part in (note.title, note.label) if part)
    hints: list[RoutingHint] = []
    texts: list[str] = []
    owners: list[int] = []
    for row, place in enumerate(_places(note, language)):
        name = f"{note.id}~{row + 1}" if row else note.id
        located = replace(note, id=name, locator=place.locator, about=place.about)
        hints.append(notebook.hint(located, resolve))
        parts = passages.windows(place.text, NOTE_WINDOW, language)
        made = [f"{head}\n\n{part}" for part in parts] or [head]
        texts += made
        owners += [row] * len(made)
    return Surface(tuple(hints), tuple(texts), tuple(owners))


def _places(note: Note, language: str) -> Iterator[_Place]:
    if not note.parts:
        yield _Place(note.locator, note.about, note.body)
    page_name = wording.of(language).page
    for page in note.parts:
        if isinstance(page, Page):
            number = str(page.number)
            yield _Place(
                _located(note, page_name.format(page=number)),
                note.about.replace("{page}", number),
                page.text,
            )
    for cues in _groups([cue for cue in note.parts if isinstance(cue, Cue)]):
        start, end = cues[0].start, max(cue.end for cue in cues)
        yield _Place(
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
