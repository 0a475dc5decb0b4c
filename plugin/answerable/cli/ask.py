"""``answerable ask``: answer a question, or each one of a file, as text or JSON."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import click
from rich.console import Console

from ..evaluate.question_file import QuestionLine, parse_questions
from ..serve.answers.wire import serialize_answer
from ..serve.engine import Engine
from ..serve.errors import AnswerableError
from ..serve.retrieval.question import Remark
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.types import Reply
from .context import (
    SiteLocation,
    check_language_tag,
    clean_question,
    language_option,
    open_engine,
    question_argument,
    refuse_bundle_option,
)
from .render import print_reply, to_plain_text


@click.command("ask")
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the function sends it.")
@language_option
@click.option(
    "--file",
    is_eager=True,
    type=click.Path(allow_dash=True),
    help="Answer the question of each line of a file, plain or JSON; - for standard input.",
)
@click.option("--site", help="Ask the static site at this address, which answers in the browser.")
@click.pass_obj
def command(
    location: SiteLocation,
    question: str,
    as_json: bool,
    language: str | None,
    file: str | None,
    site: str | None,
) -> None:
    """Answer one QUESTION with citations, or say that the site does not know."""
    if question and file:
        raise click.UsageError("QUESTION and --file both say what to ask: leave one out")
    check_language_tag(language)
    if file:
        with click.open_file(file, encoding="utf-8-sig", errors="replace") as opened:
            lines = parse_questions(opened.read(), file)
        answer_lines(_open(location, site, language), lines, file, language, as_json=as_json)
    else:
        engine = _open(location, site, language)
        reply, remarks = answer_question(engine, clean_question(question), language)
        if as_json:
            click.echo(json.dumps(format_reply(engine, reply, remarks), indent=2))
        else:
            print_reply(Console(), reply, engine.store.site.route, language, remarks)


def _open(location: SiteLocation, site: str | None, language: str | None) -> Engine:
    """Open the engine of the bundle, or over the index of the site at an address."""
    if site is None:
        return open_engine(*location)
    refuse_bundle_option(location)
    # Only here: a question of a bundle needs nothing that fetches.
    from .published_site import open_published_site

    return open_published_site(site, language, "--site").engine


def answer_question(
    engine: Engine, question: str, language: str | None = None
) -> tuple[Reply, tuple[Remark, ...]]:
    """Answer a clean question; a refusal is a reply too. Returns it and remarks on its words.

    language: the tag of the language of the question, whose pages go before all others.
    """
    pool = engine.retrieve(question, POOL_SIZE, language)
    return engine.answer_from(pool), pool.reading.remarks


def format_reply(engine: Engine, reply: Reply, remarks: tuple[Remark, ...]) -> dict[str, Any]:
    """Format a reply as the JSON object that the function sends."""
    return serialize_answer(reply, engine.store, f"req_{uuid.uuid4().hex}", remarks)


def answer_lines(
    engine: Engine, lines: list[QuestionLine], name: str, language: str | None, *, as_json: bool
) -> None:
    """Answer the questions of a file in their order and print each reply when it is there.

    language: of the lines that name none. ClickException names the line whose question a
    provider failed to answer.
    """
    console = Console()
    for line, reply, remarks in _iterate_replies(engine, lines, name, language):
        if as_json:
            body = {"line": line.line, "id": line.id, "question": line.question}
            click.echo(json.dumps(body | {"reply": format_reply(engine, reply, remarks)}))
        else:
            console.print(to_plain_text(f"\n{line.question}"), style="bold")
            route = engine.store.site.route
            print_reply(console, reply, route, line.language or language, remarks)


def _iterate_replies(
    engine: Engine, lines: list[QuestionLine], name: str, language: str | None
) -> Iterator[tuple[QuestionLine, Reply, tuple[Remark, ...]]]:
    for line in lines:
        try:
            yield line, *answer_question(engine, line.question, line.language or language)
        except AnswerableError as error:
            raise click.ClickException(f"{name}: line {line.line}: {error}") from None
