"""``answerable chat``: one question at a time, nothing remembered."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..serve import questions, selection
from . import opening, showing

_HELP = "Ask a question; each one stands alone. /help shows this, /quit (or Ctrl-D) leaves."


def chat(bundle: Path | None, config_file: Path) -> None:
    """Read questions until the reader leaves."""
    console = Console()
    engine = opening.engine(bundle, config_file)
    name = showing.plain(engine.bundle.site.name).plain
    console.print(Text.assemble((name, "bold"), f"  {_HELP}"))
    while True:
        try:
            line = questions.clean(console.input("\n[bold cyan]?[/bold cyan] "))
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if line in ("/quit", "/exit", "/q"):
            return
        if not line:
            continue
        if line.startswith("/"):
            console.print(_HELP)
        elif problem := questions.problem(line):
            console.print(problem)
        else:
            pool = engine.retrieve(line, selection.POOL)
            found = engine.answer_from(line, pool)
            showing.reply(console, found, engine.bundle.site.route, remarks=pool.remarks)
