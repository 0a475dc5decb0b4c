"""The OpenAPI document of a function, from openapi.json and what is configured."""

import json
from pathlib import Path
from typing import Any

_DOCUMENT_PATH = Path(__file__).with_name("openapi.json")


def make_document(
    version: str, base: str = "/", *, metrics: bool = False, bearer: bool = False
) -> dict[str, Any]:
    """Fill in the document. version: of what serves it; base: where its paths begin.

    metrics, bearer: what is configured; a path that is not configured is a 404.
    """
    document: dict[str, Any] = json.loads(_DOCUMENT_PATH.read_bytes())
    paths, components = document["paths"], document["components"]
    document["info"]["version"] = version
    document["servers"] = [{"url": base.rstrip("/") or "/"}]
    if not bearer:
        # The metrics have a token of their own.
        for item in (item for path, item in paths.items() if path != "/metrics"):
            for operation in item.values():
                operation.pop("security", None)
                operation["responses"].pop("401", None)
    if not metrics:
        del paths["/metrics"]
    if not (bearer or metrics):
        del components["securitySchemes"]
    return document
