"""Embed passages and private notes together; of notes only routing hints and vectors come out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...engine.errors import NotebookError
from ...engine.types import RoutingHint
from ...engine.vectors import Embedder, Floats
from ..caches import embed_cached
from ..pages.passages import IndexedPassage, cut_plain_text
from .note_places import NOTE_WINDOW, list_note_places
from .notebook import Note

ResolveAbout = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class EmbeddedHints:
    """All that is left of notes; ``owners`` gives for each row of vectors the row of its hint."""

    hints: tuple[RoutingHint, ...]
    owners: tuple[int, ...]
    vectors: Floats


@dataclass(frozen=True, slots=True)
class HintTexts:
    """A hint and the private texts that are embedded for it, and used for nothing else."""

    hint: RoutingHint
    texts: tuple[str, ...]


def embed_passages_and_notes(
    passages: Sequence[IndexedPassage],
    notes: Sequence[Note],
    resolve: ResolveAbout,
    language: str,
    embedder: Embedder,
    cache_folder: Path,
) -> tuple[Floats, EmbeddedHints, int]:
    """Embed passages and notes; returns both, and how many texts were not in the cache."""
    cut_notes = [hint for note in notes for hint in cut_note(note, resolve, language)]
    private = [text for hint in cut_notes for text in hint.texts]
    texts = [*(passage.retrieval_text for passage in passages), *private]
    vectors, embedded = embed_cached(texts, embedder, cache_folder)
    hints = tuple(hint.hint for hint in cut_notes)
    owners = tuple(row for row, hint in enumerate(cut_notes) for _ in hint.texts)
    count = len(passages)
    return vectors[:count], EmbeddedHints(hints, owners, vectors[count:]), embedded


def cut_note(note: Note, resolve: ResolveAbout, language: str = "en") -> list[HintTexts]:
    """Cut a note, or each time range or page of it, into a hint and the texts to embed.

    resolve: from ``about`` to a url; it raises NotebookError, which then names the file.
    language: the site's, in which pages are named.
    """
    head = "\n".join(part for part in (note.title, note.label) if part)
    hint_texts: list[HintTexts] = []
    for row, place in enumerate(list_note_places(note, language)):
        place_id = f"{note.id}~{row + 1}" if row else note.id
        windows = cut_plain_text(place.body, NOTE_WINDOW)
        texts = tuple(f"{head}\n\n{window}" for window in windows) or (head,)
        hint_texts.append(HintTexts(make_hint(replace(place, id=place_id), resolve), texts))
    return hint_texts


def make_hint(note: Note, resolve: ResolveAbout) -> RoutingHint:
    """Reduce a note to its public fields. resolve: from ``about`` to a url."""
    try:
        url = resolve(note.about)
    except NotebookError as error:
        raise NotebookError(f"{note.path}: about: {error}") from None
    except ValueError:
        raise NotebookError(f"{note.path}: about is not a url; correct it") from None
    return RoutingHint(note.id, note.label, note.locator, url)


def check_about(note: Note, resolve: ResolveAbout, language: str) -> None:
    """Resolve the ``about`` of every place in a note; NotebookError for one that leads nowhere."""
    for place in list_note_places(note, language) if note.about else ():
        make_hint(place, resolve)
