"""Replies as JSON: what leaves the function."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..retrieval.question import Remark
from ..retrieval.store import Store
from ..types import Answer, Citation, RecordCitation, Reply
from .confidence import bucket_confidence
from .routes import render_route
from .wire_blocks import build_claim_blocks


def serialize_answer(
    reply: Reply, store: Store, request_id: str, remarks: Iterable[Remark] = ()
) -> dict[str, Any]:
    """The body of a 200 answer: modes, claims and routes by the numbers of their citations.

    remarks: what the reader is told of the question's words.
    """
    settled = reply.answer
    claims, routes = _serialize_sentences(settled, store.site.route)
    for claim, row in zip(settled.claims, claims, strict=True):
        if (blocks := build_claim_blocks(claim, reply.passages)) is not None:
            row["blocks"] = blocks
    return {
        "mode": settled.mode,
        "answer": _join_sentences(claims, routes),
        "claims": claims,
        "routes": routes,
        "citations": [
            _serialize_citation(citation, n, store)
            for citation, n in _number_citations(settled).items()
        ],
        "confidence": bucket_confidence(reply.confidence),
        "reason": reply.reason,
        "dropped": settled.dropped,
        "notes": [remark.to_json() for remark in remarks],
        "site_url": store.site.url,
        "bundle": store.manifest.id,
        "built_at": store.manifest.built_at,
        "request_id": request_id,
    }


def format_answer(settled: Answer, route: str) -> str:
    """The text of an answer with its [n] markers. route: the template of a route's sentence."""
    claims, routes = _serialize_sentences(settled, route)
    return _join_sentences(claims, routes)


def format_routes(settled: Answer, route: str) -> str:
    """Write the routes of an answer with their [n] markers. route: see ``plain``."""
    return _join_sentences([], _serialize_sentences(settled, route)[1])


def _number_citations(settled: Answer) -> dict[Citation, int]:
    return {citation: n for n, citation in enumerate(settled.citations, 1)}


def _serialize_sentences(
    settled: Answer, route: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    numbers = _number_citations(settled)
    claims = [
        {"text": claim.text, "citations": [numbers[citation] for citation in claim.citations]}
        for claim in settled.claims
    ]
    routes = [
        {"text": render_route(route, target.citation), "citations": [numbers[target.citation]]}
        for target in settled.routes
    ]
    return claims, routes


def _join_sentences(claims: list[dict[str, Any]], routes: list[dict[str, Any]]) -> str:
    """Sentences as one text, each followed by its markers."""
    parts = [_insert_claim_markers(claim["text"], claim["citations"]) for claim in claims]
    parts += [insert_markers(route["text"], route["citations"]) for route in routes]
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip()


def _insert_claim_markers(text: str, numbers: list[int]) -> str:
    """A claim that ends in a block of code has its markers in a line of their own."""
    if "\n" not in text.strip():
        return insert_markers(text, numbers)
    return f"{text.rstrip()}\n{format_markers(numbers)}\n"


def format_markers(numbers: Sequence[int]) -> str:
    """Write the markers of citations."""
    return "".join(f"[{n}]" for n in numbers)


def insert_markers(text: str, numbers: Sequence[int]) -> str:
    """Put markers before a sentence's full stop, where a reader expects them."""
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
            # Where all pages are in one language there is nothing to tell apart.
            "language": citation.language if len(store.site.languages) > 1 else None,
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
