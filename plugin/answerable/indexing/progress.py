"""Draw a progress bar on the terminal by a callback; without a terminal there is no callback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .embedding_cache import ReportProgress


@contextmanager
def show_progress(activity: str = "embedding") -> Iterator[ReportProgress | None]:
    """Yield a callback that draws a bar; None where standard error is not a terminal.

    The bar appears with the first report, so a build that embeds nothing shows none.
    """
    if not sys.stderr.isatty():
        yield None
        return
    # Imported late: most builds show no bar.
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    bar = Progress(console=console, transient=True)
    task = bar.add_task(f"answerable: {activity}", total=None)

    def report(done: int, total: int) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        bar.stop()
