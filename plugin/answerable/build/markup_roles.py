"""What elements are to a reader: labels, tabs, admonitions, code and its language."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from ..serve.structure import DIAGRAM, RECORDING, is_language
from . import nodes

_ADMONITIONS = frozenset(("admonition", "theme-admonition", "markdown-alert"))
_TITLES = frozenset(("admonition-title", "markdown-alert-title"))
# Docusaurus adds letters of a hash to its names.
_HASHED_TITLE = "admonitionHeading_"
_FILES = frozenset(("code-block-caption",))
_HASHED_FILE = "codeBlockTitle_"
_RECORDINGS = frozenset(("termynal", "asciinema", "asciinema-player"))
_MAY_BE_CODE = frozenset("div pre table figure asciinema-player".split())
_PANELS = frozenset(("tabbed-content", "sd-tab-content"))
_LANGUAGE = re.compile(r"(?:language|highlight|lang)-(\S+)")
# What highlighters call code of no language.
_NO_LANGUAGE = frozenset("text none plain plaintext default txt output table".split())


def classes(node: LexborNode) -> list[str]:
    """List the classes of an element."""
    return (node.attributes.get("class") or "").split()


def is_admonition(node: LexborNode) -> bool:
    """Test for a box with a title: an admonition, or details that can be closed."""
    return node.tag == "details" or not _ADMONITIONS.isdisjoint(classes(node))


def label_kind(node: LexborNode) -> str:
    """Return which kind of label an element is, "" for none."""
    if node.tag in ("dt", "summary", "caption"):
        return {"dt": "term", "summary": "title", "caption": "caption"}[node.tag]
    names = classes(node)
    if not _TITLES.isdisjoint(names) or any(n.startswith(_HASHED_TITLE) for n in names):
        return "title"
    if not _FILES.isdisjoint(names) or any(n.startswith(_HASHED_FILE) for n in names):
        return "file"
    return ""


def is_code(node: LexborNode) -> bool:
    """Test for a block of code, a diagram that is written as code, or a terminal recording."""
    if node.tag not in _MAY_BE_CODE:
        return False
    if node.tag == "pre" or special_language(node):
        return True
    return node.tag in ("div", "table") and nodes.has_class(node, "highlight")


def special_language(node: LexborNode) -> str:
    """Return the language of a diagram or a recording, "" for anything else."""
    names = classes(node)
    if DIAGRAM in names:
        return DIAGRAM
    if "data-termynal" in node.attributes or not _RECORDINGS.isdisjoint((*names, node.tag or "")):
        return RECORDING
    return ""


def code_text(node: LexborNode) -> str:
    """Return the lines of a block of code without their numbers."""
    if special_language(node) == RECORDING and node.css_first("[data-ty]"):
        return "\n".join(nodes.text(line).strip() for line in node.css("[data-ty]"))
    # With line numbers there are two `pre`, and the numbers' is the first.
    source = node if node.tag == "pre" else node.css_first("td.code pre")
    return nodes.text(source or node.css_first("pre") or node)


def language(node: LexborNode) -> str:
    """Return the language of a block of code as its highlighter names it, "" if unknown."""
    if special := special_language(node):
        return special
    inner = (node.css_first("code"), node.css_first("pre"))
    for each in (*filter(None, inner), node, *_parents(node, 2)):
        for name in classes(each):
            match = _LANGUAGE.fullmatch(name)
            if match and is_language(match[1]):
                return "" if match[1].lower() in _NO_LANGUAGE else match[1]
    return ""


def _parents(node: LexborNode, count: int) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None and count and parent.tag in ("div", "pre", "td", "figure"):
        yield parent
        parent, count = parent.parent, count - 1


def tabs(node: LexborNode) -> list[tuple[LexborNode | None, LexborNode]]:
    """List the (label, content) of a set of tabs, empty for any other element.

    Both styles of pymdownx.tabbed, Sphinx-design, and whatever has the roles of ARIA, as
    Docusaurus and sphinx-tabs do.
    """
    names = classes(node)
    if "tabbed-set" in names or "sd-tab-set" in names:
        return _labelled_panels(node)
    lists = [child for child in node.iter() if child.attributes.get("role") == "tablist"]
    if not lists:
        return []
    labels = lists[0].css("[role=tab]")
    panels = [p for p in node.css("[role=tabpanel]") if not _is_nested(p, node)]
    return [(labels[n] if n < len(labels) else None, panel) for n, panel in enumerate(panels)]


def _labelled_panels(node: LexborNode) -> list[tuple[LexborNode | None, LexborNode]]:
    """Pair labels and contents that take turns, or lists of both."""
    labels: list[LexborNode] = []
    panels: list[LexborNode] = []
    for child in node.iter():
        names = classes(child)
        if child.tag == "label":
            labels.append(child)
        elif "tabbed-labels" in names:
            labels += [label for label in child.iter() if label.tag == "label"]
        elif not _PANELS.isdisjoint(names):
            blocks = [block for block in child.iter() if nodes.has_class(block, "tabbed-block")]
            panels += blocks or [child]
    return [(labels[n] if n < len(labels) else None, panel) for n, panel in enumerate(panels)]


def _is_nested(panel: LexborNode, tab_set: LexborNode) -> bool:
    """Test whether a panel stands in another panel of the same set."""
    parent = panel.parent
    while parent is not None and parent.mem_id != tab_set.mem_id:
        if parent.attributes.get("role") == "tabpanel":
            return True
        parent = parent.parent
    return False
