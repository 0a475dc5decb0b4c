"""A site built once more into a folder that is thrown away: for commands that judge its index."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.commands.build import build
from mkdocs.exceptions import Abort, MkDocsException

from ..build.index import Index
from ..build.notebook import Notebook
from ..serve import provided
from ..serve.embedder import Embedder
from ..serve.encoding import Encoding
from ..serve.errors import SiteError
from ..serve.profile import Profile
from . import choices, publishing, settings
from .built import Built
from .config import AnswerableConfig


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A site's index as a build makes it now, and what its options say of it.

    ``full``: whether its answers cost nothing, so that a gate can judge them too.
    """

    index: Index
    private: Notebook
    embedder: Embedder
    profile: Profile
    encoding: Encoding
    words: int
    full: bool
    gold: Path
    author: str | None
    cache: Path


def rebuild(config_file: Path, words: int | None = None) -> Rebuilt:
    """Build a site and index it; nothing of it is published, SiteError if it cannot be built.

    words: the length of a passage instead of the option's.
    """
    found: list[Rebuilt] = []
    with TemporaryDirectory(prefix="answerable-") as folder:
        config = settings.read(config_file, site_dir=folder)
        plugin = settings.plugin(config)
        if words is not None:
            plugin.config.passages.words = words
        plugin.instead = lambda built: found.append(_rebuilt(built))
        try:
            config.plugins.on_startup(command="build", dirty=False)
            build(config)
        except (Abort, MkDocsException) as error:
            raise SiteError(f"{config_file}: the site cannot be built ({error})") from None
        finally:
            config.plugins.on_shutdown()
            # MkDocs keeps a plugin with `on_startup` for the next configuration it loads.
            plugin.instead = None
    if not found:
        raise SiteError(f"{config_file}: the site has no page to index")
    return found[0]


def _rebuilt(built: Built) -> Rebuilt:
    options: AnswerableConfig = built.options
    if options.languages == "apart" and len(built.sites) > 1:
        raise SiteError(
            "languages: apart gives each language a bundle, and the gold set is of all of them; "
            "judge the site with `languages: together`"
        )
    index, private = publishing.indexed(built)
    return Rebuilt(
        index=index,
        private=private,
        embedder=built.embedder,
        profile=choices.profile(options, index),
        encoding=choices.encoding(options),
        words=options.passages.words,
        full=provided.answers_here(options.answers.provider),
        gold=choices.gold(options),
        author=built.author,
        cache=built.cache,
    )
