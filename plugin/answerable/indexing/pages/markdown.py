"""The rendered HTML of a page, read as sections of Markdown blocks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...engine.text.markdown import (
    CELL_SEPARATOR,
    DIAGRAM_LANGUAGE,
    MAX_LEVEL,
    Block,
    BlockKind,
    Span,
    shift_spans,
    sort_spans,
    strip_range,
)
from ...engine.text.tokenization import sanitize_text
from ...engine.text.urls import is_safe_url
from .elements import (
    classify_label,
    extract_code,
    extract_text,
    find_code_language,
    find_icon_label,
    find_object,
    is_admonition,
    is_code,
    is_excluded,
    is_skipped,
    list_anchors,
    list_classes,
    list_tabs,
)
from .records import Section

_BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hr html label legend li main ol p section summary table tbody td "
    "caption tfoot th thead tr ul".split()
)
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADING = re.compile(r"h([1-6])")
# Below that of any heading.
_OBJECT_LEVEL = 7
# How a diagram begins where no class names its language.
_DIAGRAM = re.compile(
    r"(?:graph|flowchart)\s+(?:TB|TD|BT|RL|LR)\b|(?:sequence|class|state|er)Diagram\b|gitGraph\b"
)
_ORIGIN = "https://site.invalid"
_SPACE = re.compile(r"[ \t\r\n\f]+")
# No page that a person reads has more elements within each other, and Python could not read it.
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class ParsedArticle:
    """An article's sections, every id in it and its abbreviations, short form to long one."""

    sections: tuple[Section, ...]
    anchors: frozenset[str]
    abbreviations: dict[str, str]


def parse_article(html: str, title: str, url: str = "") -> ParsedArticle:
    """Parse the HTML of an article.

    title: the page's own, left out of heading paths. url: the page's, which links are relative to;
    without it only links that need no page are kept.
    """
    body = LexborHTMLParser(html).body
    if body is None:
        return ParsedArticle((), frozenset(), {})
    reader = _ArticleReader(collapse_space(title).strip(), url)
    reader.read_children(body)
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


def collapse_space(text: str) -> str:
    """Collapse white space as HTML does, and leave out control characters."""
    return _SPACE.sub(" ", sanitize_text(text))


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
    return re.sub(r"[()<>`]", lambda sign: quote(sign[0]), url) if is_safe_url(url) else ""


class _Piece(NamedTuple):
    """A piece of inline text; "\n" alone is a line break."""

    text: str
    is_code: bool = False
    url: str = ""


_PLAIN = _Piece("")


@dataclass(slots=True)
class _Context:
    """The kind, level and detail of the next block.

    ``next_number``: of the next item of an ordered list, None anywhere else.
    """

    kind: BlockKind = "text"
    level: int = 0
    detail: str = ""
    next_number: int | None = None
    has_rows: bool = False
    is_box: bool = False

    def leave_first_block(self) -> None:
        """Make what follows the first block of an item text inside the item."""
        if self.kind == "item":
            self.kind, self.detail, self.level = "text", "", self.level + 1


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class _ArticleReader:
    """Reads an article, or a table cell, in which a heading is mere text, into sections."""

    title: str
    url: str
    is_cell: bool = False
    depth: int = 0
    pieces: list[_Piece] = field(default_factory=list)
    style: _Piece = _PLAIN
    contexts: list[_Context] = field(default_factory=lambda: [_Context()])
    headings: list[_Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    is_excluded: bool = False

    def read_children(self, node: LexborNode) -> None:
        """Read the children of an element; of those that nest too deep, the mere text."""
        self.depth += 1
        for child in node.iter(include_text=True):
            heading = _HEADING.fullmatch(child.tag or "")
            if child.is_text_node:
                self.add_text(child.text_content or "")
            elif heading:
                self.start_section(child, int(heading[1]))
            elif label := find_icon_label(child):
                self.add_text(label)
            elif is_skipped(child):
                continue
            elif self.depth > _MAX_DEPTH:
                self.add_text(extract_text(child))
            else:
                self.read_element(child)
        self.depth -= 1

    def read_element(self, node: LexborNode) -> None:
        """Read an element as what its tag says."""
        tag = node.tag or ""
        if is_code(node):
            self.read_code(node)
        elif tag == "tr":
            self.read_row(node)
        elif tag == "br":
            self.pieces.append(_Piece("\n"))
        elif tag in ("code", "kbd", "samp"):
            self.read_inline(node, self.style._replace(is_code=True))
        elif tag == "a" and (url := resolve_link(node.attributes.get("href") or "", self.url)):
            self.read_inline(node, self.style._replace(url=self.style.url or url))
        elif tag in _BLOCK_TAGS:
            self.read_block(node, tag)
        else:
            self.read_children(node)

    def add_text(self, text: str) -> None:
        self.pieces.append(self.style._replace(text=collapse_space(text)))

    def read_inline(self, node: LexborNode, style: _Piece) -> None:
        """Read inline code or a link."""
        outer, self.style = self.style, style
        self.read_children(node)
        self.style = outer

    def read_block(self, node: LexborNode, tag: str) -> None:
        """Read a block element in the context that its tag or its role gives it."""
        self.flush()
        if label := classify_label(node):
            outer = self.enter()
            # The title of a box stands in it and is as deep as the box.
            depth = 1 if label == "title" and outer.is_box else 0
            self.read_within(node, _Context("label", outer.level - depth, label))
        elif not self.is_cell and (described := find_object(node)):
            self.read_object(node, *described)
        elif tag in ("ul", "ol", "dl", "table"):
            first = _parse_number(node, "start") if tag == "ol" else None
            number = 1 if tag == "ol" and first is None else first
            self.read_within(node, _Context("text", self.enter().level, "", number))
        elif tag == "li":
            self.read_within(node, self.make_item(_parse_number(node, "value")))
        elif tag == "dd" or is_admonition(node):
            level = self.enter().level + 1
            self.read_within(node, _Context(level=level, is_box=tag != "dd"))
        elif tag == "div" and (tabs := list_tabs(node)):
            self.read_tabs(tabs)
        else:
            self.read_within(node, None)

    def enter(self) -> _Context:
        """Return the context in which a nested block begins."""
        context = self.contexts[-1]
        context.leave_first_block()
        return context

    def make_item(self, number: int | None) -> _Context:
        """Make the context of a list item. number: its own in an ordered list, if it has one."""
        outer = self.enter()
        if outer.next_number is None:
            return _Context("item", outer.level)
        number = outer.next_number if number is None else number
        outer.next_number = number + 1
        return _Context("item", outer.level, str(number))

    def read_within(self, node: LexborNode, context: _Context | None) -> None:
        """Read an element in a context of its own, or in the current one."""
        if context:
            self.contexts.append(context)
        self.read_children(node)
        self.flush()
        if context:
            self.contexts.pop()

    def read_object(self, node: LexborNode, name: str, anchor: str) -> None:
        """Read the description of an object as a section of its own, under the current heading."""
        self.end_section()
        outer = self.headings
        level = max(_OBJECT_LEVEL, outer[-1].level + 1 if outer else 0)
        self.headings = [*outer, _Heading(level, name, anchor)]
        self.read_within(node, _Context())
        self.end_section()
        self.headings = outer

    def read_tabs(self, tabs: list[tuple[LexborNode | None, LexborNode]]) -> None:
        """Read each tab as its label and then its content, which only a script may have hidden."""
        level = self.enter().level
        for label, panel in tabs:
            if not is_excluded(panel):
                if label is not None:
                    self.read_within(label, _Context("label", level, "tab"))
                self.read_within(panel, _Context(level=level + 1))

    def read_row(self, node: LexborNode) -> None:
        """Read a table row as one line, its cells divided by dots."""
        self.flush()
        cells: list[LexborNode] = []
        text, spans = "", list[Span]()
        for cell in node.iter():
            if not is_skipped(cell):
                inner = _ArticleReader(self.title, self.url, is_cell=True, depth=self.depth)
                inner.read_children(cell)
                cell_text, cell_spans = inner.join_blocks()
                text += CELL_SEPARATOR if cells else ""
                spans += shift_spans(cell_spans, len(text))
                spans.append(Span("cell", len(text), len(text) + len(cell_text)))
                text += cell_text
                cells.append(cell)
        if text.strip(CELL_SEPARATOR):
            context = self.enter()
            is_header = not context.has_rows and all(cell.tag == "th" for cell in cells)
            context.has_rows = True
            self.add_block("row", text, "header" if is_header else "", sort_spans(spans))

    def join_blocks(self) -> tuple[str, tuple[Span, ...]]:
        """End a table cell: return its text on one line, and its spans."""
        self.end_section()
        text, spans = "", list[Span]()
        for block in (block for section in self.sections for block in section.blocks):
            text += " " if text else ""
            # A table within the cell has cells of its own, which do not belong to the outer row.
            inner = [span for span in block.spans if span.kind != "cell"]
            if block.kind == "code":
                inner = _trim_spans([Span("code", 0, len(block.text))], block.text)
            spans += shift_spans(inner, len(text))
            text += block.text.replace("\n", " ")
        start = len(text) - len(text.lstrip(" "))
        return text[start:], tuple(shift_spans(spans, -start))

    def read_code(self, node: LexborNode) -> None:
        """Read a block of code, and its file's name as a label."""
        self.flush()
        self.enter()
        filename = node.css_first("span.filename")
        if filename and (name := collapse_space(extract_text(filename)).strip()):
            self.add_block("label", name, "file")
        if text := sanitize_text(extract_code(node)).strip("\n").rstrip():
            language = find_code_language(node)
            if not language and _DIAGRAM.match(text):
                language = DIAGRAM_LANGUAGE
            self.add_block("code", text, language)

    def flush(self) -> None:
        """Add the inline text read so far as a block."""
        if self.pieces:
            pieces, self.pieces = self.pieces, []
            text, spans = _join_pieces(pieces)
            context = self.contexts[-1]
            if text:
                if context.detail in ("tab", "title", "file"):
                    text = text.replace("\n", " ")
                self.add_block(context.kind, text, context.detail, spans)
                context.leave_first_block()

    def add_block(
        self, kind: BlockKind, text: str, detail: str = "", spans: tuple[Span, ...] = ()
    ) -> None:
        """Add a block in the current context."""
        level = min(self.contexts[-1].level, MAX_LEVEL)
        self.blocks.append(Block(kind, text, level, detail, spans))

    def start_section(self, node: LexborNode, level: int) -> None:
        """Begin a section under a heading; an excluded one takes its text out, as in Material."""
        self.end_section()
        self.is_excluded = is_skipped(node)
        text = "" if self.is_excluded else collapse_space(extract_text(node)).strip()
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        if not self.is_cell:
            self.headings.append(_Heading(level, text, _find_heading_anchor(node)))
        elif text:
            self.blocks.append(Block("text", text))

    def end_section(self) -> None:
        """Keep the blocks read since the last heading as a section, if there are any."""
        self.flush()
        if self.blocks and not self.is_excluded:
            path = tuple(h.text for h in self.headings if h.text and h.text != self.title)
            anchor = next((h.anchor for h in reversed(self.headings) if h.anchor), "")
            self.sections.append(Section(path, anchor, tuple(_settle_files(self.blocks))))
        self.blocks = []


def _settle_files(blocks: Iterable[Block]) -> Iterator[Block]:
    """Make a paragraph of a file's name that stands before no code, plain text of any other."""
    file: Block | None = None
    for block in blocks:
        if file:
            is_titled = (block.kind, block.level) == ("code", file.level)
            yield file._replace(spans=()) if is_titled else file._replace(kind="text", detail="")
        file = block if (block.kind, block.detail) == ("label", "file") else None
        if not file:
            yield block
    if file:
        yield file._replace(kind="text", detail="")


def _join_pieces(pieces: Iterable[_Piece]) -> tuple[str, tuple[Span, ...]]:
    """Join pieces of inline text; return it and its code and links, which end with their lines."""
    text = ""
    codes: list[Span] = []
    links: list[Span] = []
    is_new_line = False
    for words, in_code, url in pieces:
        if words == "\n":
            text = text.removesuffix(" ") + "\n" if text else ""
            is_new_line = True
            continue
        if words.startswith(" ") and (not text or text[-1] in " \n"):
            words = words[1:]
        start, end = len(text), len(text) + len(words)
        text += words
        for kind, spans, is_open in (("code", codes, in_code), ("link", links, bool(url))):
            if not (is_open and words):
                continue
            last = spans[-1] if spans and not is_new_line else None
            address = url if kind == "link" else ""
            if last and last.end == start and last.url == address:
                spans[-1] = last._replace(end=end)
            else:
                spans.append(Span("code" if kind == "code" else "link", start, end, address))
        is_new_line = is_new_line and not words
    text = text.rstrip()
    return text, sort_spans(_trim_spans([*codes, *links], text))


def _trim_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Trim white space off the ends of spans, and drop empty ones."""
    trimmed: list[Span] = []
    for span in spans:
        start, end = strip_range(text, span.start, min(span.end, len(text)))
        if start < end:
            trimmed.append(span._replace(start=start, end=end))
    return trimmed


def _parse_number(node: LexborNode, name: str) -> int | None:
    """Read an attribute of a numbered list, as long as a number can be shown."""
    value = (node.attributes.get(name) or "").strip()
    return int(value) if re.fullmatch(r"-?[0-9]{1,8}", value) else None


def _find_heading_anchor(heading: LexborNode) -> str:
    """Return a heading's own id, else that of the section which it opens, where Sphinx puts it."""
    own = heading.attributes.get("id") or ""
    node = heading.parent
    while not own and node is not None:
        if node.tag == "section" or (node.tag == "div" and "section" in list_classes(node)):
            opens = node.css_first(_HEADINGS) == heading
            return (node.attributes.get("id") or "") if opens else ""
        node = node.parent
    return own
