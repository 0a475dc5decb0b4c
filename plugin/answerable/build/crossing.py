"""Where private notes cross into an index: as hints and as vectors, and as nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..serve.embedder import Embedder, Vectors
from ..serve.errors import NotebookError
from ..serve.types import RoutingHint
from . import cache, passages, windows
from .notebook import Note
from .passages import Cut
from .texts import Texts

Resolve = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Crossed:
    """What is left of all notes: ``owners`` gives the hint of each vector, as its row."""

    hints: tuple[RoutingHint, ...]
    owners: tuple[int, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Surface:
    """A note as it is searched: a hint and its texts, which are private and embedded only."""

    hint: RoutingHint
    texts: tuple[str, ...]


def embed(
    cuts: Sequence[Cut],
    notes: Sequence[Note],
    resolve: Resolve,
    language: str,
    embedder: Embedder,
    cache_folder: Path,
    progress: cache.Progress | None = None,
) -> tuple[Vectors, Crossed, int]:
    """The vectors of passages, what crosses of notes, and how many texts had to be embedded."""
    surfaces = [each for note in notes for each in surface(note, resolve, language)]
    private = [text for each in surfaces for text in each.texts]
    rows, embedded = cache.embed(Texts(cuts, private), embedder, cache_folder, progress)
    hints = tuple(each.hint for each in surfaces)
    owners = tuple(row for row, each in enumerate(surfaces) for _ in each.texts)
    return rows[: len(cuts)], Crossed(hints, owners, rows[len(cuts) :]), embedded


def surface(note: Note, resolve: Resolve, language: str = "en") -> list[Surface]:
    """A note's hint and windows, or those of each time range or page.

    resolve: from ``about`` to a url; it raises NotebookError, which then names the file.
    language: the site's, in which pages are named and sentences are split.
    """
    head = "\n".join(part for part in (note.title, note.label) if part)
    found: list[Surface] = []
    for row, place in enumerate(windows.places(note, language)):
        name = f"{note.id}~{row + 1}" if row else note.id
        located = replace(note, id=name, locator=place.locator, about=place.about)
        parts = passages.windows(place.text, windows.NOTE_WINDOW, language)
        texts = tuple(f"{head}\n\n{part}" for part in parts) or (head,)
        found.append(Surface(hint(located, resolve), texts))
    return found


def hint(note: Note, resolve: Resolve) -> RoutingHint:
    """A note's public surface. resolve: from ``about`` to a url; it raises NotebookError."""
    try:
        url = resolve(note.about)
    except NotebookError as error:
        raise NotebookError(f"{note.path}: about: {error}") from None
    except ValueError:
        raise NotebookError(f"{note.path}: about is not a url; correct it") from None
    return RoutingHint(note.id, note.label, note.locator, url)
