"""Markdown for agents: an answer with all that it needs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...serve.answers.wire import (
    IN_PART,
    add_absolute_url,
    insert_markers,
    mark_claim,
    name_grade,
)
from ...serve.text.markdown_writer import escape_markdown

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
    claims = [mark_claim(claim["markdown"], claim["citations"]) for claim in body["claims"]]
    claims += [
        insert_markers(escape_markdown(route["text"]), route["citations"])
        for route in body["routes"]
    ]
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
