"""Read a site's mkdocs.yml for commands, or rebuild and index the site without publishing it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, ConfigurationError, MkDocsException

from ..engine.errors import SiteError
from ..engine.settings import BUNDLE_FOLDER
from ..indexing.answer_place import find_function
from ..indexing.generators import (
    detect_generator,
    read_project,
)
from .built_sites import load_built_site_config
from .options import list_input_files, resolve_gold_path
from .plugin import AnswerablePlugin


class _TakingHandler(logging.Handler):
    """A handler that hands each message on to a function."""

    def __init__(self, take: Callable[[str], object]) -> None:
        super().__init__()
        self._take = take

    def emit(self, record: logging.LogRecord) -> None:
        self._take(record.getMessage())


@contextmanager
def take_log(name: str, take: Callable[[str], object], level: int) -> Iterator[None]:
    """Hand the messages of a logger from a level on to a function, and to nobody else."""
    logger, handler = logging.getLogger(name), _TakingHandler(take)
    level_before, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level_before)
        logger.propagate = propagates


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The files and folders of a site, resolved; ``author`` is its site_author.

    ``function``: as the option names it, whether the last build has written it or not. ``sources``:
    what a build reads, of which not all need exist. ``site``: what it writes.
    """

    function: Path
    notebook: Path | None
    gold: Path
    enrichment: Path | None
    abbreviations: Path | None
    cache: Path
    author: str | None
    site: Path
    sources: tuple[Path, ...]

    @property
    def bundle(self) -> Path:
        """The folder of the last build's bundle, in the function or else in the cache."""
        return find_function(self.function, self.cache) / BUNDLE_FOLDER


def load_site_config(config_file: Path) -> SiteConfig:
    """Read a site's configuration; SiteError if it cannot be read or lacks the plugin."""
    config = load_mkdocs_config(config_file)
    options = find_plugin(config).config
    return SiteConfig(
        function=Path(options.function),
        notebook=Path(options.notebook) if options.notebook else None,
        gold=resolve_gold_path(options),
        enrichment=Path(options.enrichment) if options.enrichment else None,
        abbreviations=Path(options.abbreviations) if options.abbreviations else None,
        cache=Path(options.cache),
        author=config.site_author,
        site=Path(config.site_dir),
        sources=(
            config_file,
            *([Path(config.docs_dir)] if config.docs_dir else []),
            *list_input_files(options),
        ),
    )


def find_newer_source(config: SiteConfig, time: float) -> Path | None:
    """Find a file that a build would read and that has changed since a time; None without one."""
    built = (config.site, config.cache, config.function)
    files = (path for source in config.sources for path in (source, *source.rglob("*")))
    newer = (path for path in files if path.is_file() and path.stat().st_mtime > time)
    return next((p for p in newer if not any(map(p.is_relative_to, built))), None)


def load_mkdocs_config(config_file: Path, site_dir: str | None = None) -> MkDocsConfig:
    """Load a site's configuration, of whatever generator; SiteError if it cannot be read.

    site_dir: where MkDocs writes the site instead.
    """
    if detect_generator(config_file) != "mkdocs":
        return load_built_site_config(read_project(config_file))
    try:
        overrides = {"site_dir": site_dir} if site_dir else {}
        return load_config(str(config_file), **overrides)
    except (ConfigurationError, FileNotFoundError) as error:
        raise SiteError(f"{config_file} cannot be read: {error}") from None


def find_plugin(config: MkDocsConfig) -> AnswerablePlugin:
    """Find this plugin in a configuration; SiteError if it is not there."""
    for plugin in config.plugins.values():
        if isinstance(plugin, AnswerablePlugin):
            return plugin
    raise SiteError(f"{config.config_file_path}: plugins: `answerable` is not among them; add it")


def build_here(config_file: Path, config: MkDocsConfig) -> None:
    """Build a site by MkDocs in this process; SiteError if it cannot be built."""
    try:
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    except (Abort, MkDocsException) as error:
        raise SiteError(f"{config_file}: the site cannot be built ({error})") from None
    finally:
        config.plugins.on_shutdown()
