"""``answerable ask``: answer a question, or each one in a file of JSON lines, as text or JSON."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console

from ..serve.answers.wire import serialize_answer
from ..serve.engine import Engine
from ..serve.errors import AnswerableError
from ..serve.retrieval import question_text
from ..serve.retrieval.question import Remark
from ..serve.retrieval.question_text import find_question_problem
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.text.languages import is_language_tag
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

# How many lines a message names before it counts the others.
_NAMED_LINES = 5


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One line of a question file. ``line``: its number; ``id``: any JSON that the file gives."""

    line: int
    question: str
    language: str | None = None
    id: object = None


@click.command("ask")
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the function sends it.")
@language_option
@click.option(
    "--file",
    is_eager=True,
    type=click.Path(allow_dash=True),
    help="Answer each line's field question in a file of JSON lines; - for standard input.",
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


def parse_questions(text: str, name: str) -> list[QuestionLine]:
    """Parse a question file: on each line a JSON object with a ``question``, or a JSON string.

    Empty lines are skipped. ClickException names every bad line by its number, so that no
    question is asked before all can be.
    """
    lines: list[QuestionLine] = []
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                lines.append(_parse_line(number, line))
            except ValueError as error:
                problems.append(f"line {number}: {error}")
    if problems:
        others = len(problems) - _NAMED_LINES
        listed = "; ".join(problems[:_NAMED_LINES]) + (f"; and {others} more" if others > 0 else "")
        raise click.ClickException(f"{name}: {listed}; correct the file, nothing was asked")
    if not lines:
        raise click.ClickException(f'{name}: no question in it; write lines {{"question": "…"}}')
    return lines


def _parse_line(number: int, line: str) -> QuestionLine:
    """Parse one line of a question file; ValueError says what is wrong with it."""
    try:
        value: Any = json.loads(line)
    except ValueError:
        raise ValueError("not JSON") from None
    fields = {"question": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("question"), str):
        raise ValueError('not an object with a text "question"')
    question = question_text.clean_question(fields["question"])
    if problem := find_question_problem(question):
        raise ValueError(problem.removesuffix("."))
    language = fields.get("language")
    if language is not None and not (isinstance(language, str) and is_language_tag(language)):
        raise ValueError('"language" is not a tag such as en or pt-BR')
    return QuestionLine(number, question, language, fields.get("id"))


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
