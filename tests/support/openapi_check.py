"""Check that a response is one that the OpenAPI document describes."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from answerable.function.exchange import EVENT_STREAM_TYPE
from answerable.function.requests import JSON_TYPE, PROBLEM_TYPE
from support.app_requests import Response

Document = Mapping[str, Any]

# What a body's length and kind are is HTTP's own matter.
_OF_HTTP = {"content-type", "content-length"}


def check_response(document: Document, method: str, path: str, response: Response) -> None:
    """AssertionError, or jsonschema's own, if a response is not described.

    path: relative to the base. One that the document does not name has to be a 404, or a 403 for a
    page elsewhere, and a method that a path does not have a 405.
    """
    item = document["paths"].get(f"/{path.strip('/')}")
    if item is None:
        assert response.status in (403, 404)
        described = document["components"]["responses"][str(response.status)]
    elif operation := item.get(method.lower()):
        assert str(response.status) in operation["responses"], response.status
        described = operation["responses"][str(response.status)]
    else:
        assert response.status == 405
        described = document["components"]["responses"]["405"]
    described = resolved(document, described)
    check_headers(document, described["headers"], dict(response.headers))
    check_body(document, described.get("content"), response)


def check_headers(document: Document, described: Document, headers: Mapping[str, str]) -> None:
    """Every header is described, has a value that fits, and is there if it has to be."""
    described_headers = {
        name.lower(): resolved(document, header) for name, header in described.items()
    }
    sent = {name.lower(): value for name, value in headers.items()}
    assert set(sent) - _OF_HTTP <= set(described_headers)
    assert {name for name, header in described_headers.items() if header["required"]} <= set(sent)
    for name, header in described_headers.items():
        if name in sent:
            whole = header["schema"].get("type") == "integer"
            validate(document, header["schema"], int(sent[name]) if whole else sent[name])


def check_body(document: Document, described: Document | None, response: Response) -> None:
    """A body of a described media type is what its schema says; no content is no body."""
    kind = dict(response.headers).get("content-type", "")
    if described is None:
        assert (response.body, kind) == (b"", "")
        return
    essence = kind.partition(";")[0]
    media = described.get(kind) or described[essence]
    if essence == EVENT_STREAM_TYPE:
        check_events(document, media, response.body.decode())
    elif essence in (JSON_TYPE, PROBLEM_TYPE):
        validate(document, media["schema"], response.json)
    else:
        validate(document, media["schema"], response.body.decode())


def check_events(document: Document, media: Document, text: str) -> list[tuple[str, Any]]:
    """The events of a stream: stages, then one answer or one problem, each as described."""
    parsed_events = events(text)
    names = [name for name, _ in parsed_events]
    assert names[-1] in ("answer", "problem")
    assert set(names[:-1]) <= {"stage"}
    for name, data in parsed_events:
        validate(document, media["x-events"][name], data)
    return parsed_events


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream by their names, their data parsed."""
    assert text.endswith("\n\n")
    parsed = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        parsed.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return parsed


def validate(document: Document, schema: Document, value: object) -> None:
    """ValidationError unless a value is what one of the document's schemas says."""
    whole = {"components": document["components"], "allOf": [schema]}
    Draft202012Validator(whole, format_checker=FormatChecker()).validate(value)


def resolved(document: Document, described: Any) -> Any:
    """Resolve a reference within the document; return anything else as it is."""
    while "$ref" in described:
        target: Any = document
        for part in described["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        described = target
    return described
