"""What a build hands over once MkDocs has written the site."""

from dataclasses import dataclass
from pathlib import Path

from ..build.facts import Facts
from ..build.workers import Workers
from ..serve.embedder import Embedder
from .config import AnswerableConfig
from .reading import Site


@dataclass(frozen=True, slots=True)
class Built:
    """The options, a site for each language, and where they lie.

    ``author``: the site_author. ``strict``: a warning fails the build. ``facts``: what the widget
    is told.
    """

    options: AnswerableConfig
    sites: list[Site]
    folder: Path
    embedder: Embedder
    workers: Workers
    author: str | None
    strict: bool
    facts: Facts

    @property
    def cache(self) -> Path:
        """Where vectors and pages are kept between builds."""
        return Path(self.options.cache)
