"""How a build tells of its progress: a bar on a terminal, a log line elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .embedding_cache import ReportProgress as Report


@contextmanager
def show_progress(what: str = "embedding") -> Iterator[Report | None]:
    """A progress callback, or None where standard error is not a terminal.

    what: is being done. The bar appears with the first report, so a build that embeds nothing
    shows none.
    """
    if not sys.stderr.isatty():
        yield None
        return
    # Only here, since most builds show no bar.
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    bar = Progress(console=console, transient=True)
    task = bar.add_task(f"answerable: {what}", total=None)

    def report(done: int, total: int) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        bar.stop()
