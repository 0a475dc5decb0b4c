"""Open the bundle, engine and notebook of a command's site; check a question and its language."""

import math
from datetime import datetime
from pathlib import Path

import click

from ..engine.bundle import Bundle, open_bundle
from ..engine.engine import Engine
from ..engine.errors import BundleError, SiteError
from ..engine.index.manifest import MANIFEST_FILE
from ..engine.providers import make_engine
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.settings import BUNDLE_FOLDER, read_settings
from ..engine.text.tokenization import is_language_tag
from ..indexing.answer_place import find_function
from ..indexing.generators import name_build_command
from ..indexing.local_model import make_build_embedder
from ..indexing.notes.notebook import Notebook, read_notebook

# The bundle's folder, if one was named, and the site's configuration file, which need not exist.
SiteLocation = tuple[Path | None, Path]

# Of a site without mkdocs.yml, below its folder.
DEFAULT_CACHE = Path(".cache", "plugin", "answerable")


def read_question(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> str:
    """Read the question, cleaned as the function does, "" for none.

    UsageError if the shell has split it; ClickException if the function would refuse it.
    """
    del param
    if len(words) > 1:
        raise click.UsageError(
            f'put the question in quotes: {ctx.command_path} "{" ".join(words)}"', ctx
        )
    question = clean_question("".join(words))
    if words and (problem := find_question_problem(question)):
        raise click.ClickException(problem)
    return question


def _read_language(ctx: click.Context, param: click.Parameter, tag: str | None) -> str | None:
    del ctx, param
    if tag is not None and not is_language_tag(tag):
        raise click.ClickException(f"--language: {tag!r} is no tag such as en or pt-BR")
    return tag


language_option = click.option(
    "--language", callback=_read_language, help="What you ask in, such as fr: pages in it go first."
)


def refuse_bundle_option(location: SiteLocation) -> None:
    """Refuse --bundle beside the address of a site; UsageError."""
    if location[0]:
        raise click.UsageError(
            "--bundle and the address of a site both say what to ask: leave one out"
        )


def find_bundle(bundle: Path | None, config_file: Path) -> Path:
    """Find the bundle's folder: the named one, that of mkdocs.yml, or the default one.

    Says on standard error if the site has changed since, as after a build that has failed.
    """
    if bundle:
        return bundle
    if not config_file.is_file():
        site = config_file.parent
        return find_function(site / "function", site / DEFAULT_CACHE) / BUNDLE_FOLDER
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs.site_config import find_last_bundle, find_newer_source, load_site

    config, options = load_site(config_file)
    last = find_last_bundle(options)
    manifest = last / MANIFEST_FILE
    built = manifest.stat().st_mtime if manifest.is_file() else math.inf
    if newer := find_newer_source(config_file, config, options, built):
        date = datetime.fromtimestamp(built).strftime("%Y-%m-%d %H:%M")
        build = name_build_command(config_file)
        message = f"This is the index of {date}, and {_shorten_path(newer)} has changed since; "
        click.echo(f"{message}run `{build}` to ask the site as it is", err=True)
    return last


def open_engine(bundle: Path | None, config_file: Path) -> Engine[Bundle]:
    """Open an engine over the site's bundle, with the providers of its function."""
    folder = find_bundle(bundle, config_file)
    path = folder / MANIFEST_FILE
    # A site may have a bundle for each version instead.
    siblings = sorted(folder.parent.glob(f"*/{BUNDLE_FOLDER}/{MANIFEST_FILE}"))
    if siblings and not path.exists():
        choices = " or ".join(f"--bundle {_shorten_path(manifest.parent)}" for manifest in siblings)
        raise BundleError(f"{_shorten_path(path)} does not exist: name one with {choices}")
    if not (bundle or folder.is_dir() or config_file.is_file()):
        raise SiteError(
            f"there is no {config_file}: run this in the site's folder, or name the site's "
            "configuration with -f FILE, or a bundle with --bundle FOLDER"
        )
    opened = open_bundle(folder)
    settings = read_settings(folder.parent)
    embedder = make_build_embedder(opened.manifest.identity, settings)
    return make_engine(opened, embedder, settings)


def read_site_notebook(folder: Path | str | None) -> Notebook:
    """Read the notebook of a site that was built, an empty one for None; NotebookError."""
    return read_notebook(Path(folder), writes_key=False) if folder else Notebook()


def _shorten_path(path: Path) -> Path:
    folder = Path.cwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path
