"""Serialize a reply as the JSON body of a response, and as text with [n] citation markers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..retrieval.question import Remark
from ..retrieval.store import Store
from ..types import Answer, Citation, HintCitation, RecordCitation, Reply
from .confidence import bucket_confidence
from .wire_blocks import build_claim_blocks

# What the template of a route's sentence may use.
ROUTE_FIELDS = frozenset({"label", "locator", "where", "url"})

_TEMPLATE_FIELD = re.compile(r"\{(\w+)\}")


def serialize_answer(
    reply: Reply, store: Store, request_id: str, remarks: Iterable[Remark] = ()
) -> dict[str, Any]:
    """Serialize the body of a 200 answer: claims and routes by the numbers of their citations.

    remarks: on the question's words.
    """
    answer = reply.answer
    claims, routes = _serialize_sentences(answer, store.site.route)
    for claim, row in zip(answer.claims, claims, strict=True):
        if (blocks := build_claim_blocks(claim, reply.passages)) is not None:
            row["blocks"] = blocks
    return {
        "mode": answer.mode,
        "answer": _join_sentences(claims, routes),
        "claims": claims,
        "routes": routes,
        "citations": [
            add_absolute_url(_serialize_citation(citation, n, store), store.site.url)
            for n, citation in enumerate(answer.citations, 1)
        ],
        "confidence": bucket_confidence(reply.confidence),
        "reason": reply.reason,
        "dropped": answer.dropped,
        "notes": [remark.to_json() for remark in select_remarks(reply, remarks)],
        "site_url": store.site.url,
        "bundle": store.manifest.id,
        "built_at": store.manifest.built_at,
        "request_id": request_id,
    }


def select_remarks(reply: Reply, remarks: Iterable[Remark]) -> list[Remark]:
    """Select the remarks that a reply is shown with.

    A refusal shows no results for another spelling, and an answer needed no earlier question.
    """
    needless = "corrected" if reply.answer.mode == "not-found" else "follow-up"
    return [remark for remark in remarks if remark.kind != needless]


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
    values = {
        "label": hint.label,
        "locator": hint.locator,
        "where": f" ({hint.locator})" if hint.locator else "",
        "url": hint.url,
    }
    return _TEMPLATE_FIELD.sub(lambda match: values.get(match[1], match[0]), template)


def list_template_fields(template: str) -> frozenset[str]:
    """List the names of the fields in a template."""
    return frozenset(_TEMPLATE_FIELD.findall(template))


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
