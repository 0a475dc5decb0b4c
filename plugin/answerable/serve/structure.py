"""Blocks and spans of a passage, as offsets: pack them as rows, unpack and check."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from .rules import RULES, compile_rule

BlockKind = Literal["text", "item", "row", "code", "label"]
SpanKind = Literal["code", "link", "cell"]
BLOCK_KINDS: tuple[BlockKind, ...] = ("text", "item", "row", "code", "label")
SPAN_KINDS: tuple[SpanKind, ...] = ("code", "link", "cell")
LABEL_DETAILS = ("tab", "title", "term", "file", "caption")

# Between the headings of a passage's title.
TITLE_SEPARATOR: str = RULES["structure"]["TITLE_SEPARATOR"]

# Languages of code that draws a diagram or replays a terminal: nobody copies it.
DIAGRAM_LANGUAGE, RECORDING_LANGUAGE = "mermaid", "recording"
# A client indents by the level, so a hostile one could make it fill its memory.
MAX_LEVEL = 32
_MAX_GROUP = 2**31

# How a sentence ends that leads into what follows it.
LEAD_INS = (":", "：", "...", "…")
# The words of a link do not cross a line's end, where a block ends; the dot between the cells of a
# row, which the page does not have; or columns of code, whose spaces the page does not collapse.
BREAK = compile_rule("structure", "BREAK")

# A control character, white space or a backslash could make a browser read another url.
UNSAFE_IN_URL = re.compile(r"[\x00-\x20\x7f-\xa0\\]")

_CODE_LANGUAGE = re.compile(r"[^\W_][\w+#./-]{0,31}")
_ITEM_NUMBER = re.compile(r"-?[0-9]{1,9}|")


# Tuples hash and compare in C: an answerer keeps its reading of a passage under the passage.
class Block(NamedTuple):
    """Locate a paragraph, list item, table row, code block or label: ``text[start:end]``.

    ``group`` numbers the list, table, tab set or admonition that it belongs to, 0 for none.
    ``level`` counts the list items, definitions, tabs and admonitions that it stands in, so that
    a label or item owns the blocks of a higher level that follow it. ``detail`` is the language
    of code, the number of an item in an ordered list, "header" for a row of column names, and
    for a label one of ``LABEL_DETAILS``; "" for none.
    """

    kind: BlockKind
    start: int
    end: int
    group: int = 0
    level: int = 0
    detail: str = ""


class Span(NamedTuple):
    """Locate inline code, a link or the cell of a row: ``text[start:end]`` of a passage.

    A cell may be empty. ``url`` is that of a link, root-relative or absolute.
    """

    kind: SpanKind
    start: int
    end: int
    url: str = ""


def split_runs(text: str) -> list[str]:
    """Split a text at its breaks into runs, leaving out those without a letter or a digit."""
    return [run for run in BREAK.split(text) if any(map(str.isalnum, run))]


def is_safe_url(url: str) -> bool:
    """Test whether a url is root-relative or absolute http(s), without control characters."""
    is_rooted = url.startswith("/") and not url.startswith("//")
    return (is_rooted or url.startswith(("https://", "http://"))) and not UNSAFE_IN_URL.search(url)


def is_code_language(name: str) -> bool:
    """Test whether a name can be the language of a code block."""
    return _CODE_LANGUAGE.fullmatch(name) is not None


def pack_structure(rows: Iterable[Block | Span]) -> list[list[object]]:
    """Write blocks or spans as JSON arrays, without the defaults that end them."""
    packed: list[list[object]] = []
    for row in rows:
        values: list[object] = list(row)
        for default in reversed(row._field_defaults.values()):
            if values[-1] != default:
                break
            values.pop()
        packed.append(values)
    return packed


def unpack_blocks(rows: Iterable[Sequence[Any]], size: int) -> tuple[Block, ...]:
    """Read the blocks of a text of ``size`` characters; ValueError or TypeError for bad ones.

    They are of known kinds, follow each other without an overlap and are not empty.
    """
    blocks = tuple(Block(*row) for row in rows)
    last = 0
    for block in blocks:
        kind, start, end, group, level, detail = block
        _check_range(start, end, last, size)
        if kind not in BLOCK_KINDS or start == end or not isinstance(detail, str):
            raise ValueError(f"{block!r:.120} is not a block")
        if not _is_count(group, _MAX_GROUP) or not _is_count(level, MAX_LEVEL):
            raise ValueError(f"{block!r:.120} is not a block")
        if not _is_detail_of(kind, detail):
            raise ValueError(f"{detail!r:.40} is not a detail of the kind {kind}")
        last = end
    return blocks


def unpack_spans(rows: Iterable[Sequence[Any]], size: int) -> tuple[Span, ...]:
    """Read the spans of a text of ``size`` characters; ValueError or TypeError for bad ones.

    They are of known kinds, their starts do not fall, and every link has a safe url.
    """
    spans = tuple(Span(*row) for row in rows)
    last = 0
    for span in spans:
        kind, start, end, url = span
        _check_range(start, end, last, size)
        if kind not in SPAN_KINDS or not isinstance(url, str):
            raise ValueError(f"{span!r:.120} is not a span")
        if not is_safe_url(url) if kind == "link" else url:
            raise ValueError(f"{url!r:.80} is not the url of a {kind}")
        last = start
    return spans


def _check_range(start: object, end: object, last: int, size: int) -> None:
    # A bool is an int to isinstance.
    if type(start) is not int or type(end) is not int or not last <= start <= end <= size:
        raise ValueError(f"{start!r:.40} to {end!r:.40} is not a range of the text")


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_detail_of(kind: str, detail: str) -> bool:
    if kind == "code":
        return not detail or is_code_language(detail)
    if kind == "item":
        return _ITEM_NUMBER.fullmatch(detail) is not None
    if kind == "label":
        return detail in LABEL_DETAILS
    return detail in (("", "header") if kind == "row" else ("",))
