"""The files that one question passes through, from the socket to the reply, in the order of calls.

The app over the function's folder that a build has written answers two questions over HTTP. The
second one is traced, since what is imported or computed once for an index is there by then. Prints
each file of the package in which a function is called, and how many they are.
"""

import http.client
import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType

import uvicorn

import answerable
from answerable.function.app import open_app

PACKAGE = Path(answerable.__file__).parent
DEFAULT_QUESTION = "How do I cap the costs of a model?"


def ask(port: int, question: str) -> bytes:
    """Ask a question and return the body of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"question": question}).encode()
    connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
    return connection.getresponse().read()


def list_files(folder: Path, question: str) -> list[str]:
    """List the files of the package that a question passes through."""
    files: dict[str, None] = {}
    is_tracing = threading.Event()

    def trace(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and is_tracing.is_set() and path.is_relative_to(PACKAGE):
            files[path.relative_to(PACKAGE).as_posix()] = None

    lines: list[bytes] = []
    app = open_app(folder, os.environ, lines.append, sys.stderr.buffer.write)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    # Of all threads from here on: the server's own and those that it answers in.
    threading.setprofile(trace)
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        pass
    port = server.servers[0].sockets[0].getsockname()[1]
    ask(port, "What is a gold query?")
    is_tracing.set()
    ask(port, question)
    is_tracing.clear()
    return list(files)


if __name__ == "__main__":
    given = sys.argv[1:]
    listed = list_files(
        Path(given[0] if given else "function"), " ".join(given[1:]) or DEFAULT_QUESTION
    )
    print("\n".join(listed), f"\n{len(listed)} files")
