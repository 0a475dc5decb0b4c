"""``answerable mcp``: answer an agent's MCP messages on standard input and output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

import click
from starlette.requests import Request

from ..function.exchange import Exchange, Function
from ..function.mcp.protocol import reply_to_message
from ..function.policy import UNLIMITED
from ..function.requests import encode_json
from .context import SiteLocation, open_engine, refuse_bundle_option
from .published_site import open_published_site


@click.command("mcp")
@click.argument("url", required=False)
@click.pass_obj
def command(location: SiteLocation, url: str | None) -> None:
    """Answer a coding agent over MCP on standard input, for a bundle or the site at URL."""
    if url:
        refuse_bundle_option(location)
    with _claim_stdout() as replies:
        engine, root = open_published_site(url) if url else (open_engine(*location), None)
        # One agent needs none of a function's protections.
        function = Function(lambda: engine, UNLIMITED, report_failure=partial(click.echo, err=True))
        answer_messages(function, root, sys.stdin.buffer, replies)


@contextmanager
def _claim_stdout() -> Iterator[BinaryIO]:
    """Keep standard output for replies alone; whatever else prints writes to standard error."""
    sys.stdout.flush()
    stdout = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with os.fdopen(stdout, "wb") as replies:
        yield replies


def answer_messages(
    function: Function, root: str | None, messages: BinaryIO, replies: BinaryIO
) -> None:
    """Answer one message a line until the input ends. A notification gets no line.

    root: where the site lies, if that is known; its urls begin there unless it says otherwise.
    """
    for line in messages:
        if not line.strip():
            continue
        request = Request({"type": "http", "method": "POST", "headers": []})
        exchange = Exchange(function, request, "mcp", root)
        _, body = reply_to_message(line, exchange)
        if body is not None:
            replies.write(encode_json(body) + b"\n")
            replies.flush()
