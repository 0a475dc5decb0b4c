"""Split a note into time ranges or pages, each with locator and link, and resolve links to urls."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...engine.errors import NotebookError
from ...engine.text.languages import get_translation
from ..pages.passages import PassageWindow, format_clock, pack_windows
from .notebook import Note, NotePage
from .transcripts import Cue

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = PassageWindow(words=60, overlap=0.25)

# By each path that an ``about`` may give: its url and the ids of elements in that page.
AboutTargets = Mapping[str, tuple[str, frozenset[str]]]


@dataclass(frozen=True, slots=True)
class NotePlace:
    """Somewhere in a note, and the private text there.

    ``locator`` and ``about`` are the note's own, with a time or the number of a page.
    """

    locator: str
    about: str
    text: str


def iter_note_places(note: Note, language: str) -> Iterator[NotePlace]:
    """Yield each time range or page of a note, or the whole note as one place.

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
    spoken = (cue for cue in note.parts if isinstance(cue, Cue))
    for repeated, group in pack_windows(spoken, NOTE_WINDOW):
        cues = [*repeated, *group]
        start, end = int(cues[0].start), math.ceil(max(cue.end for cue in cues))
        first, last = format_clock(start), format_clock(end)
        yield NotePlace(
            _format_locator(note, first if first == last else f"{first}–{last}"),
            note.about.replace("{seconds}", str(start)),
            " ".join(cue.text for cue in cues),
        )


def make_about_resolver(targets: AboutTargets) -> Callable[[str], str]:
    """Make a function from ``about``, a site path with or without anchor or an https url, to a url.

    It raises NotebookError for what is neither, and ValueError for a malformed url.
    """

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
            public_anchors = sorted(name for name in anchors if not name.startswith("__"))
            listed = ", ".join(public_anchors[:8]) or "none"
            raise NotebookError(f"{path} has no anchor {anchor!r}; it has {listed}")
        return f"{url}#{anchor}" if anchor else url

    return resolve


def _format_locator(note: Note, place: str) -> str:
    return f"{note.locator}, {place}" if note.locator else place
