"""Rendered HTML of a page's article to sections of text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...serve.structure import DIAGRAM_LANGUAGE, MAX_LEVEL, BlockKind, Span
from .html_elements import (
    classify_label,
    extract_code,
    extract_text,
    find_code_language,
    has_class,
    is_admonition,
    is_code,
    is_excluded,
    is_skipped,
    list_anchors,
    list_tabs,
)
from .inline_text import InlineText, collapse_space, resolve_link, span_sort_key, trim_spans
from .records import PageBlock, Section

_BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hr html label legend li main ol p section summary table tbody td "
    "caption tfoot th thead tr ul".split()
)
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADING = re.compile(r"h([1-6])")
# How a diagram begins where no class names its language.
_DIAGRAM = re.compile(
    r"(?:graph|flowchart)\s+(?:TB|TD|BT|RL|LR)\b|(?:sequence|class|state|er)Diagram\b|gitGraph\b"
)

# A walk that yields the walks to take before it goes on.
_Walk: TypeAlias = Iterator["_Walk"]


@dataclass(frozen=True, slots=True)
class ParsedArticle:
    """An article as read: its sections, every id in it and its abbreviations."""

    sections: tuple[Section, ...]
    anchors: frozenset[str]
    abbreviations: dict[str, str]


@dataclass(slots=True)
class _Heading:
    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class _BlockContext:
    """What the next block becomes: its kind, group, level and detail.

    ``list_group`` is the group of the list whose item this is, for the lists in it; ``next_number``
    is that of the next item of an ordered list, None in any other place.
    """

    kind: BlockKind = "text"
    group: int = 0
    level: int = 0
    detail: str = ""
    list_group: int = 0
    next_number: int | None = None
    has_rows: bool = False

    def enter_item(self) -> None:
        """What follows the first block of an item stands in the item."""
        if self.kind == "item":
            self.kind, self.detail, self.level = "text", "", self.level + 1


@dataclass(slots=True)
class _ArticleParser:
    """The state of one walk over an article, or over a cell, in which a heading is mere text."""

    title: str
    url: str
    in_cell: bool = False
    line: InlineText = field(default_factory=InlineText)
    places: list[_BlockContext] = field(default_factory=lambda: [_BlockContext()])
    groups: int = 0
    headings: list[_Heading] = field(default_factory=list)
    blocks: list[PageBlock] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    excluded: bool = False

    def walk(self, node: LexborNode) -> _Walk:
        for child in node.iter(include_text=True):
            heading = _HEADING.fullmatch(child.tag or "")
            if child.is_text_node:
                self.line.add(child.text_content or "")
            elif heading:
                self.heading(child, int(heading[1]))
            elif not is_skipped(child) and (inner := self.element(child)):
                yield inner

    def element(self, node: LexborNode) -> _Walk | None:
        """Read an element whose own reading is short; what is left to do for any other."""
        tag = node.tag or ""
        if is_code(node):
            self.code_block(node)
        elif tag == "tr":
            return self.row(node)
        elif tag == "br":
            self.line.break_line()
        elif tag in ("code", "kbd", "samp"):
            return self.span(node, "")
        elif tag == "a" and (url := self.link(node)):
            return self.span(node, url)
        elif tag in _BLOCK_TAGS:
            return self.block(node, tag)
        else:
            return self.walk(node)
        return None

    def link(self, node: LexborNode) -> str:
        href = node.attributes.get("href")
        return resolve_link(href, self.url) if href else ""

    def span(self, node: LexborNode, url: str) -> _Walk:
        """Read inline code, or a link if there is a url."""
        self.line.begin("link" if url else "code", url)
        yield self.walk(node)
        self.line.end()

    def block(self, node: LexborNode, tag: str) -> _Walk:
        self.flush()
        if detail := classify_label(node):
            return self.label(node, detail)
        if tag in ("ul", "ol", "dl", "table"):
            return self.within(node, self.new_list(node, tag))
        if tag == "li":
            return self.within(node, self.new_item(node))
        if tag == "dd" or is_admonition(node):
            return self.within(node, self.new_box(tag))
        pairs = list_tabs(node) if tag == "div" else []
        return self.tabs(pairs) if pairs else self.within(node, None)

    def within(self, node: LexborNode, place: _BlockContext | None) -> _Walk:
        """Read an element in a place of its own, or in the one that it stands in."""
        if place:
            self.places.append(place)
        yield self.walk(node)
        self.flush()
        if place:
            self.places.pop()

    def label(self, node: LexborNode, detail: str) -> _Walk:
        """Read a label; that of a box stands in it, and is as deep as the box."""
        place = self.enter()
        depth = 1 if detail == "title" and place.group else 0
        return self.within(
            node, _BlockContext("label", place.group, max(0, place.level - depth), detail)
        )

    def tabs(self, pairs: list[tuple[LexborNode | None, LexborNode]]) -> _Walk:
        """Read each tab as its label and then its content, which only a script may have hidden."""
        place = self.enter()
        group = self.new_group()
        for label, panel in pairs:
            if not is_excluded(panel):
                if label is not None:
                    yield self.within(label, _BlockContext("label", group, place.level, "tab"))
                yield self.within(panel, _BlockContext("text", group, place.level + 1))

    def enter(self) -> _BlockContext:
        """The place that a block of its own begins in."""
        place = self.places[-1]
        place.enter_item()
        return place

    def new_group(self) -> int:
        self.groups += 1
        return self.groups

    def new_list(self, node: LexborNode, tag: str) -> _BlockContext:
        place = self.enter()
        nested = place.list_group if tag in ("ul", "ol") else 0
        group = nested or self.new_group()
        number = _parse_number(node, "start", 1) if tag == "ol" else None
        return _BlockContext("text", group, place.level, next_number=number)

    def new_item(self, node: LexborNode) -> _BlockContext:
        place = self.enter()
        detail = ""
        if place.next_number is not None:
            number = _parse_number(node, "value", place.next_number)
            place.next_number = number + 1
            detail = str(number)
        return _BlockContext("item", place.group, place.level, detail, list_group=place.group)

    def new_box(self, tag: str) -> _BlockContext:
        """A definition, which belongs to its list, or an admonition."""
        place = self.enter()
        group = place.group if tag == "dd" else self.new_group()
        return _BlockContext("text", group, place.level + 1)

    def row(self, node: LexborNode) -> _Walk:
        """A table row as one line, its cells divided by dots."""
        self.flush()
        cells: list[LexborNode] = []
        text = ""
        spans: list[Span] = []
        for cell in node.iter():
            if not is_skipped(cell):
                inner = _ArticleParser(self.title, self.url, in_cell=True)
                yield inner.walk(cell)
                text += " · " if cells else ""
                start = len(text)
                text += inner.cell(start, spans)
                spans.append(Span("cell", start, len(text)))
                cells.append(cell)
        if text.strip(" ·"):
            place = self.enter()
            is_header = not place.has_rows and all(cell.tag == "th" for cell in cells)
            place.has_rows = True
            ordered = tuple(sorted(spans, key=span_sort_key))
            detail = "header" if is_header else ""
            self.add("row", text, ordered, detail)

    def cell(self, base: int, spans: list[Span]) -> str:
        """What was read of a cell, on one line. base: where it begins; its spans are added."""
        self.end_section()
        text = ""
        for block in (block for section in self.sections for block in section.blocks):
            text += " " if text else ""
            inner = block.spans
            if block.kind == "code":
                inner = trim_spans([Span("code", 0, len(block.text))], block.text)
            shift = base + len(text)
            spans += [s._replace(start=s.start + shift, end=s.end + shift) for s in inner]
            text += block.text.replace("\n", " ")
        return text

    def code_block(self, node: LexborNode) -> None:
        self.flush()
        self.enter()
        filename = node.css_first("span.filename")
        if filename and (name := extract_text(filename).strip()):
            self.add("label", collapse_space(name), detail="file")
        text = extract_code(node).strip("\n").rstrip()
        if text:
            language = find_code_language(node)
            if not language and _DIAGRAM.match(text):
                language = DIAGRAM_LANGUAGE
            self.add("code", text, detail=language)

    def heading(self, node: LexborNode, level: int) -> None:
        """Begin a section; a heading that is excluded takes its own text out, as in Material."""
        self.end_section()
        self.excluded = is_skipped(node)
        text = "" if self.excluded else collapse_space(extract_text(node)).strip()
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        if self.in_cell:
            self.blocks += [PageBlock("text", text)] if text else []
            return
        self.headings.append(_Heading(level, text, _find_heading_anchor(node)))

    def flush(self) -> None:
        text, spans, self.line = self.line.split()
        if text:
            place = self.places[-1]
            self.add(place.kind, text, spans, place.detail)
            place.enter_item()

    def add(
        self, kind: BlockKind, text: str, spans: tuple[Span, ...] = (), detail: str = ""
    ) -> None:
        """Add a block in the place that is being read."""
        place = self.places[-1]
        level = min(place.level, MAX_LEVEL)
        self.blocks.append(PageBlock(kind, text, spans, place.group, level, detail))

    def end_section(self) -> None:
        self.flush()
        if self.blocks and not self.excluded:
            path = tuple(h.text for h in self.headings if h.text and h.text != self.title)
            anchor = next((h.anchor for h in reversed(self.headings) if h.anchor), "")
            self.sections.append(Section(path, anchor, tuple(self.blocks)))
        self.blocks = []


def parse_article(html: str, title: str, url: str = "") -> ParsedArticle:
    """Read the HTML of an article.

    title: the page's own, left out of heading paths. url: the page's, which links are relative to;
    without it only links that need no page are kept.
    """
    body = LexborHTMLParser(html).body
    if body is None:
        return ParsedArticle((), frozenset(), {})
    reader = _ArticleParser(collapse_space(title).strip(), url)
    _run_walk(reader.walk(body))
    reader.end_section()
    abbreviations = {
        extract_text(node).strip(): (node.attributes.get("title") or "").strip()
        for node in body.css("abbr[title]")
    }
    return ParsedArticle(
        tuple(reader.sections),
        list_anchors(body),
        {short: long for short, long in abbreviations.items() if short and long},
    )


def _run_walk(steps: _Walk) -> None:
    """Take a walk to its end. A page nests as deep as it likes, and Python's calls may not."""
    waiting = [steps]
    while waiting:
        inner = next(waiting[-1], None)
        if inner is None:
            waiting.pop()
        else:
            waiting.append(inner)


def _parse_number(node: LexborNode, name: str, default: int) -> int:
    """Read an attribute of a numbered list, as long as a number can be shown."""
    value = (node.attributes.get(name) or "").strip()
    return int(value) if re.fullmatch(r"-?[0-9]{1,8}", value) else default


def _find_heading_anchor(heading: LexborNode) -> str:
    """A heading's own id, else that of the section which it opens, where Sphinx puts it."""
    own = heading.attributes.get("id") or ""
    node = heading.parent
    while not own and node is not None:
        if node.tag == "section" or (node.tag == "div" and has_class(node, "section")):
            opens = node.css_first(_HEADINGS) == heading
            return (node.attributes.get("id") or "") if opens else ""
        node = node.parent
    return own
