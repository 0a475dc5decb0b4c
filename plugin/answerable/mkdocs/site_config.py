"""Read a site's mkdocs.yml for commands, or rebuild and index the site without publishing it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, ConfigurationError, MkDocsException

from ..evaluate.entailment import EntailmentJudge
from ..evaluate.gold_sources import NoteSources, make_note_sources
from ..evaluate.run_costs import ModelPrice
from ..indexing.answer_place import find_function
from ..indexing.index import SiteIndex
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder
from ..serve.errors import SiteError
from ..serve.provider_registry import answers_in_process
from ..serve.settings import BUNDLE_FOLDER
from ..serve.vectors.encodings import Encoding
from .config import AnswerableConfig, JudgeOptions
from .options import resolve_encoding, resolve_gold_path, resolve_profile
from .pages import FinishedBuild
from .plugin import AnswerablePlugin
from .publish import index_unpublished_site


class MissingPluginError(SiteError):
    """Say that a site's configuration lacks the plugin."""


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """Hold the files and folders of a site, resolved; ``author`` is its site_author.

    ``published``: the folders whose files are published, docs_dir and site_dir.
    ``prices``: of a million tokens, by the name of a model. ``check_negation``: whether gold
    queries compare claims with their quotes by negation, unless they say otherwise.
    ``function``: as the option names it, whether the last build has written it or not.
    """

    function: Path
    notebook: Path | None
    gold: Path
    enrichment: Path | None
    abbreviations: Path | None
    cache: Path
    author: str | None
    published: tuple[Path, Path]
    prices: Mapping[str, ModelPrice]
    check_negation: bool
    judge: EntailmentJudge | None

    @property
    def bundle(self) -> Path:
        """Return the folder of the last build's bundle, in the function or else in the cache."""
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
        published=(Path(config.docs_dir), Path(config.site_dir)),
        prices={
            name: ModelPrice(price.input, price.output)
            for name, price in options.evaluate.prices.items()
        },
        check_negation=options.evaluate.check_negation,
        judge=_read_judge(options.evaluate.judge),
    )


def _read_judge(options: JudgeOptions) -> EntailmentJudge | None:
    if not options.model:
        return None
    return EntailmentJudge(options.model, options.base_url or None, options.required)


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
    raise MissingPluginError(
        f"{config.config_file_path}: plugins: `answerable` is not among them; add it"
    )


@dataclass(frozen=True, slots=True)
class RebuiltSite:
    """Hold a site's index as a build makes it now, with the options that it depends on.

    ``words``: of a passage. ``full``: its answers cost nothing, so that a gate judges them too.
    ``check_negation``: of gold queries that do not say.
    """

    index: SiteIndex
    notes: NoteSources
    embedder: Embedder
    profile: Profile
    encoding: Encoding
    words: int
    full: bool
    gold: Path
    author: str | None
    cache: Path
    check_negation: bool


def rebuild_site(config_file: Path, words: int | None = None) -> RebuiltSite:
    """Build a site and index it; nothing of it is published, SiteError if it cannot be built.

    words: the length of a passage instead of the option's.
    """
    rebuilt: list[RebuiltSite] = []
    with TemporaryDirectory(prefix="answerable-") as folder:
        build_unpublished(
            config_file, folder, lambda built: rebuilt.append(_index_rebuilt(built)), words
        )
    if not rebuilt:
        raise SiteError(f"{config_file}: the site has no page to index; write one")
    return rebuilt[0]


def build_unpublished(
    config_file: Path,
    site_folder: str,
    handler: Callable[[FinishedBuild], None],
    words: int | None = None,
) -> None:
    """Build a site into a folder; the handler gets what a build would publish.

    words: as in ``rebuild_site``. SiteError if the site cannot be built.
    """
    config = load_mkdocs_config(config_file, site_dir=site_folder)
    plugin = find_plugin(config)
    if words is not None:
        plugin.config.passages.words = words
    plugin.build_handler = handler
    try:
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    except (Abort, MkDocsException) as error:
        raise SiteError(f"{config_file}: the site cannot be built ({error})") from None
    finally:
        config.plugins.on_shutdown()
        # MkDocs keeps a plugin with `on_startup` for the next configuration it loads.
        plugin.build_handler = None


def _index_rebuilt(built: FinishedBuild) -> RebuiltSite:
    options: AnswerableConfig = built.options
    if options.languages == "apart" and len(built.sites) > 1:
        raise SiteError(
            "languages: apart gives each language a bundle, and the gold set is of all of them; "
            "judge the site with `languages: together`"
        )
    index, notebook = index_unpublished_site(built)
    return RebuiltSite(
        index=index,
        notes=make_note_sources(notebook.ids, notebook.unrouted_paths),
        embedder=built.embedder,
        profile=resolve_profile(options, index),
        encoding=resolve_encoding(options),
        words=options.passages.words,
        full=answers_in_process(options.answers.provider),
        gold=resolve_gold_path(options),
        author=built.author,
        cache=built.cache,
        check_negation=options.evaluate.check_negation,
    )
