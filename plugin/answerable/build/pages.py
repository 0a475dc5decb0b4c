"""Rendered HTML of a page's article to sections of text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from . import nodes
from .records import Block, Kind, Section

_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hr html label legend li main ol p section summary table tbody td "
    "tfoot th thead tr ul".split()
)
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADING = re.compile(r"h([1-6])")
_SPACE = re.compile(r"[ \t\r\n\f]+")

# A walk that yields the walks to take before it goes on.
_Steps: TypeAlias = Iterator["_Steps"]


@dataclass(frozen=True, slots=True)
class Page:
    """An article as read: its sections, every id in it and its abbreviations."""

    sections: tuple[Section, ...]
    anchors: frozenset[str]
    abbreviations: dict[str, str]


@dataclass(slots=True)
class _Line:
    """Inline text that is still being read, and where code stands in it."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    code: list[tuple[int, int]] = field(default_factory=list)
    code_start: int = 0

    def add(self, text: str) -> None:
        """Append text the way a browser shows it: white space collapsed."""
        folded = _SPACE.sub(" ", text)
        if folded.startswith(" ") and (not self.parts or self.parts[-1][-1] in " \n"):
            folded = folded[1:]
        self._append(folded)

    def _append(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    def break_off(self) -> None:
        """Begin a new line, unless nothing stands on the first one."""
        if self.parts:
            last = self.parts.pop()
            self.length -= len(last)
            self._append(last.removesuffix(" ") + "\n")

    def begin_code(self) -> None:
        self.code_start = self.length

    def end_code(self) -> None:
        self.code.append((self.code_start, self.length))

    def block(self, kind: Kind) -> Block | None:
        text = "".join(self.parts).rstrip()
        ends = ((start, min(end, len(text))) for start, end in self.code)
        spans = tuple((start, end) for start, end in ends if start < end)
        return Block(kind, text, spans) if text else None


@dataclass(slots=True)
class _Heading:
    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class _Reader:
    """The state of one walk over an article, or over a cell, in which a heading is mere text."""

    title: str
    in_cell: bool = False
    code: int = 0
    line: _Line = field(default_factory=_Line)
    kinds: list[Kind] = field(default_factory=lambda: ["prose"])
    headings: list[_Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    excluded: bool = False

    def walk(self, node: LexborNode) -> _Steps:
        for child in node.iter(include_text=True):
            heading = _HEADING.fullmatch(child.tag or "")
            if child.is_text_node:
                self.line.add(child.text_content or "")
            elif heading:
                self.heading(child, int(heading[1]))
            elif not nodes.is_skipped(child) and (inner := self.element(child)):
                yield inner

    def element(self, node: LexborNode) -> _Steps | None:
        """Read an element whose own reading is short; what is left to do for any other."""
        tag = node.tag or ""
        if tag == "pre" or (nodes.has_class(node, "highlight") and tag in ("div", "table")):
            self.code_block(node)
        elif tag == "tr":
            return self.row(node)
        elif tag == "br":
            self.line.break_off()
        elif tag in ("code", "kbd", "samp"):
            return self.inline_code(node)
        elif tag in _BLOCKS:
            return self.block(node, "item" if tag in ("li", "dd", "dt") else self.kinds[-1])
        else:
            return self.walk(node)
        return None

    def inline_code(self, node: LexborNode) -> _Steps:
        if not self.code:
            self.line.begin_code()
        self.code += 1
        yield self.walk(node)
        self.code -= 1
        if not self.code:
            self.line.end_code()

    def block(self, node: LexborNode, kind: Kind) -> _Steps:
        self.flush()
        self.kinds.append(kind)
        yield self.walk(node)
        self.flush()
        self.kinds.pop()

    def row(self, node: LexborNode) -> _Steps:
        """A table row as one line, its cells divided by dots."""
        self.flush()
        cells = []
        for cell in node.iter():
            if not nodes.is_skipped(cell):
                inner = _Reader(self.title, in_cell=True)
                yield inner.walk(cell)
                cells.append(" ".join(inner.all_text()).replace("\n", " "))
        text = " · ".join(cells)
        if text.strip(" ·"):
            self.blocks.append(Block("row", text))

    def all_text(self) -> Iterator[str]:
        """What was read, for a place that can have no sections."""
        self.end_section()
        for section in self.sections:
            yield from (block.text for block in section.blocks)

    def code_block(self, node: LexborNode) -> None:
        self.flush()
        filename = node.css_first("span.filename")
        if filename and (name := nodes.text(filename).strip()):
            self.blocks.append(Block("prose", name))
        # With line numbers there are two `pre`, and the numbers' is the first.
        source = node if node.tag == "pre" else node.css_first("td.code pre")
        source = source or node.css_first("pre")
        text = (nodes.text(source) if source else nodes.text(node)).strip("\n").rstrip()
        if text:
            self.blocks.append(Block("code", text))

    def heading(self, node: LexborNode, level: int) -> None:
        """Begin a section; a heading that is excluded takes its own text out, as in Material."""
        self.end_section()
        self.excluded = nodes.is_skipped(node)
        text = "" if self.excluded else _SPACE.sub(" ", nodes.text(node)).strip()
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        if self.in_cell:
            self.blocks += [Block("prose", text)] if text else []
            return
        self.headings.append(_Heading(level, text, _anchor(node)))

    def flush(self) -> None:
        if self.code:
            self.line.end_code()
        block = self.line.block(self.kinds[-1])
        if block:
            self.blocks.append(block)
        self.line = _Line()

    def end_section(self) -> None:
        self.flush()
        if self.blocks and not self.excluded:
            path = tuple(h.text for h in self.headings if h.text and h.text != self.title)
            anchor = next((h.anchor for h in reversed(self.headings) if h.anchor), "")
            self.sections.append(Section(path, anchor, tuple(self.blocks)))
        self.blocks = []


def read(html: str, title: str) -> Page:
    """Read the HTML of an article. title: the page's own, left out of heading paths."""
    body = LexborHTMLParser(html).body
    if body is None:
        return Page((), frozenset(), {})
    reader = _Reader(_SPACE.sub(" ", title).strip())
    _run(reader.walk(body))
    reader.end_section()
    abbreviations = {
        nodes.text(node).strip(): (node.attributes.get("title") or "").strip()
        for node in body.css("abbr[title]")
    }
    return Page(
        tuple(reader.sections),
        nodes.anchors(body),
        {short: long for short, long in abbreviations.items() if short and long},
    )


def _run(steps: _Steps) -> None:
    """Take a walk to its end. A page nests as deep as it likes, and Python's calls may not."""
    waiting = [steps]
    while waiting:
        inner = next(waiting[-1], None)
        if inner is None:
            waiting.pop()
        else:
            waiting.append(inner)


def _anchor(heading: LexborNode) -> str:
    """A heading's own id, else that of the section which it opens, where Sphinx puts it."""
    own = heading.attributes.get("id") or ""
    node = heading.parent
    while not own and node is not None:
        if node.tag == "section" or (node.tag == "div" and nodes.has_class(node, "section")):
            opens = node.css_first(_HEADINGS) == heading
            return (node.attributes.get("id") or "") if opens else ""
        node = node.parent
    return own
