"""Configuration of a site for the commands, read from its mkdocs.yml."""

from dataclasses import dataclass
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import ConfigurationError

from ..serve.errors import SiteError
from ..serve.settings import BUNDLE_FOLDER
from .options import resolve_gold_path
from .plugin import AnswerablePlugin


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """Hold the files and folders of a site, resolved; ``author`` is its site_author."""

    bundle: Path
    notebook: Path | None
    gold: Path
    enrichment: Path | None
    abbreviations: Path | None
    cache: Path
    author: str | None


def load_site_config(config_file: Path) -> SiteConfig:
    """Read a site's configuration; SiteError if it cannot be read or lacks the plugin."""
    config = load_mkdocs_config(config_file)
    options = find_plugin(config).config
    return SiteConfig(
        bundle=Path(options.function) / BUNDLE_FOLDER,
        notebook=Path(options.notebook) if options.notebook else None,
        gold=resolve_gold_path(options),
        enrichment=Path(options.enrichment) if options.enrichment else None,
        abbreviations=Path(options.abbreviations) if options.abbreviations else None,
        cache=Path(options.cache),
        author=config.site_author,
    )


def load_mkdocs_config(config_file: Path, site_dir: str | None = None) -> MkDocsConfig:
    """Load MkDocs' configuration from a file; SiteError if it cannot be read.

    site_dir: where the site is written instead.
    """
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
