"""Where in its material a note is searched: all of it, or its time ranges or pages.

Where private notes cross into an index: as hints and as vectors, and as nothing else.

From a note's ``about`` to a url of the site.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from ...serve.embedders.embedder import Embedder, Vectors
from ...serve.errors import NotebookError
from ...serve.text.languages import get_translation
from ...serve.text.tokenization import count_words
from ...serve.types import RoutingHint
from ..embedding_cache import EmbeddingTexts, ReportProgress, embed_cached
from ..pages.passages import IndexedPassage, PassageWindow, cut_plain_text, pack_windows
from .notebook import Note, NotePage
from .transcripts import Cue

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = PassageWindow(words=60, overlap=0.25)


@dataclass(frozen=True, slots=True)
class NotePlace:
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


def iter_note_places(note: Note, language: str) -> Iterator[NotePlace]:
    """Where a note is searched: everywhere at once, or in each time range or page.

    language: the site's, in which pages are named.
    """
    if not note.parts:
        yield NotePlace(note.locator, note.about, note.body)
    page_name = get_translation(language).page
    for page in note.parts:
        if isinstance(page, NotePage):
            number = str(page.number)
            yield NotePlace(
                _format_locator(note, page_name.format(page=number)),
                note.about.replace("{page}", number),
                page.text,
            )
    for cues in _group_cues([cue for cue in note.parts if isinstance(cue, Cue)]):
        start, end = cues[0].start, max(cue.end for cue in cues)
        yield NotePlace(
            _format_locator(note, _format_range(start, end)),
            note.about.replace("{seconds}", str(int(start))),
            " ".join(cue.text for cue in cues),
        )


def _format_locator(note: Note, place: str) -> str:
    return f"{note.locator}, {place}" if note.locator else place


def _format_range(start: float, end: float) -> str:
    first, last = _format_clock(int(start)), _format_clock(math.ceil(end))
    return first if first == last else f"{first}–{last}"


def _format_clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def _group_cues(cues: Iterable[Cue]) -> Iterator[list[Cue]]:
    """Cues in windows; one cue may be too long."""
    spoken = (_Spoken(cue, count_words(cue.text)) for cue in cues)
    for group in pack_windows(spoken, NOTE_WINDOW):
        yield [each.cue for each in group]


ResolveAbout = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class EmbeddedHints:
    """What is left of all notes: ``owners`` gives the hint of each vector, as its row."""

    hints: tuple[RoutingHint, ...]
    owners: tuple[int, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class HintTexts:
    """A note as it is searched: a hint and its texts, which are private and embedded only."""

    hint: RoutingHint
    texts: tuple[str, ...]


def embed_passages_and_notes(
    cuts: Sequence[IndexedPassage],
    notes: Sequence[Note],
    resolve: ResolveAbout,
    language: str,
    embedder: Embedder,
    cache_folder: Path,
    progress: ReportProgress | None = None,
) -> tuple[Vectors, EmbeddedHints, int]:
    """The vectors of passages, what crosses of notes, and how many texts had to be embedded."""
    surfaces = [each for note in notes for each in cut_note(note, resolve, language)]
    private = [text for each in surfaces for text in each.texts]
    rows, embedded = embed_cached(EmbeddingTexts(cuts, private), embedder, cache_folder, progress)
    hints = tuple(each.hint for each in surfaces)
    owners = tuple(row for row, each in enumerate(surfaces) for _ in each.texts)
    return rows[: len(cuts)], EmbeddedHints(hints, owners, rows[len(cuts) :]), embedded


def cut_note(note: Note, resolve: ResolveAbout, language: str = "en") -> list[HintTexts]:
    """A note's hint and windows, or those of each time range or page.

    resolve: from ``about`` to a url; it raises NotebookError, which then names the file.
    language: the site's, in which pages are named and sentences are split.
    """
    head = "\n".join(part for part in (note.title, note.label) if part)
    found: list[HintTexts] = []
    for row, place in enumerate(iter_note_places(note, language)):
        name = f"{note.id}~{row + 1}" if row else note.id
        located = replace(note, id=name, locator=place.locator, about=place.about)
        parts = cut_plain_text(place.text, NOTE_WINDOW, language)
        texts = tuple(f"{head}\n\n{part}" for part in parts) or (head,)
        found.append(HintTexts(make_hint(located, resolve), texts))
    return found


def make_hint(note: Note, resolve: ResolveAbout) -> RoutingHint:
    """A note's public surface. resolve: from ``about`` to a url; it raises NotebookError."""
    try:
        url = resolve(note.about)
    except NotebookError as error:
        raise NotebookError(f"{note.path}: about: {error}") from None
    except ValueError:
        raise NotebookError(f"{note.path}: about is not a url; correct it") from None
    return RoutingHint(note.id, note.label, note.locator, url)


# Each path that may be named, the url that it has and the ids in that page.
AboutTargets = Mapping[str, tuple[str, frozenset[str]]]


def make_about_resolver(targets: AboutTargets) -> Callable[[str], str]:
    """A function from ``about``: a path with or without an anchor, or an https url."""

    def resolve(about: str) -> str:
        address = urlsplit(about)
        if address.scheme == "https" and address.hostname:
            if address.username or address.password:
                raise NotebookError("the url holds a user name or a password; leave it out")
            return about
        path, _, anchor = about.partition("#")
        target = targets.get(path.removeprefix("/"))
        if target is None:
            raise NotebookError(
                f"{path!r} is not a published file of the docs folder; give its path there, such "
                "as `guide/deploy.md`, or an https url"
            )
        url, anchors = target
        if anchor and anchor not in anchors:
            named = sorted(name for name in anchors if not name.startswith("__"))
            near = ", ".join(named[:8]) or "none"
            raise NotebookError(f"{path} has no anchor {anchor!r}; it has {near}")
        return f"{url}#{anchor}" if anchor else url

    return resolve


def check_about(note: Note, resolve: ResolveAbout, language: str) -> None:
    """Resolve the ``about`` of every place in a note; NotebookError for one that leads nowhere."""
    for about in dict.fromkeys(
        place.about for place in iter_note_places(note, language) if note.about
    ):
        make_hint(replace(note, about=about), resolve)
