"""What the commands need to know of a site: read from its mkdocs.yml."""

from dataclasses import dataclass
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.exceptions import ConfigurationError

from ..serve.errors import SiteError
from ..serve.providers import BUNDLE
from .plugin import AnswerablePlugin


@dataclass(frozen=True, slots=True)
class Settings:
    """A site's places, resolved; ``author`` is its site_author."""

    bundle: Path
    notebook: Path | None
    author: str | None


def load(config_file: Path) -> Settings:
    """Read a site's configuration; SiteError if it cannot be read or lacks the plugin."""
    try:
        config = load_config(str(config_file))
    except (ConfigurationError, FileNotFoundError) as error:
        raise SiteError(f"{config_file} cannot be read: {error}") from None
    for plugin in config.plugins.values():
        if isinstance(plugin, AnswerablePlugin):
            options = plugin.config
            return Settings(
                bundle=Path(options.function) / BUNDLE,
                notebook=Path(options.notebook) if options.notebook else None,
                author=config.site_author,
            )
    raise SiteError(f"{config_file}: plugins: `answerable` is not among them; add it")
