"""Records: sections of paragraphs, items, rows and code that a page's HTML holds."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...engine.text.markdown import Block
from ..notes.transcripts import Cue


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading.

    ``anchor`` is the id of the nearest heading that has one, empty before the first; ``path``
    holds the headings above the text, outermost first, without the page's own title.
    """

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The fields of a page's front matter that retrieval uses."""

    summary: str = ""
    themes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: str | None = None
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """The cues of a recording that a page publishes, in the order of time.

    ``media``: where the recording is played, "" for the page itself.
    """

    cues: tuple[Cue, ...]
    media: str = ""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A published page before it is parsed.

    ``html`` is that of its article, None where a dirty build has not rendered the page.
    """

    id: str
    url: str
    title: str
    html: str | None
    metadata: PageMetadata = field(default_factory=PageMetadata)
    language: str = "en"
    transcript: Transcript | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One published page. ``id`` is its source path without its suffix, ``url`` root-relative.

    ``anchors`` are all the ids in the page; ``abbreviations`` maps a short form to its long one.
    """

    id: str
    url: str
    title: str
    metadata: PageMetadata
    sections: tuple[Section, ...]
    anchors: frozenset[str] = frozenset()
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"
    transcript: Transcript | None = None

    @property
    def slug(self) -> str:
        """Return the last part of the id; of a folder's index page, the folder's name.

        The language that a translation has in its name is left out.
        """
        parts = self.id.split("/")
        if parts[0] == self.language:
            parts = parts[1:]
        last = parts.pop().removesuffix(f".{self.language}") if parts else ""
        if last.lower() in ("index", "readme"):
            last = parts.pop() if parts else ""
        return last


def parse_metadata(meta: Mapping[str, object]) -> PageMetadata:
    """Parse front matter; a key of another type than expected is read as absent."""
    return PageMetadata(
        summary=_find_first_text(meta, "description", "summary", "meaning"),
        themes=_list_texts(meta, "themes", "keywords", "topics", "tags"),
        aliases=_list_texts(meta, "aliases"),
        date=_parse_date(meta.get("date")),
        excluded=_has_exclude(meta.get("search")) or _has_exclude(meta.get("answerable")),
    )


def _find_first_text(meta: Mapping[str, object], *keys: str) -> str:
    values = (meta.get(key) for key in keys)
    return next((text for v in values if isinstance(v, str) and (text := _clean_line(v))), "")


def _list_texts(meta: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    texts: list[str] = []
    for key in keys:
        value = meta.get(key)
        items = value.split(",") if isinstance(value, str) else value
        if isinstance(items, list | tuple):
            texts += [_clean_line(item) for item in items if isinstance(item, str | int | float)]
    return tuple(dict.fromkeys(text for text in texts if text))


def _clean_line(value: object) -> str:
    """Put a value on one line, without lone surrogates: YAML can escape them, no file hold them."""
    try:
        return " ".join(str(value).encode(errors="ignore").decode().split())
    except ValueError:
        # Python refuses to format integers of thousands of digits.
        return ""


def _parse_date(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("updated") or value.get("created")
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value.strip()[:10]).isoformat()
        except ValueError:
            return None
    return None


def _has_exclude(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("exclude") is True
