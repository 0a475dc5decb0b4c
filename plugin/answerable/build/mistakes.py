"""Collect the mistakes of a notebook, so that one build reports all of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..serve.errors import NotebookError


class Mistakes:
    """Every mistake so far, each once, as the sentence of its error."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    def add(self, error: NotebookError) -> None:
        """Note a mistake; an error of several lines is several."""
        self._sentences.update(dict.fromkeys(str(error).split("\n")))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Note a mistake that ends what is done within, and go on after it."""
        try:
            yield
        except NotebookError as error:
            self.add(error)

    def report(self) -> None:
        """Raise one NotebookError with a line for each mistake, if there are any."""
        if self._sentences:
            raise NotebookError("\n".join(self._sentences))
