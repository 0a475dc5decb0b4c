"""What the elements of a page are to a reader: skipped, a label, code, tabs, an icon."""

import re
from collections.abc import Iterator
from itertools import zip_longest

from selectolax.lexbor import LexborNode

from ...engine.text.markdown import DIAGRAM_LANGUAGE, RECORDING_LANGUAGE

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
_LANGUAGE = re.compile(r"(?:language|highlight|lang)-([^\W_][\w+#./-]{0,31})")
_ICON_NAMES = ("emoji", "icon")
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
    """True if a node holds nothing an author wrote, or is kept out of the search."""
    return (
        node.tag in _SKIPPED_TAGS
        or not node.is_element_node
        or is_excluded(node)
        or "hidden" in node.attributes
        or not _SKIPPED_CLASSES.isdisjoint(list_classes(node))
    )


def is_excluded(node: LexborNode) -> bool:
    """True if an author keeps an element out of the search."""
    return any(name in node.attributes for name in _EXCLUDING_ATTRIBUTES)


def list_classes(node: LexborNode) -> list[str]:
    """List the classes of an element."""
    return (node.attributes.get("class") or "").split()


def is_admonition(node: LexborNode) -> bool:
    """Test for a box with a title: an admonition, or details that can be closed."""
    return node.tag == "details" or not _ADMONITION_CLASSES.isdisjoint(list_classes(node))


def classify_label(node: LexborNode) -> str:
    """Return which kind of label an element is (term, title, file), "" for none."""
    if node.tag in ("dt", "summary"):
        return "term" if node.tag == "dt" else "title"
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
    *_, source = (node, *node.css("pre"))
    return extract_text(source)


def find_code_language(node: LexborNode) -> str:
    """Return the language of a block of code as its highlighter names it, "" if unknown."""
    if special := find_special_language(node):
        return special
    inner = (*node.css("code")[-1:], *node.css("pre")[-1:])
    for element in (*inner, node, *_iterate_parents(node, 2)):
        for name in list_classes(element):
            match = _LANGUAGE.fullmatch(name)
            if match:
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
    """True if a panel stands in another panel of the same set."""
    parent = panel.parent
    while parent is not None and parent.mem_id != tab_set.mem_id:
        if parent.attributes.get("role") == "tabpanel":
            return True
        parent = parent.parent
    return False


def find_icon_label(node: LexborNode) -> str:
    """Return the label of an icon or an emoji that is drawn as a picture, "" for anything else."""
    attributes = node.attributes
    if node.tag not in ("img", "svg", "i", "span") or (node.tag != "img" and node.text().strip()):
        return ""
    classes = " ".join([*list_classes(node), *(list_classes(node.parent) if node.parent else ())])
    if not any(name in classes for name in _ICON_NAMES):
        return ""
    labels = (attributes.get(name) or "" for name in ("aria-label", "title", "alt"))
    return next((label.strip(": ") for label in labels if label.strip(": ")), "")
