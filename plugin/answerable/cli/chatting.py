"""``answerable chat``: one question at a time, nothing remembered."""

from pathlib import Path

from rich.console import Console

from . import opening, showing

_HELP = "Ask a question; each one stands alone. /help shows this, /quit (or Ctrl-D) leaves."


def chat(bundle: Path | None, config_file: Path) -> None:
    """Read questions until the reader leaves."""
    console = Console()
    engine = opening.engine(bundle, config_file)
    console.print(f"[bold]{engine.bundle.site.name}[/bold]  {_HELP}")
    while True:
        try:
            line = console.input("\n[bold cyan]?[/bold cyan] ").strip()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if line in ("/quit", "/exit", "/q"):
            return
        if line.startswith("/"):
            console.print(_HELP)
        elif line:
            showing.reply(console, engine.answer(line), engine.bundle.site.route)
