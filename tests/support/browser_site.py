"""A site that answers in the reader's browser, on a static host that notes what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from support import sites, static_server

# What a typed text may not fetch: vectors of words and of passages.
HEAVY = r"/(rows|codes)-"
# A page of a theme without scripts of its own, which a strict policy would refuse.
PLAIN_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harbour</title></head>'
    "<body><main>{{ page.content }}</main></body></html>"
)
PAGES = {
    **sites.PAGES,
    # Far below its heading, so that only a highlight brings it into view.
    "lights.md": (
        "# Lights\n\n## Harbour entrance\n\n"
        + '<div style="height: 3000px"></div>\n\n' * 2
        + "The lamp of the eastern breakwater blinks green every seven seconds.\n"
    ),
}


@dataclass
class Host:
    """Hold the origin of a static host, its headers and the lines of the requests it has had.

    `referred` holds each line once more after the path of the page or script that asked for it.
    """

    origin: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    referred: list[tuple[str, str]] = field(default_factory=list)


def write_plain_site(folder: Path, pages: dict[str, str] | None = None, **config: Any) -> Path:
    """Write a site with a theme of one template; its options are the defaults."""
    for name in ("main.html", "404.html"):
        text = PLAIN_PAGE if name == "main.html" else PLAIN_PAGE.replace("{{ page.content }}", "")
        sites.put(folder / "plain" / name, text)
    theme = {"name": None, "custom_dir": "plain", "static_templates": ["404.html"]}
    config.setdefault("plugins", ["answerable"])
    return sites.write_site(folder, pages or PAGES, theme=theme, site_url="", **config)


@contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    """Serve a folder as GitHub Pages would: files, and nothing else."""
    host = Host()

    class Handler(static_server.Quiet):
        def parse_request(self) -> bool:
            is_parsed = super().parse_request()
            if is_parsed:
                host.requests.append(self.requestline)
                referrer = urlsplit(self.headers.get("Referer", "")).path
                host.referred.append((referrer, self.requestline))
            return is_parsed

        def end_headers(self) -> None:
            for name, value in host.headers.items():
                self.send_header(name, value)
            super().end_headers()

    with static_server.serving(folder, Handler) as origin:
        host.origin = origin
        yield host


def ask(box: Locator, question: str) -> None:
    """Type a question into the box, opened if it is not, and wait until it is answered."""
    if box.get_attribute("open") is None:
        box.get_by_role("button", name="Ask", exact=True).first.click()
    box.locator("textarea").fill(question)
    box.locator("textarea").press("Enter")
    expect(box.locator(".working")).to_have_count(0)


def visit(page: Page, address: str) -> Locator:
    """Open a page; gives its ask box."""
    page.goto(address)
    return page.locator("answerable-ask")
