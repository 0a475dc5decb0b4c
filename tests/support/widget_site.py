"""A tiny documentation site with the ask box: a real HTTP server, and the answers it gives."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from answerable.indexing.widget.injection import WIDGET_SCRIPT, read_widget_files

WIDGET = Path(__file__).parents[2] / "plugin" / "answerable" / "widget"
# As a build publishes them.
MODULES = {f"/{path}": text for path, text in read_widget_files().items() if path.endswith(".js")}
SCRIPT = MODULES[f"/{WIDGET_SCRIPT}"]
STRICT_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; require-trusted-types-for 'script'"
)

RECORD = {
    "n": 1,
    "kind": "record",
    "id": "guide/deploy#aws",
    "url": "/guide/deploy/#aws",
    "title": "Deploy › AWS",
    "date": None,
    "quote": "Upload the function folder and set the two environment variables.",
    "href": "/guide/deploy/#aws:~:text=Upload%20the%20function%20folder",
}
SECOND_RECORD = {
    "n": 2,
    "kind": "record",
    "id": "reference/limits",
    "url": "/reference/limits/",
    "title": "Reference › Limits",
    "date": None,
    "quote": "A request may take at most 10 seconds.",
}
HINT = {
    "n": 3,
    "kind": "hint",
    "id": "note:9f3c0a1b2d",
    "url": "/guide/deploy/",
    "label": "Operations call about deployments",
    "locator": "from 12:40",
}
CLAIM = {
    "markdown": "Upload the function folder and set the two environment variables.",
    "citations": [1],
}
SECOND_CLAIM = {"markdown": "A request may take at most 10 seconds.", "citations": [2]}
ROUTE = {
    "text": "Related material: Operations call about deployments (from 12:40).",
    "citations": [3],
}

Json = dict[str, Any]


def answer(mode: str, **fields: Any) -> Json:
    """An answer as the wire gives it; only what a test cares about is named."""
    return {
        "mode": mode,
        "answer": "",
        "claims": [],
        "routes": [],
        "citations": [],
        "confidence": "high",
        "written": bool(fields.get("claims")),
        "complete": bool(fields.get("claims")),
        "fallback": False,
        "reason": None,
        "dropped": 0,
        "site_url": None,
        "bundle": "3f9c",
        "built_at": "2026-01-01T00:00:00Z",
        "request_id": "r1",
    } | fields


SUPPORTED = answer(
    "supported",
    claims=[CLAIM, SECOND_CLAIM],
    routes=[ROUTE],
    citations=[RECORD, SECOND_RECORD, HINT],
    dropped=1,
)
PARTIAL = answer("partial", claims=[CLAIM], citations=[RECORD])
RELATED = answer("related-material", routes=[ROUTE], citations=[HINT], confidence="low")
NOT_FOUND = answer("not-found", reason="no-evidence", confidence="low")


@dataclass
class Reply:
    """A reply of the server to one question."""

    body: Json | list[Any] | str
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    def payload(self) -> bytes:
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass
class Stream:
    """A stream of events, sent part by part; it waits where an event stands, and then ends.

    With ``stays`` it is left open after its last part, until the reader leaves.
    """

    parts: list[str | bytes | threading.Event]
    stays: bool = False


def event(name: str, data: object) -> str:
    """One event as the wire has it."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def asking(question: str, language: str = "en") -> Json:
    """Build the body that the box sends for a question from a page in a language."""
    return {"question": question, "language": language}


def problem(status: int, code: str | None = None, **headers: str) -> Reply:
    """A problem as the wire gives it. headers: with underscores for dashes."""
    body = {"type": "about:blank", "title": "Problem", "status": status, "detail": "Problem"}
    if code is not None:
        body["code"] = code
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(body, status, "application/problem+json", sent)


HANG = Reply({}, status=0)


@dataclass
class Site:
    """Every path is a page, unless ``pages`` has it; the widget and its endpoint are real."""

    origin: str = ""
    prefix: str = ""
    csp: str = f"{STRICT_CSP}; report-uri /csp"
    head: str = ""
    ask_box: str = "<answerable-ask></answerable-ask>"
    lang: str = "en"
    about: Json | Reply | None = None
    strings: dict[str, Json] = field(default_factory=dict)
    pages: dict[str, Reply] = field(default_factory=dict)
    replies: list[Reply | Stream] = field(default_factory=list)
    feedback_status: int = 204
    questions: list[tuple[str, Json]] = field(default_factory=list)
    accepted: list[str | None] = field(default_factory=list)
    feedback: list[Json] = field(default_factory=list)
    # What the search finds, for every question alike, and what it was asked.
    places: Json | Reply = field(default_factory=dict)
    searches: list[Json] = field(default_factory=list)
    reports: list[Json] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)

    def page(self) -> Reply:
        script = f"{self.prefix}/assets/answerable/ask-box.js"
        text = (
            f'<!doctype html><html lang="{self.lang}"><head><meta charset="utf-8">'
            "<title>Docs</title>"
            '<meta name="viewport" content="width=device-width">'
            f"{self.head}</head><body><header>Harbour</header>"
            "<main><h1>Docs</h1><p>Deploy with care.</p></main>"
            f'{self.ask_box}<script type="module" src="{script}"></script></body></html>'
        )
        return Reply(text, content_type="text/html")

    def file(self, path: str) -> Reply:
        """Return the file at a path below the site's root."""
        if path in self.pages:
            return self.pages[path]
        if path in MODULES:
            return Reply(MODULES[path], content_type="text/javascript")
        if path == "/assets/answerable/site.json":
            about = Reply("missing", 404, "text/plain") if self.about is None else self.about
            return about if isinstance(about, Reply) else Reply(about)
        if path.startswith("/assets/answerable/strings/"):
            return self._strings(Path(path).stem)
        if path == "/style.css":
            return Reply(STYLES, content_type="text/css")
        return self.page()

    def _strings(self, language: str) -> Reply:
        if language in self.strings:
            return Reply(self.strings[language])
        ours = WIDGET / "strings" / f"{language}.json"
        return (
            Reply(ours.read_text("utf-8")) if ours.exists() else Reply("missing", 404, "text/plain")
        )


STYLES = ":root { color-scheme: light dark } body { font-family: sans-serif; margin: 3rem }"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A kept connection would wait for an acknowledgment between the head and the body.
    disable_nagle_algorithm = True
    site: Site

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix(self.site.prefix)
        reply = self.site.file(path)
        self.hang() if reply is HANG else self.send(reply)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/csp":
            self.site.reports.append(body)
            self.send(Reply("", 204))
            return
        assert self.headers["Content-Type"] == "application/json"
        if self.path == "/feedback":
            self.site.feedback.append(body)
            self.send(Reply("", self.site.feedback_status))
            return
        if self.path.endswith("/places"):
            self.site.searches.append(body)
            places = self.site.places
            self.send(places if isinstance(places, Reply) else Reply(places))
            return
        self.site.questions.append((self.path, body))
        self.site.accepted.append(self.headers["Accept"])
        reply = self.site.replies.pop(0)
        if isinstance(reply, Stream):
            self.stream(reply)
        elif reply is HANG:
            self.hang()
        else:
            self.send(reply)

    def stream(self, stream: Stream) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for part in stream.parts:
                if isinstance(part, threading.Event):
                    while not part.wait(0.02) and not self.site.closing.is_set():
                        pass
                else:
                    self.wfile.write(part if isinstance(part, bytes) else part.encode())
        except OSError:
            self.site.hung_up.set()
            return
        if stream.stays:
            self.hang()

    def hang(self) -> None:
        self.close_connection = True
        while not self.site.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self.site.hung_up.set()
                return

    def send(self, reply: Reply) -> None:
        payload = reply.payload()
        self.send_response(reply.status)
        headers = {
            "Content-Type": reply.content_type,
            "Content-Security-Policy": self.site.csp,
            **reply.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Site]:
    """A site until the block ends; what it sends may be changed all the time."""
    site = Site()
    handler = type("SiteHandler", (Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        site.origin = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield site
        finally:
            site.closing.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site of the test's own."""
    with serving() as site:
        yield site


def visit(page: Page, site: Site, *replies: Reply | Stream | Json, path: str = "/") -> Locator:
    """Open a page of the site with these replies queued; gives the ask box."""
    site.replies += [each if isinstance(each, Reply | Stream) else Reply(each) for each in replies]
    page.goto(site.origin + site.prefix + path)
    return page.locator("answerable-ask")


def ask(box: Locator, question: str = "How do I deploy?") -> None:
    """Open the box by its button, type the question and send it with Enter."""
    box.get_by_role("button", name="Ask", exact=True).first.click()
    box.get_by_label("Your question").fill(question)
    box.get_by_label("Your question").press("Enter")


def expect_failure(box: Locator, question: str = "How do I deploy?") -> None:
    expect(box.get_by_role("alert")).to_contain_text("try again")
    expect(box.get_by_label("Your question")).to_have_value(question)
    expect(box.get_by_role("heading", level=3)).to_have_count(0)
    expect(box.locator(".card, .sentence, .mark")).to_have_count(0)


def without(mapping: Json, key: str) -> Json:
    return {name: value for name, value in mapping.items() if name != key}
