"""Split a note into time ranges or pages, each with locator and link, and resolve links to urls."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
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


def list_note_places(note: Note, language: str) -> Iterator[Note]:
    """List each time range or page of a note as one of its own, or the whole note.

    Its locator and its link lead there, and its body is what stands there. language: the site's, in
    which pages are named.
    """
    if not note.parts:
        yield note
    page_name = get_translation(language).page
    for page in note.parts:
        if isinstance(page, NotePage):
            number = str(page.number)
            about = note.about.replace("{page}", number)
            yield _make_place(note, page_name.format(page=number), about, page.text)
    spoken = (cue for cue in note.parts if isinstance(cue, Cue))
    for repeated, group in pack_windows(spoken, NOTE_WINDOW):
        cues = [*repeated, *group]
        start, end = int(cues[0].start), math.ceil(max(cue.end for cue in cues))
        first, last = format_clock(start), format_clock(end)
        about = note.about.replace("{seconds}", str(start))
        time = first if first == last else f"{first}–{last}"
        yield _make_place(note, time, about, " ".join(cue.text for cue in cues))


def _make_place(note: Note, place: str, about: str, text: str) -> Note:
    locator = f"{note.locator}, {place}" if note.locator else place
    return replace(note, locator=locator, about=about, body=text)


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
