"""Parse an article's HTML into sections of text blocks, its anchors and its abbreviations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...serve.structure import DIAGRAM_LANGUAGE, Span
from .html_elements import (
    classify_label,
    extract_code,
    extract_text,
    find_code_language,
    find_object,
    is_admonition,
    is_code,
    is_excluded,
    is_skipped,
    list_anchors,
    list_classes,
    list_tabs,
)
from .inline_text import collapse_space, resolve_link, shift_spans, span_sort_key
from .records import Section
from .section_builder import BlockContext, SectionBuilder

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
    parser = _ArticleParser(SectionBuilder(collapse_space(title).strip()), url)
    _run_walk(parser.walk(body))
    parser.builder.end_section()
    abbreviations = {
        extract_text(node).strip(): (node.attributes.get("title") or "").strip()
        for node in body.css("abbr[title]")
    }
    return ParsedArticle(
        tuple(parser.builder.sections),
        list_anchors(body),
        {short: long for short, long in abbreviations.items() if short and long},
    )


def _run_walk(walk: _Walk) -> None:
    """Take a walk to its end without recursion: a page may nest deeper than Python's calls."""
    stack = [walk]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            stack.append(inner)


@dataclass(slots=True)
class _ArticleParser:
    """Walk an article, or a table cell, and pass what it reads to a section builder."""

    builder: SectionBuilder
    url: str

    def walk(self, node: LexborNode) -> _Walk:
        for child in node.iter(include_text=True):
            heading = _HEADING.fullmatch(child.tag or "")
            if child.is_text_node:
                self.builder.line.add(child.text_content or "")
            elif heading:
                anchor = _find_heading_anchor(child)
                self.builder.start_section(
                    int(heading[1]), extract_text(child), anchor, is_excluded=is_skipped(child)
                )
            elif not is_skipped(child) and (inner := self.read_element(child)):
                yield inner

    def read_element(self, node: LexborNode) -> _Walk | None:
        """Read an element that holds no blocks; return the walk to take for any other."""
        tag = node.tag or ""
        if is_code(node):
            self.read_code(node)
        elif tag == "tr":
            return self.walk_row(node)
        elif tag == "br":
            self.builder.line.break_line()
        elif tag in ("code", "kbd", "samp"):
            return self.walk_span(node, "")
        elif tag == "a" and (url := self.resolve_href(node)):
            return self.walk_span(node, url)
        elif tag in _BLOCK_TAGS:
            return self.walk_block(node, tag)
        else:
            return self.walk(node)
        return None

    def resolve_href(self, node: LexborNode) -> str:
        href = node.attributes.get("href")
        return resolve_link(href, self.url) if href else ""

    def walk_span(self, node: LexborNode, url: str) -> _Walk:
        """Read inline code, or a link if there is a url."""
        self.builder.line.begin_span("link" if url else "code", url)
        yield self.walk(node)
        self.builder.line.end_span()

    def walk_block(self, node: LexborNode, tag: str) -> _Walk:
        """Read a block element in the context that its tag or its role gives it."""
        builder = self.builder
        builder.flush()
        if label := classify_label(node):
            return self.walk_within(node, builder.label_context(label))
        if not builder.is_cell and (described := find_object(node)):
            return self.walk_object(node, *described)
        if tag in ("ul", "ol", "dl", "table"):
            first = _parse_number(node, "start") if tag == "ol" else None
            if tag == "ol" and first is None:
                first = 1
            context = builder.list_context(can_nest=tag in ("ul", "ol"), first_number=first)
            return self.walk_within(node, context)
        if tag == "li":
            return self.walk_within(node, builder.item_context(_parse_number(node, "value")))
        if tag == "dd" or is_admonition(node):
            return self.walk_within(node, builder.box_context(is_definition=tag == "dd"))
        tabs = list_tabs(node) if tag == "div" else []
        return self.walk_tabs(tabs) if tabs else self.walk_within(node, None)

    def walk_within(self, node: LexborNode, context: BlockContext | None) -> _Walk:
        """Read an element in a context of its own, or in the current one."""
        if context:
            self.builder.contexts.append(context)
        yield self.walk(node)
        self.builder.flush()
        if context:
            self.builder.contexts.pop()

    def walk_object(self, node: LexborNode, name: str, anchor: str) -> _Walk:
        """Read the description of an object as a section of its own, under the current heading."""
        outer = self.builder.begin_object(name, anchor)
        yield self.walk_within(node, self.builder.list_context(can_nest=False, first_number=None))
        self.builder.end_object(outer)

    def walk_tabs(self, tabs: list[tuple[LexborNode | None, LexborNode]]) -> _Walk:
        """Read each tab as its label and then its content, which only a script may have hidden."""
        label_context, panel_context = self.builder.tab_contexts()
        for label, panel in tabs:
            if not is_excluded(panel):
                if label is not None:
                    yield self.walk_within(label, replace(label_context))
                yield self.walk_within(panel, replace(panel_context))

    def walk_row(self, node: LexborNode) -> _Walk:
        """Read a table row as one line, its cells divided by dots."""
        self.builder.flush()
        cells: list[LexborNode] = []
        text = ""
        spans: list[Span] = []
        for cell in node.iter():
            if not is_skipped(cell):
                inner = _ArticleParser(SectionBuilder(self.builder.title, is_cell=True), self.url)
                yield inner.walk(cell)
                text += " · " if cells else ""
                start = len(text)
                cell_text, cell_spans = inner.builder.join_blocks()
                text += cell_text
                spans += [*shift_spans(cell_spans, start), Span("cell", start, len(text))]
                cells.append(cell)
        if text.strip(" ·"):
            context = self.builder.enter()
            is_header = not context.has_rows and all(cell.tag == "th" for cell in cells)
            context.has_rows = True
            ordered = tuple(sorted(spans, key=span_sort_key))
            self.builder.add_block("row", text, ordered, "header" if is_header else "")

    def read_code(self, node: LexborNode) -> None:
        """Read a block of code, and its file's name as a label."""
        self.builder.flush()
        self.builder.enter()
        filename = node.css_first("span.filename")
        if filename and (name := extract_text(filename).strip()):
            self.builder.add_block("label", collapse_space(name), detail="file")
        if text := extract_code(node).strip("\n").rstrip():
            language = find_code_language(node)
            if not language and _DIAGRAM.match(text):
                language = DIAGRAM_LANGUAGE
            self.builder.add_block("code", text, detail=language)


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
