"""List and read the resources that agents see over MCP: the list of pages, and each page."""

import json
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from .pages import count_pages, list_pages, read_page
from .tools import AgentSite, format_page

PAGES_URI = "answerable://pages"

_PAGES_PER_LIST = 200
_JSON_TYPE = "application/json"
_TEXT_TYPE = "text/plain"


def describe_page_list(site: AgentSite) -> dict[str, Any]:
    """Describe the resource that lists all pages."""
    return {
        "uri": PAGES_URI,
        "name": "pages",
        "title": "All pages",
        "description": f"The published pages of {site.name}, {_PAGES_PER_LIST} at a time.",
        "mimeType": _JSON_TYPE,
    }


def describe_page_template(site: AgentSite) -> dict[str, Any]:
    """Describe the resources that are the pages."""
    return {
        "uriTemplate": f"{PAGES_URI}/{{id}}",
        "name": "page",
        "title": "One page",
        "description": f"The text of a page of {site.name}, as it may be quoted.",
        "mimeType": _TEXT_TYPE,
    }


def read_resource(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read the contents of a resource; None where the uri names none."""
    contents = _read_page_list(uri, site) or _read_page_text(uri, site)
    return {"uri": uri, **contents} if contents else None


def _read_page_list(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read a part of the list of pages; None for another uri."""
    path, _, query = uri.partition("?")
    if path != PAGES_URI:
        return None
    after = parse_qs(query).get("after", ["0"])[0]
    start = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else -1
    with site.open_store() as store:
        total = count_pages(store)
        if not 0 <= start <= total:
            return None
        pages = list_pages(store, start, _PAGES_PER_LIST)
    end = start + len(pages)
    listing = {
        "pages": [
            {
                "id": page.id,
                "title": page.title,
                "resource": f"{PAGES_URI}/{quote(page.id, safe='')}",
            }
            for page in pages
        ],
        "total": total,
        "next": f"{PAGES_URI}?after={end}" if end < total else None,
    }
    return {"mimeType": _JSON_TYPE, "text": json.dumps(listing, ensure_ascii=False)}


def _read_page_text(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read the text of a page; None where the uri names none."""
    prefix = f"{PAGES_URI}/"
    name = unquote(uri.removeprefix(prefix)) if uri.startswith(prefix) else ""
    if not name:
        return None
    with site.open_store() as store:
        page = read_page(store, name, site.base)
    return {"mimeType": _TEXT_TYPE, "text": format_page(page, site.base)} if page else None
