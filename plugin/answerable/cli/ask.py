"""``answerable ask``, ``search`` and ``chat``: questions to a bundle or a published site."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluate.question_file import QuestionLine, parse_questions
from ..serve.answers.wire import serialize_answer
from ..serve.engine import Engine
from ..serve.errors import AnswerableError
from ..serve.http.mcp.markdown import format_notes
from ..serve.retrieval import question as question_text
from ..serve.retrieval.question import Remark, find_question_problem
from ..serve.retrieval.scoring import Scored
from ..serve.types import Passage, Reply, RoutingHint
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
def ask_command(
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
        engine, cleaned = _open(location, site, language), clean_question(question)
        reply, remarks = answer_question(engine, cleaned, language)
        if as_json:
            click.echo(json.dumps(format_reply(engine, reply, remarks), indent=2))
        else:
            sections = engine.search(cleaned, language)
            print_reply(Console(), reply, engine.store.site.route, language, remarks, sections)


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

    language: the tag of the language of the question, whose pages go before all others. Where a
    model fails, standard error names the failure.
    """
    pool = engine.retrieve_for_answer(question, language)
    reply = engine.answer_from(pool)
    if reply.failure:
        click.echo(f"Answered without the model: {reply.failure}", err=True)
    return reply, pool.reading.remarks


def format_reply(engine: Engine, reply: Reply, remarks: tuple[Remark, ...]) -> dict[str, Any]:
    """Format a reply as the JSON object that the function sends."""
    return serialize_answer(reply, engine.store, f"req_{uuid.uuid4().hex}", remarks)


def answer_lines(
    engine: Engine, lines: list[QuestionLine], name: str, language: str | None, *, as_json: bool
) -> None:
    """Answer the questions of a file in their order and print each reply when it is there.

    language: of the lines that name none. A line that fails is named on standard error; SystemExit
    at the end if there is one.
    """
    console = Console()
    has_failed = False
    for line in lines:
        try:
            reply, remarks = answer_question(engine, line.question, line.language or language)
        except AnswerableError as error:
            click.echo(f"Error: {name}: line {line.line}: {error}", err=True)
            has_failed = True
            continue
        if as_json:
            body = {"line": line.line, "id": line.id, "question": line.question}
            click.echo(json.dumps(body | {"reply": format_reply(engine, reply, remarks)}))
        else:
            console.print(to_plain_text(f"\n{line.question}"), style="bold")
            route = engine.store.site.route
            print_reply(console, reply, route, line.language or language, remarks)
    if has_failed:
        raise SystemExit(1)


ScoredStream = Sequence[Scored[Passage]] | Sequence[Scored[RoutingHint]]


@click.command("search")
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the candidates as JSON.")
@click.option(
    "--top-k",
    type=click.IntRange(1, 100),
    default=8,
    show_default=True,
    help="How many candidates of each kind to show.",
)
@click.option("--near", is_flag=True, help="Show near misses, under the floor, too.")
@language_option
@click.pass_obj
def search_command(
    location: SiteLocation,
    question: str,
    as_json: bool,
    top_k: int,
    near: bool,
    language: str | None,
) -> None:
    """Show what a QUESTION retrieves, with scores."""
    check_language_tag(language)
    engine = open_engine(*location)
    result = engine.retrieve(clean_question(question), top_k, language, top_k)
    streams: dict[str, ScoredStream] = {"passages": result.passages, "hints": result.hints}
    is_empty = not any(streams.values())
    if near or (is_empty and not as_json):
        streams |= {"near passages": result.near_passages, "near hints": result.near_hints}
    if as_json:
        rows = {name: [_format_candidate(c) for c in stream] for name, stream in streams.items()}
        click.echo(json.dumps(rows, indent=2))
        return
    console = Console()
    if notes := format_notes(remark.to_json() for remark in result.reading.remarks):
        console.print(to_plain_text(notes), style="dim")
    if is_empty:
        console.print("Nothing is above the floor.")
    for name, stream in streams.items():
        if stream:
            console.print(_make_table(name, stream))


def _format_candidate(scored: Scored[Passage] | Scored[RoutingHint]) -> dict[str, Any]:
    return asdict(scored.item) | {
        "score": round(scored.score, 6),
        "base": round(scored.base, 6),
        "lexical": round(scored.lexical, 6),
        "dense": round(scored.dense, 6),
        "boost": round(scored.boost, 6),
    }


def _make_table(name: str, stream: ScoredStream) -> Table:
    table = Table(title=name.capitalize(), title_justify="left")
    for column in ("score", "base", "lexical", "dense"):
        table.add_column(column, justify="right")
    table.add_column("id", overflow="fold")
    for scored in stream:
        numbers = (scored.score, scored.base, scored.lexical, scored.dense)
        table.add_row(*(f"{number:.3f}" for number in numbers), to_plain_text(scored.item.id))
    return table


_HELP = "Ask a question; each one stands alone. /help shows this, /quit (or Ctrl-D) leaves."


@click.command("chat")
@click.pass_obj
def chat_command(location: SiteLocation) -> None:
    """Ask in the terminal, one question at a time."""
    console = Console()
    engine = open_engine(*location)
    name = to_plain_text(engine.store.site.name).plain
    console.print(Text.assemble((name, "bold"), f"  {_HELP}"))
    while True:
        try:
            line = question_text.clean_question(console.input("\n[bold cyan]?[/bold cyan] "))
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if line in ("/quit", "/exit", "/q"):
            return
        if not line:
            continue
        if line.startswith("/"):
            console.print(_HELP)
        elif problem := find_question_problem(line):
            console.print(problem)
        else:
            reply, remarks = answer_question(engine, line)
            route, sections = engine.store.site.route, engine.search(line)
            print_reply(console, reply, route, remarks=remarks, sections=sections)
