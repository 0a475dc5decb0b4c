"""HTML of a page as a tree of the elements that matter to a reader."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...serve.structure import DIAGRAM_LANGUAGE, RECORDING_LANGUAGE, Span, is_code_language
from .records import (
    BlockContext,
    Section,
    SectionBuilder,
    collapse_space,
    resolve_link,
    shift_spans,
    span_sort_key,
)

_SKIPPED_TAGS = frozenset(
    "script style noscript template svg math head title button input select textarea iframe "
    "object audio video canvas nav".split()
)
_SKIPPED_CLASSES = frozenset(
    "headerlink linenos linenodiv lineno footnote-ref footnote-backref md-tags md-clipboard "
    "md-code__nav".split()
)
_EXCLUDING_ATTRIBUTES = ("data-search-exclude", "data-answerable-exclude")
_ADMONITION_CLASSES = frozenset(("admonition", "theme-admonition", "markdown-alert"))
_TITLE_CLASSES = frozenset(("admonition-title", "markdown-alert-title"))
_FILE_CLASSES = frozenset(("code-block-caption",))
# Docusaurus adds letters of a hash to its names.
_HASHED_TITLE_PREFIX = "admonitionHeading_"
_RECORDING_NAMES = frozenset(("termynal", "asciinema", "asciinema-player"))
_CODE_TAGS = frozenset("div pre table figure asciinema-player".split())
_PANEL_CLASSES = frozenset(("tabbed-content", "sd-tab-content"))
_LANGUAGE = re.compile(r"(?:language|highlight|lang)-(\S+)")
# What highlighters call code of no language.
_NO_LANGUAGE = frozenset("text none plain plaintext default txt output table".split())


def list_anchors(node: LexborNode) -> frozenset[str]:
    """List every id or anchor name in a node that a link can point to."""
    ids = {element.attributes.get("id") or "" for element in node.css("[id]")}
    names = {element.attributes.get("name") or "" for element in node.css("a[name]")}
    return frozenset(ids | names) - {""}


def extract_text(node: LexborNode) -> str:
    """Return all text of a node but what is skipped, with its white space."""
    return "".join(_iterate_text(node))


def _iterate_text(node: LexborNode) -> Iterator[str]:
    stack = [node.iter(include_text=True)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.is_text_node:
            yield child.text_content or ""
        elif child.tag == "br":
            yield "\n"
        elif not is_skipped(child):
            stack.append(child.iter(include_text=True))


def is_skipped(node: LexborNode) -> bool:
    """Test whether a node holds nothing an author wrote, or is kept out of the search."""
    return (
        node.tag in _SKIPPED_TAGS
        or not node.is_element_node
        or is_excluded(node)
        or "hidden" in node.attributes
        or not _SKIPPED_CLASSES.isdisjoint(list_classes(node))
    )


def is_excluded(node: LexborNode) -> bool:
    """Test whether an author keeps an element out of the search."""
    return any(name in node.attributes for name in _EXCLUDING_ATTRIBUTES)


def list_classes(node: LexborNode) -> list[str]:
    """List the classes of an element."""
    return (node.attributes.get("class") or "").split()


def is_admonition(node: LexborNode) -> bool:
    """Test for a box with a title: an admonition, or details that can be closed."""
    return node.tag == "details" or not _ADMONITION_CLASSES.isdisjoint(list_classes(node))


def classify_label(node: LexborNode) -> str:
    """Return which kind of label an element is (term, title, caption, file), "" for none."""
    if node.tag in ("dt", "summary", "caption"):
        return {"dt": "term", "summary": "title", "caption": "caption"}[node.tag]
    classes = list_classes(node)
    for label, names, prefix in (
        ("title", _TITLE_CLASSES, _HASHED_TITLE_PREFIX),
        ("file", _FILE_CLASSES, "codeBlockTitle_"),
    ):
        if any(name in names or name.startswith(prefix) for name in classes):
            return label
    return ""


def find_object(node: LexborNode) -> tuple[str, str] | None:
    """Find the name and the anchor of the object that Sphinx describes in a `dl`; None in another.

    An object that is described twice has its anchor at one of the two descriptions.
    """
    signature = node.css_first("dt") if node.tag == "dl" else None
    if signature is None or "sig-object" not in list_classes(signature):
        return None
    anchor = signature.attributes.get("id") or ""
    label = signature.css_first(".descname")
    name = "".join(label.text().split()) if label else ""
    if not anchor or not name:
        return None
    # Python's anchors are whole names: the signature of a method leaves its class out.
    return (anchor if anchor.endswith(f".{name}") else name), anchor


def is_code(node: LexborNode) -> bool:
    """Test for a block of code, a diagram that is written as code, or a terminal recording."""
    if node.tag not in _CODE_TAGS:
        return False
    if node.tag == "pre" or find_special_language(node):
        return True
    return node.tag in ("div", "table") and "highlight" in list_classes(node)


def find_special_language(node: LexborNode) -> str:
    """Return the language of a diagram or a recording, "" for anything else."""
    classes = list_classes(node)
    if DIAGRAM_LANGUAGE in classes:
        return DIAGRAM_LANGUAGE
    names = (*classes, node.tag or "")
    if "data-termynal" in node.attributes or not _RECORDING_NAMES.isdisjoint(names):
        return RECORDING_LANGUAGE
    return ""


def extract_code(node: LexborNode) -> str:
    """Return the lines of a block of code without their numbers."""
    if find_special_language(node) == RECORDING_LANGUAGE and node.css_first("[data-ty]"):
        return "\n".join(extract_text(line).strip() for line in node.css("[data-ty]"))
    # With line numbers there are two `pre`, and the numbers' is the first.
    source = node if node.tag == "pre" else node.css_first("td.code pre")
    return extract_text(source or node.css_first("pre") or node)


def find_code_language(node: LexborNode) -> str:
    """Return the language of a block of code as its highlighter names it, "" if unknown."""
    if special := find_special_language(node):
        return special
    inner = (node.css_first("code"), node.css_first("pre"))
    for element in (*filter(None, inner), node, *_iterate_parents(node, 2)):
        for name in list_classes(element):
            match = _LANGUAGE.fullmatch(name)
            if match and is_code_language(match[1]):
                return "" if match[1].lower() in _NO_LANGUAGE else match[1]
    return ""


def _iterate_parents(node: LexborNode, count: int) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None and count and parent.tag in ("div", "pre", "td", "figure"):
        yield parent
        parent, count = parent.parent, count - 1


def list_tabs(node: LexborNode) -> list[tuple[LexborNode | None, LexborNode]]:
    """List the (label, content) pairs of a set of tabs, empty for any other element.

    Reads both styles of pymdownx.tabbed, Sphinx-design, and whatever has the roles of ARIA, as
    Docusaurus and sphinx-tabs do.
    """
    if not {"tabbed-set", "sd-tab-set"}.isdisjoint(list_classes(node)):
        labels, panels = _collect_labels_and_panels(node)
    else:
        lists = [child for child in node.iter() if child.attributes.get("role") == "tablist"]
        if not lists:
            return []
        labels = lists[0].css("[role=tab]")
        panels = [panel for panel in node.css("[role=tabpanel]") if not _is_nested(panel, node)]
    return list(zip_longest(labels[: len(panels)], panels))


def _collect_labels_and_panels(node: LexborNode) -> tuple[list[LexborNode], list[LexborNode]]:
    """List the labels and the contents of tabs: the two alternate, or each has a list."""
    labels: list[LexborNode] = []
    panels: list[LexborNode] = []
    for child in node.iter():
        classes = list_classes(child)
        if child.tag == "label":
            labels.append(child)
        elif "tabbed-labels" in classes:
            labels += [label for label in child.iter() if label.tag == "label"]
        elif not _PANEL_CLASSES.isdisjoint(classes):
            blocks = [block for block in child.iter() if "tabbed-block" in list_classes(block)]
            panels += blocks or [child]
    return labels, panels


def _is_nested(panel: LexborNode, tab_set: LexborNode) -> bool:
    """Test whether a panel stands in another panel of the same set."""
    parent = panel.parent
    while parent is not None and parent.mem_id != tab_set.mem_id:
        if parent.attributes.get("role") == "tabpanel":
            return True
        parent = parent.parent
    return False


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
