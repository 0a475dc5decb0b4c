"""Replies and sections as JSON: claims are Markdown, and the answer is a text with markers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..retrieval.question import Remark
from ..retrieval.store import Store
from ..text.sentences import link_to_range
from ..types import (
    WINDOW_SUFFIX,
    Answer,
    Citation,
    Confidence,
    Place,
    RecordCitation,
    Reply,
    RoutingHint,
)

Json = dict[str, Any]

# Places that are listed under a reply.
MAX_PLACES = 5
# What stands under the grade of a written answer that is not complete.
IN_PART = "The pages found answer this in part."


def serialize_section(store: Store, passage_id: str) -> Json | None:
    """Serialize the whole section of a passage; None if nothing has that id."""
    page = WINDOW_SUFFIX.sub("", passage_id).partition("#")[0]
    by_row = store.passages_at(store.rows_of_page(page))
    passage = next((each for each in by_row.values() if each.id == passage_id), None)
    if passage is None:
        return None
    windows = [by_row[row] for row in sorted(by_row) if by_row[row].url == passage.url]
    return {
        "url": passage.url,
        "title": passage.title,
        "markdown": "\n\n".join(window.markdown for window in windows),
    }


_TEMPLATE_FIELD = re.compile(r"\{(\w+)\}")


def serialize_answer(
    reply: Reply, store: Store, remarks: Iterable[Remark] = (), base: str | None = None
) -> dict[str, Any]:
    """Serialize the body of a 200 answer: claims and routes by the numbers of their citations.

    remarks: notes to the reader about corrected or unknown words. base: where the pages lie, if
    the site does not say so.
    """
    answer = reply.answer
    base = store.index.site.url or base
    numbers, route = _number_citations(answer), store.index.site.route
    return {
        "mode": answer.mode,
        "answer": format_answer(answer, route),
        "claims": [
            {"markdown": claim.markdown, "citations": [numbers[each] for each in claim.citations]}
            for claim in answer.claims
        ],
        "routes": [
            {"text": render_route(route, hint), "citations": [numbers[hint]]}
            for hint in answer.routes
        ],
        "citations": [
            add_absolute_url(_serialize_citation(citation, n, store), base)
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
        **_serialize_stored(reply, store, base),
    }


def _serialize_stored(reply: Reply, store: Store, base: str | None) -> Json:
    """Serialize what a stored answer alone has: its question, and the excerpts after it.

    The excerpts have no remarks of their own: those of the answer stand before both.
    """
    if not reply.stored:
        return {}
    after = reply.excerpts
    return {
        "stored": True,
        "question": reply.stored,
        "excerpts": after and serialize_answer(after, store, base=base),
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
    """Select the remarks that a reply is shown with: a refusal has no results for a spelling.

    Under a route, an unknown word would be one that the pages lack and the note has.
    """
    hidden = {"corrected": not reply.answer.claims, "unknown": bool(reply.answer.routes)}
    return [remark for remark in remarks if not hidden[remark.kind]]


def add_absolute_url(row: Mapping[str, Any], base: str | None) -> dict[str, Any]:
    """Add the absolute form of a row's ``url`` as ``absolute_url``, unless the row has it already.

    base: the site's address or its origin. Without one, only a complete url has an absolute form.
    """
    if "absolute_url" in row or not (base or urlsplit(row["url"]).scheme):
        return dict(row)
    return {**row, "absolute_url": urljoin(base or "", row["url"])}


def format_answer(answer: Answer, route: str) -> str:
    """Format an answer as text with [n] markers. route: the template of a route's sentence."""
    numbers = _number_citations(answer)
    parts = []
    for claim in answer.claims:
        text, own = claim.text, [numbers[citation] for citation in claim.citations]
        # Code and lists have their markers in a line of their own.
        own_line = f"{text.rstrip()}\n{format_markers(own)}\n"
        parts.append(own_line if "\n" in text.strip() else insert_markers(text, own))
    for hint in answer.routes:
        parts.append(insert_markers(render_route(route, hint), [numbers[hint]]))
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip()


def _number_citations(answer: Answer) -> dict[Citation, int]:
    return {citation: n for n, citation in enumerate(answer.citations, 1)}


def render_route(template: str, hint: RoutingHint) -> str:
    """Render the sentence of a route once: braces of no field, and in a label, stay as they are."""
    values = {"label": hint.label, "where": f" ({hint.locator})" if hint.locator else ""}
    return _TEMPLATE_FIELD.sub(lambda match: values.get(match[1], match[0]), template)


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


def mark_claim(markdown: str, numbers: Sequence[int]) -> str:
    """Add the markers of its citations to a claim: after its blocks, or into its only line."""
    if "\n" in markdown:
        return f"{markdown}\n\n{format_markers(numbers)}"
    return insert_markers(markdown, numbers)


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

    ``href`` leads to the line. ``is_cut``, for agents alone: the section goes on where the
    passage ends.
    """
    return {
        place.passage.id: {
            "url": place.passage.url,
            "title": place.passage.title,
            "markdown": place.passage.markdown,
            "line": place.line,
            "href": link_to_range(place.passage, place.start, place.end),
            "is_cut": place.is_cut,
        }
        for place in places
    }
