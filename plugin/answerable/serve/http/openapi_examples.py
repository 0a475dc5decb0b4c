"""Real answers of a tiny site, which the OpenAPI document shows; its tests ask that site again."""

from typing import Any, get_args

from ..request_context import RequestStage
from .messages import encode_event

QUESTION = "How thick is the chain of a mooring?"
REFUSED = "Who wrote Hamlet?"
SEARCHED = "mooring"

_BUNDLE = "af8900cbda1a1e4329db6f986be7ffe5eff54d4423c885661e772ef3a01d2bd0"
_BUILT_AT = "2026-05-04T09:30:00Z"

ANSWER: dict[str, Any] = {
    "mode": "supported",
    "answer": "The chain of a mooring is twelve millimetres thick [1]. "
    "Related material: Worn chains (second shelf) [2].",
    "claims": [
        {
            "text": "The chain of a mooring is twelve millimetres thick.",
            "citations": [1],
            "blocks": [
                {
                    "kind": "text",
                    "spans": [{"text": "The chain of a mooring is twelve millimetres thick."}],
                }
            ],
        }
    ],
    "routes": [{"text": "Related material: Worn chains (second shelf).", "citations": [2]}],
    "citations": [
        {
            "n": 1,
            "kind": "record",
            "id": "mooring#chains",
            "url": "/mooring/#chains",
            "title": "Mooring › Chains",
            "date": None,
            "language": None,
            "quote": "The chain of a mooring is twelve millimetres thick.",
            "start": 0,
            "href": "/mooring/#chains:~:text=The%20chain%20of%20a%20mooring%20is%20twelve"
            "%20millimetres%20thick.",
        },
        {
            "n": 2,
            "kind": "hint",
            "id": "worn-chains",
            "url": "/mooring/#chains",
            "label": "Worn chains",
            "locator": "second shelf",
        },
    ],
    "confidence": "medium",
    "reason": None,
    "dropped": 0,
    "notes": [],
    "site_url": "https://harbour.example/",
    "bundle": _BUNDLE,
    "built_at": _BUILT_AT,
    "request_id": "req_a880a1a075654f228ae0c8e9b263bc6e",
}
REFUSAL: dict[str, Any] = {
    "mode": "not-found",
    "answer": "",
    "claims": [],
    "routes": [],
    "citations": [],
    "confidence": "low",
    "reason": "no-evidence",
    "dropped": 0,
    "notes": [{"kind": "unknown", "word": "Hamlet"}],
    "site_url": "https://harbour.example/",
    "bundle": _BUNDLE,
    "built_at": _BUILT_AT,
    "request_id": "req_6dcfa24fe2304d95843017cedd6b74b4",
}
PASSAGES: dict[str, Any] = {
    "mooring#mooring": {
        "url": "/mooring/#mooring",
        "title": "Mooring",
        "text": "A mooring needs a buoy of forty litres.",
    },
    "mooring#chains": {
        "url": "/mooring/#chains",
        "title": "Mooring › Chains",
        "text": "The chain of a mooring is twelve millimetres thick.",
    },
}
HEALTH: dict[str, Any] = {
    "status": "ok",
    "wire": 2,
    "bundle": _BUNDLE,
    "built_at": _BUILT_AT,
    "generator": "mkdocs-answerable 0.1.0",
}
READY: dict[str, Any] = {"status": "ready"}


def make_events_example() -> str:
    """The answer as an event stream."""
    stages = ({"stage": stage} for stage in get_args(RequestStage))
    made = (encode_event("stage", stage) for stage in stages)
    return b"".join((*made, encode_event("answer", ANSWER))).decode()
