"""Read a site's configuration for commands, and find its last build."""

from pathlib import Path

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import ConfigurationError

from ..engine.errors import SiteError
from ..engine.settings import BUNDLE_FOLDER
from ..indexing.answer_place import find_function
from ..indexing.generators import detect_generator, read_project
from .built_sites import load_built_site_config
from .options import AnswerableConfig, list_input_files
from .plugin import AnswerablePlugin


def load_site(config_file: Path) -> tuple[MkDocsConfig, AnswerableConfig]:
    """Load a site's configuration, and the plugin's options in it.

    SiteError if it cannot be read or lacks the plugin.
    """
    config = load_mkdocs_config(config_file)
    return config, find_plugin(config).config


def find_last_bundle(options: AnswerableConfig) -> Path:
    """Find the folder of the last build's bundle, in the function or else in the cache."""
    return find_function(Path(options.function), Path(options.cache)) / BUNDLE_FOLDER


def find_newer_source(
    config_file: Path, config: MkDocsConfig, options: AnswerableConfig, time: float
) -> Path | None:
    """Find a file that a build would read and that has changed since a time; None without one."""
    pages = [Path(config.docs_dir)] if config.docs_dir else []
    sources = [config_file, *pages, *list_input_files(options)]
    built = (config.site_dir, options.cache, options.function)
    files = (path for source in sources for path in (source, *source.rglob("*")))
    newer = (path for path in files if path.is_file() and path.stat().st_mtime > time)
    return next((p for p in newer if not any(map(p.is_relative_to, built))), None)


def load_mkdocs_config(config_file: Path) -> MkDocsConfig:
    """Load a site's configuration, of whatever generator; SiteError if it cannot be read."""
    if detect_generator(config_file) != "mkdocs":
        return load_built_site_config(read_project(config_file))
    try:
        return load_config(str(config_file))
    except (ConfigurationError, FileNotFoundError) as error:
        raise SiteError(f"{config_file} cannot be read: {error}") from None


def find_plugin(config: MkDocsConfig) -> AnswerablePlugin:
    """Find this plugin in a configuration; SiteError if it is not there."""
    for plugin in config.plugins.values():
        if isinstance(plugin, AnswerablePlugin):
            return plugin
    raise SiteError(f"{config.config_file_path}: plugins: `answerable` is not among them; add it")
