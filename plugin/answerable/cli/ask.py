"""``answerable ask``: a question to a bundle or a published site, or a file of them."""

import json

import click

from ..check.question_file import QuestionLine, parse_questions
from ..engine.answers.wire import serialize_answer
from ..engine.engine import Engine
from ..engine.errors import AnswerableError
from ..engine.retrieval.question import Remark
from ..engine.types import Reply
from .context import SiteLocation, language_option, open_engine, read_question, refuse_bundle_option
from .render import print_reply


@click.command("ask")
@click.argument("question", nargs=-1, metavar="[QUESTION]", callback=read_question)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the function sends it.")
@language_option
@click.option(
    "--file",
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
    """Answer a QUESTION with citations, or say that the site does not know."""
    if question and file:
        raise click.UsageError("QUESTION and --file both say what to ask: leave one out")
    if file:
        with click.open_file(file, encoding="utf-8-sig", errors="replace") as opened:
            lines = parse_questions(opened.read(), file)
        answer_lines(_open(location, site), lines, file, language, as_json=as_json)
        return
    if not question:
        raise click.UsageError("name a QUESTION, or a file of questions with --file")
    engine = _open(location, site)
    reply, remarks = answer_question(engine, question, language)
    if as_json:
        click.echo(json.dumps(serialize_answer(reply, engine.store, remarks), indent=2))
    else:
        places = engine.search(question, language)
        print_reply(reply, engine.store.index.site.route, language, remarks, places)


def _open(location: SiteLocation, site: str | None) -> Engine:
    """Open the engine of the bundle, or over the index of the site at an address."""
    if site is None:
        return open_engine(*location)
    refuse_bundle_option(location)
    # Only here: a question of a bundle needs nothing that fetches.
    from .published_site import open_published_site

    return open_published_site(site)[0]


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


def answer_lines(
    engine: Engine, lines: list[QuestionLine], name: str, language: str | None, *, as_json: bool
) -> None:
    """Answer the questions of a file in their order and print each reply when it is there.

    language: for lines that name none. A line that fails is named on standard error; SystemExit
    at the end if there is one.
    """
    has_failed = False
    for line in lines:
        asked_in = line.language or language
        try:
            reply, remarks = answer_question(engine, line.question, asked_in)
        except AnswerableError as error:
            click.echo(f"Error: {name}: line {line.line}: {error}", err=True)
            has_failed = True
            continue
        if as_json:
            body = {"line": line.line, "id": line.id, "question": line.question}
            body["reply"] = serialize_answer(reply, engine.store, remarks)
            click.echo(json.dumps(body))
        else:
            click.secho(f"\n{line.question}", bold=True)
            print_reply(reply, engine.store.index.site.route, asked_in, remarks)
    if has_failed:
        raise SystemExit(1)
