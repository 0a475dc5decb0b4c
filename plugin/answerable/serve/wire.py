"""Replies as JSON: what leaves the function."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import confidence, wire_blocks
from .remarks import Remark
from .routes import sentence
from .store import Store
from .types import Answer, Citation, RecordCitation, Reply


def answer(
    reply: Reply, store: Store, request_id: str, remarks: Iterable[Remark] = ()
) -> dict[str, Any]:
    """The body of a 200 answer: modes, claims and routes by the numbers of their citations.

    remarks: what the reader is told of the question's words.
    """
    settled = reply.answer
    claims, routes = _sentences(settled, store.site.route)
    for claim, row in zip(settled.claims, claims, strict=True):
        if (blocks := wire_blocks.blocks_of(claim, reply.passages)) is not None:
            row["blocks"] = blocks
    return {
        "mode": settled.mode,
        "answer": _prose(claims, routes),
        "claims": claims,
        "routes": routes,
        "citations": [_citation(citation, n, store) for citation, n in _numbers(settled).items()],
        "confidence": confidence.bucket(reply.confidence),
        "reason": reply.reason,
        "dropped": settled.dropped,
        "notes": [remark.as_json() for remark in remarks],
        "site_url": store.site.url,
        "bundle": store.manifest.id,
        "built_at": store.manifest.built_at,
        "request_id": request_id,
    }


def plain(settled: Answer, route: str) -> str:
    """The text of an answer with its [n] markers. route: the template of a route's sentence."""
    claims, routes = _sentences(settled, route)
    return _prose(claims, routes)


def plain_routes(settled: Answer, route: str) -> str:
    """Write the routes of an answer with their [n] markers. route: see ``plain``."""
    return _prose([], _sentences(settled, route)[1])


def _numbers(settled: Answer) -> dict[Citation, int]:
    return {citation: n for n, citation in enumerate(settled.citations, 1)}


def _sentences(settled: Answer, route: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    numbers = _numbers(settled)
    claims = [
        {"text": claim.text, "citations": [numbers[citation] for citation in claim.citations]}
        for claim in settled.claims
    ]
    routes = [
        {"text": sentence(route, target.citation), "citations": [numbers[target.citation]]}
        for target in settled.routes
    ]
    return claims, routes


def _prose(claims: list[dict[str, Any]], routes: list[dict[str, Any]]) -> str:
    """Sentences as one text, each followed by its markers."""
    parts = [_marked_claim(claim["text"], claim["citations"]) for claim in claims]
    parts += [marked(route["text"], route["citations"]) for route in routes]
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip()


def _marked_claim(text: str, numbers: list[int]) -> str:
    """A claim that ends in a block of code has its markers in a line of their own."""
    if "\n" not in text.strip():
        return marked(text, numbers)
    return f"{text.rstrip()}\n{markers(numbers)}\n"


def markers(numbers: Sequence[int]) -> str:
    """Write the markers of citations."""
    return "".join(f"[{n}]" for n in numbers)


def marked(text: str, numbers: Sequence[int]) -> str:
    """Put markers before a sentence's full stop, where a reader expects them."""
    written = markers(numbers)
    body = text.rstrip()
    if body.endswith(("..", "…", "!", "?", ":")):
        return f"{body} {written}"
    return f"{body.removesuffix('.')} {written}."


def _citation(citation: Citation, number: int, store: Store) -> Mapping[str, Any]:
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
