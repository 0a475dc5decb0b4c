"""``answerable chat``: one question at a time, nothing remembered."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..serve.retrieval import selection
from ..serve.retrieval.question_text import clean_question, find_question_problem
from .context import open_engine
from .render import print_reply, to_plain_text

_CHAT_HELP = "Ask a question; each one stands alone. /help shows this, /quit (or Ctrl-D) leaves."


def run_chat(bundle: Path | None, config_file: Path) -> None:
    """Read questions until the reader leaves."""
    console = Console()
    engine = open_engine(bundle, config_file)
    name = to_plain_text(engine.store.site.name).plain
    console.print(Text.assemble((name, "bold"), f"  {_CHAT_HELP}"))
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
            console.print(_CHAT_HELP)
        elif problem := find_question_problem(line):
            console.print(problem)
        else:
            pool = engine.retrieve(line, selection.POOL_SIZE)
            found = engine.answer_from(line, pool)
            print_reply(console, found, engine.store.site.route, remarks=pool.remarks)
