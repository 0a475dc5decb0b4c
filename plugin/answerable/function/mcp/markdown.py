"""Markdown for agents: the blocks of answers and sections, and an answer with all that it needs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...serve.answers.wire import (
    IN_PART,
    add_absolute_url,
    format_markers,
    insert_markers,
    name_grade,
)
from ...serve.text.markdown import escape_markdown

# What a reader is told of how a question was read; another remark is left to the JSON.
_REMARKS = {
    "corrected": "Showing results for “{to}”.",
    "unknown": "This site does not mention “{word}”.",
}
_REFUSAL = "This site does not answer this question."
_FALLBACK = "Answered without the model."
_NEAREST = "Nearest places, which may not answer it:"
_ADVICE = (
    "Try `search` with the words that the documentation would use, and `read` what it finds. If "
    "that does not answer it either, tell your user so, and do not fill the gap from other "
    "knowledge as if the site said it."
)
_FURTHER = "More on this site (search results, not sources):"


def format_answer(body: Mapping[str, Any], places: Sequence[Mapping[str, Any]] = ()) -> str:
    """Format the body of an answer as Markdown, or a refusal with what to do next.

    First stands how sure it is, then how the question was read, the claims and their sources.
    places: where to look further.
    """
    remarks = format_notes(body["notes"])
    in_part = IN_PART if body["written"] and not body["complete"] else ""
    fallback = _FALLBACK if body["fallback"] else ""
    listed = [line for place in places for line in _format_place(place)]
    if body["mode"] == "not-found":
        nearest = [_NEAREST, *listed] if listed else []
        return join_parts(_REFUSAL, fallback, remarks, nearest, _ADVICE)
    # Hints alone say where to look, and no claim is there to be sure of.
    stored = body.get("question", "")
    grade = name_grade(body["confidence"], written=body["written"], stored=stored)
    claims = [_format_claim(claim) for claim in (*body["claims"], *body["routes"])]
    sources = [
        f"[{citation['n']}] {citation.get('title') or citation['label']} - {find_url(citation)}"
        for citation in body["citations"]
    ]
    return join_parts(
        grade if body["claims"] else "Where to look",
        in_part,
        fallback,
        remarks,
        *claims,
        ["Sources:", *sources],
        [_FURTHER, *listed] if listed else [],
    )


def _format_place(place: Mapping[str, Any]) -> list[str]:
    """Format a place as an item of a list, and its line below."""
    line = escape_markdown(" ".join(place["line"].split()))
    return [f"- {place['title']} - {find_url(place)}", f"  {line}"]


def format_notes(notes: Iterable[Mapping[str, str]]) -> str:
    """Format the wire's notes on the words of a question as sentences."""
    return " ".join(_REMARKS.get(note["kind"], "").format_map(note) for note in notes)


def _format_claim(claim: Mapping[str, Any]) -> str:
    """Format a claim with its markers, by its blocks where it has them, else as one paragraph."""
    if "blocks" not in claim:
        return insert_markers(escape_markdown(claim["text"]), claim["citations"])
    return join_parts(format_blocks(claim["blocks"]), format_markers(claim["citations"]))


def join_parts(*parts: str | Sequence[str]) -> str:
    """Join paragraphs, and lists of lines, that are not empty."""
    texts = (part if isinstance(part, str) else "\n".join(part) for part in parts)
    # A first line of code may be indented.
    return "\n\n".join(text for text in (text.strip("\n") for text in texts) if text.strip())


def find_url(row: Mapping[str, Any]) -> str:
    """Return the url to cite of a row: absolute, where the site or the request tells it."""
    return str(row.get("absolute_url") or row["url"])


def make_absolute(url: str, base: str | None) -> str:
    """Make a url of the site absolute. base: the site's address or origin, None if unknown."""
    return find_url(add_absolute_url({"url": url}, base))


def format_blocks(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Format blocks of the wire as Markdown: fenced code, lists, tables, labels and text."""
    return join_parts(*map(_format_block, blocks))


def _format_block(block: Mapping[str, Any]) -> str | list[str]:
    kind = block["kind"]
    if kind == "gap":
        return "…"
    if kind == "code":
        fence = _make_fence(block["text"], 3)
        return [f"{fence}{block['language']}", block["text"], fence]
    if kind == "list":
        return [_format_item(item) for item in block["items"]]
    if kind == "table":
        head = block["columns"] or [[] for _ in block["rows"][0]]
        return [_format_row(head), f"|{' --- |' * len(head)}", *map(_format_row, block["rows"])]
    text = _format_spans(block["spans"])
    return f"**{text}**" if kind == "label" else text


def _format_item(item: Mapping[str, Any]) -> str:
    indent = "    " * item["level"]
    marker = f"{item['number']}." if item["number"] else "-"
    text = _format_spans(item["spans"]).replace("\n", f"\n{indent}    ")
    return f"{indent}{marker} {text}"


def _format_row(cells: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    texts = (" ".join(_format_spans(spans).replace("|", r"\|").split()) for spans in cells)
    return f"| {' | '.join(texts)} |"


def _format_spans(spans: Sequence[Mapping[str, Any]]) -> str:
    return "".join(
        _format_code(span["text"]) if span.get("code") else span["text"] for span in spans
    )


def _format_code(text: str) -> str:
    """Format inline code, which may hold the sign that delimits it."""
    fence = _make_fence(text, 1)
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _make_fence(text: str, least: int) -> str:
    """Make a run of backticks that is longer than each in the text, of ``least`` or more."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
