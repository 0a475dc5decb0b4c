"""A server on loopback that speaks the part of GitHub's REST API that concerns comments."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "owner/docs"
TOKEN = "token-of-the-run"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
STRANGER = {"login": "stranger", "type": "User"}
_THREAD = f"/repos/{REPOSITORY}/issues/7/comments"


@dataclass
class CommentThread:
    """The comments of pull request 7, and all requests. may_write: as the token allows."""

    url: str = ""
    may_write: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def add(self, body: str, user: dict[str, str]) -> dict[str, Any]:
        """Add a comment."""
        comment = {"id": 1000 + len(self.comments), "body": body, "user": user}
        self.comments.append(comment)
        return comment


@contextmanager
def serving() -> Iterator[CommentThread]:
    """Serve an empty thread."""
    thread = CommentThread()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_PATCH(self) -> None:
            self.answer()

        def answer(self) -> None:
            thread.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fields = json.loads(body) if body else {}
            url = urlsplit(self.path)
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send(401, {"message": "Bad credentials"})
            elif url.path == "/user" or (self.command != "GET" and not thread.may_write):
                self.send(403, {"message": "Resource not accessible by integration"})
            elif self.command == "GET" and url.path == _THREAD:
                query = parse_qs(url.query)
                size, page = int(query["per_page"][0]), int(query["page"][0])
                self.send(200, thread.comments[size * (page - 1) : size * page])
            elif self.command == "POST" and url.path == _THREAD:
                self.send(201, thread.add(fields["body"], BOT))
            elif match := re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", url.path):
                comment = next(each for each in thread.comments if each["id"] == int(match[1]))
                comment["body"] = fields["body"]
                self.send(200, comment)
            else:
                self.send(404, {"message": "Not Found"})

        def send(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        worker = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        worker.start()
        thread.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield thread
        finally:
            server.shutdown()
            worker.join()
