"""``answerable mcp``: answer an agent's MCP messages on standard input and output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import BinaryIO

import click

from ..engine.answers.wire import add_absolute_url, serialize_answer, serialize_places
from ..engine.engine import Engine
from ..engine.errors import AnswerableError
from ..function.mcp.protocol import reply_to_message
from ..function.mcp.tools import AgentSite
from ..function.requests import Json, Problem, Question, convert_error, encode_json
from .ask import answer_question
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
        if url:
            agent_site = make_agent_site(*open_published_site(url))
        else:
            agent_site = make_agent_site(open_engine(*location))
        answer_messages(agent_site, sys.stdin.buffer, replies)


@contextmanager
def _claim_stdout() -> Iterator[BinaryIO]:
    """Keep standard output for replies alone; whatever else prints writes to standard error."""
    sys.stdout.flush()
    stdout = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with os.fdopen(stdout, "wb") as replies:
        yield replies


def make_agent_site(engine: Engine, root: str | None = None) -> AgentSite:
    """Let an agent's tools use an engine directly, without the protections of a function.

    root: where the site lies, if that is known; its urls begin there unless it says otherwise.
    """
    base = engine.store.index.site.url or root

    def ask(question: Question) -> Json:
        reply, remarks = answer_question(engine, question.text, question.language)
        return serialize_answer(reply, engine.store, remarks, base)

    def search(question: Question, _: str) -> dict[str, Json]:
        rows = serialize_places(engine.search(question.text, question.language))
        return {name: add_absolute_url(row, base) for name, row in rows.items()}

    return AgentSite(engine, base, ask, search, nullcontext, _report_error)


def answer_messages(site: AgentSite, messages: BinaryIO, replies: BinaryIO) -> None:
    """Answer one message a line until the input ends; a notification gets no line."""
    for line in messages:
        if not line.strip():
            continue
        _, body = reply_to_message(line, site)
        if body is not None:
            replies.write(encode_json(body) + b"\n")
            replies.flush()


def _report_error(error: Exception) -> Problem:
    """Print an error for whoever runs the command; an agent gets a general message."""
    is_ours = isinstance(error, AnswerableError | Problem)
    click.echo(str(error) if is_ours else f"An error of the kind {type(error).__name__}.", err=True)
    return convert_error(error)
