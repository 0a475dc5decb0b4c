"""``answerable chat``: answer questions typed at a prompt, each by itself, until /quit."""

import click
from rich.console import Console
from rich.text import Text

from ..serve.retrieval.question_text import clean_question, find_question_problem
from .ask import answer_question
from .context import SiteLocation, open_engine
from .render import print_reply, to_plain_text

_HELP = "Ask a question; each one stands alone. /help shows this, /quit (or Ctrl-D) leaves."


@click.command("chat")
@click.pass_obj
def command(location: SiteLocation) -> None:
    """Ask in the terminal, one question at a time."""
    console = Console()
    engine = open_engine(*location)
    name = to_plain_text(engine.store.site.name).plain
    console.print(Text.assemble((name, "bold"), f"  {_HELP}"))
    while True:
        try:
            line = clean_question(console.input("\n[bold cyan]?[/bold cyan] "))
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
            print_reply(console, reply, engine.store.site.route, remarks=remarks)
