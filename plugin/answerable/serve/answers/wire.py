"""Replies as JSON and as text with markers; a claim of a list, table or code becomes blocks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..retrieval.question import Remark
from ..retrieval.sections import WINDOW_SUFFIX
from ..retrieval.store import Store
from ..rules import RULES
from ..structure import Block
from ..text.sanitization import sanitize_text
from ..types import (
    Answer,
    Citation,
    Claim,
    Confidence,
    HintCitation,
    Passage,
    Place,
    RecordCitation,
    Reply,
)
from .units import TextRange, link_to_range

Json = dict[str, Any]

# A shorter repeated end of a window may be chance, such as a line that closes a block of code.
MIN_OVERLAP: int = RULES["wire"]["MIN_OVERLAP"]
# Places that are listed under a reply.
MAX_PLACES = 5
# What stands under the grade of a written answer that is not complete.
IN_PART = "The pages found answer this in part."
# Labels that are never quoted or missed: of an admonition, a block of code, a picture.
_UNQUOTED: tuple[str, ...] = tuple(RULES["wire"]["UNQUOTED"])


class _LocatedPart(NamedTuple):
    """Locate a part of a claim: ``text[start:end]`` of a passage."""

    passage: Passage
    start: int
    end: int


def build_claim_blocks(claim: Claim, passages: Sequence[Passage]) -> list[Json] | None:
    """Build the blocks of a claim; None unless it consists of what it quotes, in its order.

    They hold the words of its passages, without HTML and without control characters. Rows of one
    table are one table, even if rows between them are left out.
    """
    passage_by_id = {passage.id: passage for passage in passages if passage.blocks}
    names = {name for name, _, _ in claim.excerpt}
    if names != {citation.id for citation in claim.citations} or names - passage_by_id.keys():
        return None
    parts = [_LocatedPart(passage_by_id[name], *span) for name, *span in claim.excerpt]
    if any(
        one.passage is other.passage and other.start < one.end for one, other in pairwise(parts)
    ):
        return None
    return _build_blocks(parts) or None


def serialize_section(store: Store, passage_id: str) -> Json | None:
    """Serialize the whole section of a passage; None if nothing has that id.

    Its windows are joined, without the words that they repeat.
    """
    page = WINDOW_SUFFIX.sub("", passage_id).partition("#")[0]
    by_row = store.passages_at(store.rows_of_page(page))
    passage = next((each for each in by_row.values() if each.id == passage_id), None)
    if passage is None:
        return None
    windows = [by_row[row] for row in sorted(by_row) if by_row[row].url == passage.url]
    return {
        "url": passage.url,
        "title": passage.title,
        "blocks": build_section_blocks(windows),
    }


def build_section_blocks(windows: Sequence[Passage]) -> list[Json]:
    """Build the blocks of a whole section from its windows, without the words that they repeat."""
    starts = [0, *(find_new_words(one.text, other)[0] for one, other in pairwise(windows))]
    parts = zip(windows, starts, strict=True)
    located = [_LocatedPart(window, start, len(window.text)) for window, start in parts]
    return _build_blocks(located, is_whole=True)


def _build_blocks(parts: Sequence[_LocatedPart], *, is_whole: bool = False) -> list[Json]:
    """Build the blocks of parts. is_whole: nothing between them is left out."""
    blocks: list[Json] = []
    previous: Block | None = None
    before: _LocatedPart | None = None
    for part in parts:
        passage = part.passage
        is_apart = not is_whole and before is not None and _leaves_gap(before, part)
        if before is not None and before.passage is not passage and not is_whole:
            previous = None
        for block in passage.blocks:
            start = max(part.start, block.start)
            # A quote begins after the spaces that indent its first line of code.
            indent = passage.text[block.start : start].rpartition("\n")[2]
            if block.kind == "code" and not indent.strip():
                start -= len(indent)
            span = _trim_block_range(passage.text, start, min(part.end, block.end))
            if span is None:
                continue
            is_same = previous is not None and _continues(block, previous)
            if is_apart and blocks and not (is_same and block.kind == "row"):
                blocks.append({"kind": "gap"})
                is_same = False
            is_apart = False
            _append_block(blocks, passage, block, span, is_same)
            if is_whole and block.start < part.start and len(blocks) > 1:
                _join_code(blocks)
            previous = block
        before = part
    if not is_whole and parts and _cuts_code(parts[-1]):
        blocks.append({"kind": "gap"})
    for each in blocks:
        _indent_from_zero(each)
    return blocks


def _cuts_code(part: _LocatedPart) -> bool:
    """Test whether a part ends before the code does that it ends in."""
    return any(
        block.kind == "code"
        and block.start < part.end
        and part.passage.text[part.end : block.end].strip()
        for block in part.passage.blocks
    )


def _join_code(blocks: list[Json]) -> None:
    """Join the last block to the one before it if both are code: a window has cut it in two."""
    *_, first, second = blocks
    if first["kind"] == second["kind"] == "code":
        first["text"] += f"\n{second['text']}"
        blocks.pop()


def find_new_words(text: str, window: Passage) -> tuple[int, bool]:
    """Find where a window goes on after the words of the one before it, and if it repeats any.

    It begins with whole sentences, items, rows or lines of the text before, and within a table with
    the column names of it.
    """
    begin = _skip_repeated_header(text, window)
    starts = {start for start, _ in window.sentences} | {block.start for block in window.blocks}
    lines = {place + 1 for place, character in enumerate(window.text) if character == "\n"}
    for end in sorted(starts | lines | {len(window.text)}, reverse=True):
        overlap = window.text[begin:end].rstrip()
        if len(overlap) >= MIN_OVERLAP and _ends_with(text, overlap):
            return begin + len(overlap), True
    return begin, False


def _skip_repeated_header(text: str, window: Passage) -> int:
    """Find where a window goes on after the column names that it repeats; 0 if it has none."""
    blocks = window.blocks
    if len(blocks) < 2 or blocks[0].start != 0 or blocks[0].detail != "header":
        return 0
    header = window.text[: blocks[0].end]
    return blocks[1].start if header in text.split("\n") else 0


def _ends_with(text: str, overlap: str) -> bool:
    """Tell whether a text ends with an overlap that begins a unit of it, and not within a word."""
    before = len(text) - len(overlap)
    return text.endswith(overlap) and (before == 0 or text[before - 1].isspace())


def _leaves_gap(before: _LocatedPart, after: _LocatedPart) -> bool:
    """Test whether something is left out between two parts that a reader may miss."""
    if before.passage is not after.passage:
        return True
    text, start = before.passage.text, before.end
    for block in before.passage.blocks:
        if block.detail in _UNQUOTED and before.end <= block.start < after.start:
            if text[start : block.start].strip():
                return True
            start = block.end
    return bool(text[start : after.start].strip())


def _trim_block_range(text: str, start: int, end: int) -> TextRange | None:
    """Trim white space off a range; None if nothing is left."""
    words = text[start:end] if start < end else ""
    if not words.strip():
        return None
    # Code begins with the spaces that indent it.
    lead = len(words) - len(words.lstrip("\n"))
    return start + lead, start + len(words.rstrip())


def _continues(block: Block, previous: Block) -> bool:
    """Test whether a block continues the list or the table of the one before it."""
    return (block.kind, block.group) == (previous.kind, previous.group) and block.group > 0


def _append_block(
    blocks: list[Json], passage: Passage, block: Block, part: TextRange, is_same: bool
) -> None:
    """Append a block, or add it to the last list or table if it is of the same."""
    # Code of which a line is cut is text, so that nobody takes it for a whole command.
    before, after = passage.text[block.start : part[0]], passage.text[part[1] : block.end]
    cut_off = before.rpartition("\n")[2] + after.partition("\n")[0]
    if block.kind == "code" and not cut_off.strip():
        code = sanitize_text(passage.text[slice(*part)])
        blocks.append({"kind": "code", "language": block.detail, "text": code})
    elif block.kind == "item":
        if not is_same:
            blocks.append({"kind": "list", "items": []})
        item = {"level": block.level, "number": block.detail, "spans": _build_spans(passage, *part)}
        blocks[-1]["items"].append(item)
    elif block.kind == "row":
        if not is_same:
            blocks.append({"kind": "table", "columns": [], "rows": []})
        cells = list(_build_cells(passage, block, part))
        if block.detail == "header":
            blocks[-1]["columns"] = cells
        else:
            blocks[-1]["rows"].append(cells)
    elif block.kind == "label":
        label = {"kind": "label", "label": block.detail, "spans": _build_spans(passage, *part)}
        blocks.append(label)
    else:
        blocks.append({"kind": "text", "spans": _build_spans(passage, *part)})


def _build_cells(passage: Passage, block: Block, part: TextRange) -> Iterator[list[Json]]:
    """Build the cells of a row, each as spans; those that are not quoted are empty."""
    cells = [
        span for span in passage.spans
        if span.kind == "cell" and block.start <= span.start and span.end <= block.end
    ]  # fmt: skip
    for start, end in [(cell.start, cell.end) for cell in cells] or [part]:
        yield _build_spans(passage, max(start, part[0]), min(end, part[1]))


def _build_spans(passage: Passage, start: int, end: int) -> list[Json]:
    """Build the spans of a range: its pieces of text, with ``href`` or whole ``code``."""
    inside = [
        span for span in passage.spans
        if span.kind != "cell" and span.start < end and span.end > start
    ]  # fmt: skip
    edges = {edge for span in inside for edge in (span.start, span.end) if start < edge < end}
    pieces: list[Json] = []
    for first, last in pairwise(sorted({start, end, *edges})) if start < end else ():
        piece: Json = {"text": sanitize_text(passage.text[first:last])}
        for span in inside:
            if span.start <= first and last <= span.end:
                if span.kind == "link":
                    piece["href"] = span.url
                elif start <= span.start and span.end <= end:
                    piece["code"] = True
        if piece["text"]:
            pieces.append(piece)
    return pieces


def _indent_from_zero(block: Json) -> None:
    """Count the levels of a list from its own outermost item."""
    items = block.get("items", ())
    least = min((item["level"] for item in items), default=0)
    for item in items:
        item["level"] -= least


_TEMPLATE_FIELD = re.compile(r"\{(\w+)\}")


def serialize_answer(reply: Reply, store: Store, remarks: Iterable[Remark] = ()) -> dict[str, Any]:
    """Serialize the body of a 200 answer: claims and routes by the numbers of their citations.

    remarks: on the question's words.
    """
    answer = reply.answer
    claims, routes = _serialize_sentences(answer, store.index.site.route)
    for claim, row in zip(answer.claims, claims, strict=True):
        if (blocks := build_claim_blocks(claim, reply.passages)) is not None:
            row["blocks"] = blocks
    return {
        "mode": answer.mode,
        "answer": _join_sentences(claims, routes),
        "claims": claims,
        "routes": routes,
        "citations": [
            add_absolute_url(_serialize_citation(citation, n, store), store.index.site.url)
            for n, citation in enumerate(answer.citations, 1)
        ],
        "confidence": reply.confidence,
        "written": reply.written,
        "complete": reply.written and answer.complete,
        "fallback": reply.failure is not None,
        "reason": reply.reason,
        "dropped": answer.dropped,
        "notes": [remark.to_json() for remark in select_remarks(reply, remarks)],
        "site_url": store.index.site.url,
        "bundle": store.manifest.id,
        "built_at": store.manifest.built_at,
        **_serialize_stored(reply, store),
    }


def _serialize_stored(reply: Reply, store: Store) -> Json:
    """Serialize what a stored answer alone has: its question, and the excerpts after it.

    The excerpts have no remarks of their own: those of the answer stand before both.
    """
    if not reply.stored:
        return {}
    after = reply.excerpts
    return {
        "stored": True,
        "question": reply.stored,
        "excerpts": after and serialize_answer(after, store),
    }


def name_grade(confidence: Confidence, *, written: bool, stored: str = "") -> str:
    """Name how sure an answer from pages is, in the words of the ask box.

    written: a model has worded it, and its claims grade it. stored: the words of the question that
    the answer was stored for.
    """
    if stored:
        return f"Answer to: {stored}"
    if written:
        return "Answer" if confidence == "high" else "Answer in part"
    if confidence == "low":
        return "Nearest sections: none says it in your words"
    return "From this site"


def select_remarks(reply: Reply, remarks: Iterable[Remark]) -> list[Remark]:
    """Select the remarks that a reply is shown with: a refusal has no results for a spelling."""
    return [r for r in remarks if reply.answer.claims or r.kind != "corrected"]


def add_absolute_url(row: Mapping[str, Any], base: str | None) -> dict[str, Any]:
    """Add the absolute form of a row's ``url`` as ``absolute_url``, unless the row has it already.

    base: the site's address or its origin. Without one, only a complete url has an absolute form.
    """
    if "absolute_url" in row or not (base or urlsplit(row["url"]).scheme):
        return dict(row)
    return {**row, "absolute_url": urljoin(base or "", row["url"])}


def format_answer(answer: Answer, route: str) -> str:
    """Format an answer as text with [n] markers. route: the template of a route's sentence."""
    claims, routes = _serialize_sentences(answer, route)
    return _join_sentences(claims, routes)


def format_routes(answer: Answer, route: str) -> str:
    """Format the routes of an answer with [n] markers. route: see ``format_answer``."""
    return _join_sentences([], _serialize_sentences(answer, route)[1])


def render_route(template: str, hint: HintCitation) -> str:
    """Render the sentence of a route once: braces in a label stay what they are."""
    values = {"label": hint.label, "where": f" ({hint.locator})" if hint.locator else ""}
    return _TEMPLATE_FIELD.sub(lambda match: values[match[1]], template)


def _serialize_sentences(
    answer: Answer, route: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    numbers = {citation: n for n, citation in enumerate(answer.citations, 1)}
    claims = [
        {"text": claim.text, "citations": [numbers[citation] for citation in claim.citations]}
        for claim in answer.claims
    ]
    routes = [
        {"text": render_route(route, target.citation), "citations": [numbers[target.citation]]}
        for target in answer.routes
    ]
    return claims, routes


def _join_sentences(claims: list[dict[str, Any]], routes: list[dict[str, Any]]) -> str:
    parts = []
    for claim in claims:
        text, numbers = claim["text"], claim["citations"]
        # Code and lists have their markers in a line of their own.
        is_long = "\n" in text.strip()
        own_line = f"{text.rstrip()}\n{format_markers(numbers)}\n"
        parts.append(own_line if is_long else insert_markers(text, numbers))
    parts += [insert_markers(route["text"], route["citations"]) for route in routes]
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip()


def format_markers(numbers: Sequence[int]) -> str:
    """Format the markers of citations."""
    return "".join(f"[{n}]" for n in numbers)


def insert_markers(text: str, numbers: Sequence[int]) -> str:
    """Insert markers before a sentence's period, where a reader expects them."""
    written = format_markers(numbers)
    body = text.rstrip()
    if body.endswith(("..", "…", "!", "?", ":")):
        return f"{body} {written}"
    return f"{body.removesuffix('.')} {written}."


def _serialize_citation(citation: Citation, number: int, store: Store) -> Mapping[str, Any]:
    if isinstance(citation, RecordCitation):
        return {
            "n": number,
            "kind": "record",
            "id": citation.id,
            "url": citation.url,
            "title": citation.title,
            "date": citation.date,
            # Of a site in one language no reader needs to know it.
            "language": citation.language if len(store.index.site.languages) > 1 else None,
            "quote": citation.quote,
            "start": citation.start,
            "href": citation.href or citation.url,
        }
    return {
        "n": number,
        "kind": "hint",
        "id": citation.id,
        "url": citation.url,
        "label": citation.label,
        "locator": citation.locator,
    }


def serialize_places(places: Iterable[Place]) -> dict[str, Json]:
    """Serialize the places that a search finds as rows, by id.

    ``href`` leads to the line. ``is_cut``, for agents alone: the section goes on where the text
    ends.
    """
    return {
        place.passage.id: {
            "url": place.passage.url,
            "title": place.passage.title,
            "text": place.passage.text,
            "line": place.line,
            "href": link_to_range(place.passage, place.start, place.end),
            "is_cut": place.is_cut,
        }
        for place in places
    }
