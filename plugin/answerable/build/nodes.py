"""What nodes of an article say: their text, their classes, and the anchors in them."""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

_SKIPPED = frozenset(
    "script style noscript template svg math head title button input select textarea iframe "
    "object audio video canvas nav".split()
)
_SKIPPED_CLASSES = frozenset(
    "headerlink linenos linenodiv lineno footnote-ref footnote-backref md-tags md-clipboard "
    "md-code__nav".split()
)
_EXCLUDING = ("data-search-exclude", "data-answerable-exclude")


def anchors(node: LexborNode) -> frozenset[str]:
    """Every name in a node that a link may end with."""
    found = {each.attributes.get("id") or "" for each in node.css("[id]")}
    found |= {each.attributes.get("name") or "" for each in node.css("a[name]")}
    return frozenset(found - {""})


def text(node: LexborNode) -> str:
    """All text of a node but what is skipped, white space as it stands."""
    return "".join(_pieces(node))


def _pieces(node: LexborNode) -> Iterator[str]:
    waiting = [node.iter(include_text=True)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif child.is_text_node:
            yield child.text_content or ""
        elif child.tag == "br":
            yield "\n"
        elif not is_skipped(child):
            waiting.append(child.iter(include_text=True))


def is_skipped(node: LexborNode) -> bool:
    """Whether a node says nothing of what an author wrote, or is kept out of the search."""
    if node.tag in _SKIPPED or not node.is_element_node:
        return True
    if is_excluded(node) or "hidden" in node.attributes:
        return True
    attributes = node.attributes
    return not _SKIPPED_CLASSES.isdisjoint((attributes.get("class") or "").split())


def is_excluded(node: LexborNode) -> bool:
    """Test whether an author keeps an element out of the search."""
    return any(name in node.attributes for name in _EXCLUDING)


def has_class(node: LexborNode, name: str) -> bool:
    """Whether a class is one of a node's."""
    return name in (node.attributes.get("class") or "").split()
