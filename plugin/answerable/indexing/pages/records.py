"""Records: sections of paragraphs, items, rows and code that a page's HTML holds."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin

from ...serve.structure import MAX_LEVEL, BlockKind, Span, SpanKind, is_safe_url
from ..notes.transcripts import Cue


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A paragraph, list item, table row, code block or label of a page.

    ``spans`` are offsets in ``text``; ``group`` is unique within the page; ``group``, ``level``
    and ``detail`` are those of ``serve.structure.Block``.
    """

    kind: BlockKind
    text: str
    spans: tuple[Span, ...] = ()
    group: int = 0
    level: int = 0
    detail: str = ""

    @property
    def code(self) -> tuple[tuple[int, int], ...]:
        """Return the (start, end) offsets of its inline code."""
        return tuple((span.start, span.end) for span in self.spans if span.kind == "code")


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading.

    ``anchor`` is the id of the nearest heading that has one, empty before the first; ``path``
    holds the headings above the text, outermost first, without the page's own title.
    """

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[PageBlock, ...]


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


_ORIGIN = "https://site.invalid"
_SPACE = re.compile(r"[ \t\r\n\f]+")


def collapse_space(text: str) -> str:
    """Collapse white space as HTML does."""
    return _SPACE.sub(" ", text)


@dataclass(slots=True)
class InlineText:
    """Collect a text piece by piece, and its spans; ``open_spans`` are (kind, url, start)."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    spans: list[Span] = field(default_factory=list)
    open_spans: list[tuple[SpanKind, str, int]] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Append text, its white space collapsed with what stands before it."""
        collapsed = collapse_space(text)
        if collapsed.startswith(" ") and (not self.parts or self.parts[-1][-1] in " \n"):
            collapsed = collapsed[1:]
        self._append(collapsed)

    def _append(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    def break_line(self) -> None:
        """Begin a new line, unless the first one is still empty."""
        if self.parts:
            last = self.parts.pop()
            self.length -= len(last)
            self._append(last.removesuffix(" ") + "\n")

    def begin_span(self, kind: SpanKind, url: str = "") -> None:
        """Open a span; one inside another of its kind becomes part of that."""
        self.open_spans.append((kind, url, self.length))

    def end_span(self) -> None:
        """Close the span that was opened last."""
        kind, url, start = self.open_spans.pop()
        if not any(kind == outer for outer, _, _ in self.open_spans):
            self.spans.append(Span(kind, start, self.length, url))

    def split(self) -> tuple[str, tuple[Span, ...], "InlineText"]:
        """Return the text so far with its spans, and an empty text with the same spans open."""
        following = InlineText()
        for kind, url, _ in self.open_spans:
            following.begin_span(kind, url)
        while self.open_spans:
            self.end_span()
        text = "".join(self.parts).rstrip()
        return text, trim_spans(self.spans, text), following


def trim_spans(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Trim white space off the ends of spans, drop empty ones, and sort them."""
    trimmed: list[Span] = []
    for span in spans:
        words = text[span.start : span.end]
        start = span.start + len(words) - len(words.lstrip())
        if words.strip():
            trimmed.append(span._replace(start=start, end=start + len(words.strip())))
    return tuple(sorted(trimmed, key=span_sort_key))


def span_sort_key(span: Span) -> tuple[int, int, str]:
    """Order spans by their starts, an outer one before what it holds."""
    return span.start, -span.end, span.kind


def shift_spans(spans: Iterable[Span], offset: int) -> list[Span]:
    """Move spans to where their text stands in a longer one."""
    return [s._replace(start=s.start + offset, end=s.end + offset) for s in spans]


def resolve_link(href: str, page_url: str) -> str:
    """Resolve a link against its page's url; "" for one that must not be followed.

    page_url: root-relative or absolute; "" if it is unknown, and with it every relative link.
    """
    try:
        # Without a host, `..` would lead above the root.
        url = urljoin(urljoin(_ORIGIN, page_url), href.strip())
    except ValueError:
        return ""
    if url.startswith(f"{_ORIGIN}/"):
        url = url.removeprefix(_ORIGIN) if page_url else ""
    return url if is_safe_url(url) else ""


# Below that of any heading.
_OBJECT_LEVEL = 7


@dataclass(slots=True)
class BlockContext:
    """Hold the kind, group, level and detail of the next block.

    ``list_group`` is the group of the list whose item this is, for the lists in it; ``next_number``
    is the number of the next item of an ordered list, None anywhere else.
    """

    kind: BlockKind = "text"
    group: int = 0
    level: int = 0
    detail: str = ""
    list_group: int = 0
    next_number: int | None = None
    has_rows: bool = False

    def leave_first_block(self) -> None:
        """Make what follows the first block of an item text inside the item."""
        if self.kind == "item":
            self.kind, self.detail, self.level = "text", "", self.level + 1


@dataclass(slots=True)
class _Heading:
    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class SectionBuilder:
    """Collect the sections of an article, or of a table cell, in which a heading is mere text.

    ``title`` is the page's own, which is left out of heading paths. ``line`` is the inline text of
    the block that is being read.
    """

    title: str
    is_cell: bool = False
    line: InlineText = field(default_factory=InlineText)
    contexts: list[BlockContext] = field(default_factory=lambda: [BlockContext()])
    group_count: int = 0
    headings: list[_Heading] = field(default_factory=list)
    blocks: list[PageBlock] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    is_excluded: bool = False

    def enter(self) -> BlockContext:
        """Return the context in which a nested block begins."""
        context = self.contexts[-1]
        context.leave_first_block()
        return context

    def _new_group(self) -> int:
        self.group_count += 1
        return self.group_count

    def list_context(self, *, can_nest: bool, first_number: int | None) -> BlockContext:
        """Return the context of a list or table. can_nest: it joins the list that it stands in."""
        outer = self.enter()
        group = (outer.list_group if can_nest else 0) or self._new_group()
        return BlockContext("text", group, outer.level, next_number=first_number)

    def item_context(self, number: int | None) -> BlockContext:
        """Return the context of a list item. number: its own in an ordered list, if it has one."""
        outer = self.enter()
        detail = ""
        if outer.next_number is not None:
            number = outer.next_number if number is None else number
            outer.next_number = number + 1
            detail = str(number)
        return BlockContext("item", outer.group, outer.level, detail, list_group=outer.group)

    def box_context(self, *, is_definition: bool) -> BlockContext:
        """Return the context of an admonition, or of a definition, which belongs to its list."""
        outer = self.enter()
        group = outer.group if is_definition else self._new_group()
        return BlockContext("text", group, outer.level + 1)

    def label_context(self, detail: str) -> BlockContext:
        """Return the context of a label; a box's title stands in it and is as deep as the box."""
        outer = self.enter()
        depth = 1 if detail == "title" and outer.group else 0
        return BlockContext("label", outer.group, max(0, outer.level - depth), detail)

    def tab_contexts(self) -> tuple[BlockContext, BlockContext]:
        """Return the contexts of the labels and of the contents of a new set of tabs."""
        outer, group = self.enter(), self._new_group()
        return (
            BlockContext("label", group, outer.level, "tab"),
            BlockContext("text", group, outer.level + 1),
        )

    def flush(self) -> None:
        """Add the inline text read so far as a block."""
        text, spans, self.line = self.line.split()
        if text:
            context = self.contexts[-1]
            self.add_block(context.kind, text, spans, context.detail)
            context.leave_first_block()

    def add_block(
        self, kind: BlockKind, text: str, spans: tuple[Span, ...] = (), detail: str = ""
    ) -> None:
        """Add a block in the current context."""
        context = self.contexts[-1]
        level = min(context.level, MAX_LEVEL)
        self.blocks.append(PageBlock(kind, text, spans, context.group, level, detail))

    def start_section(self, level: int, heading: str, anchor: str, *, is_excluded: bool) -> None:
        """Begin a section under a heading; an excluded one takes its text out, as in Material."""
        self.end_section()
        self.is_excluded = is_excluded
        text = "" if is_excluded else collapse_space(heading).strip()
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        if not self.is_cell:
            self.headings.append(_Heading(level, text, anchor))
        elif text:
            self.blocks.append(PageBlock("text", text))

    def begin_object(self, name: str, anchor: str) -> list[_Heading]:
        """Begin the section of an object; return the headings that what follows it stands under."""
        self.end_section()
        self.contexts.append(BlockContext())
        outer = self.headings
        level = max(_OBJECT_LEVEL, outer[-1].level + 1 if outer else 0)
        self.headings = [*outer, _Heading(level, name, anchor)]
        return outer

    def end_object(self, outer: list[_Heading]) -> None:
        """End the section of an object, and those of headings in it, under the outer headings."""
        self.end_section()
        self.contexts.pop()
        self.headings = outer

    def end_section(self) -> None:
        """Keep the blocks read since the last heading as a section, if there are any."""
        self.flush()
        if self.blocks and not self.is_excluded:
            path = tuple(h.text for h in self.headings if h.text and h.text != self.title)
            anchor = next((h.anchor for h in reversed(self.headings) if h.anchor), "")
            self.sections.append(Section(path, anchor, tuple(self.blocks)))
        self.blocks = []

    def join_blocks(self) -> tuple[str, tuple[Span, ...]]:
        """End a table cell: return its text on one line, and its spans."""
        self.end_section()
        text = ""
        spans: list[Span] = []
        for block in (block for section in self.sections for block in section.blocks):
            text += " " if text else ""
            inner = block.spans
            if block.kind == "code":
                inner = trim_spans([Span("code", 0, len(block.text))], block.text)
            spans += shift_spans(inner, len(text))
            text += block.text.replace("\n", " ")
        return text, tuple(spans)
