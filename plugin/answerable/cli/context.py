"""The argument QUESTION, which is one text.

What somebody has typed, read as the function would read it.

Where a command finds its bundle, and the engine over it.
"""

from pathlib import Path

import click

from ..indexing.notes.notebook import Notebook, read_notebook
from ..indexing.output.function_writer import find_model_folder
from ..serve import settings
from ..serve.bundle_format.manifest import MANIFEST_FILE
from ..serve.engine import Engine
from ..serve.errors import BundleError, SiteError
from ..serve.providers import make_embedder, make_engine
from ..serve.retrieval import question_text
from ..serve.retrieval.question_text import find_question_problem
from ..serve.settings import FunctionSettings, read_settings
from ..serve.stores.bundle import Bundle
from ..serve.stores.bundle_reader import open_bundle
from ..serve.text.languages import is_language_tag


def _require_one_text(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> str:
    """The question; UsageError if the shell has taken it apart."""
    del param
    if len(words) > 1:
        raise click.UsageError(
            f'put the question in quotes: {ctx.command_path} "{" ".join(words)}"', ctx
        )
    return words[0]


question_argument = click.argument(
    "question", nargs=-1, required=True, metavar="QUESTION", callback=_require_one_text
)


def clean_question(text: str) -> str:
    """A cleaned question; ClickException if the function would refuse it."""
    cleaned = question_text.clean_question(text)
    if problem := find_question_problem(cleaned):
        raise click.ClickException(problem)
    return cleaned


def check_language_tag(language: str | None) -> None:
    """ClickException for what is no language tag."""
    if language is not None and not is_language_tag(language):
        raise click.ClickException(f"--language: {language!r} is no tag such as en or pt-BR")


DEFAULT_BUNDLE = Path("function", settings.BUNDLE_FOLDER)


def find_bundle(bundle: Path | None, config_file: Path) -> Path:
    """The folder that was named, else the one that mkdocs.yml names, else the default one."""
    if bundle:
        return bundle
    if not config_file.is_file():
        return _find_default_bundle(config_file)
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs.site_config import load_site_config

    return load_site_config(config_file).bundle


def _find_default_bundle(config_file: Path) -> Path:
    """The default bundle where there is no configuration; SiteError if that is missing too."""
    folder = config_file.parent / DEFAULT_BUNDLE
    if not folder.is_dir() and not _find_sibling_bundles(folder):
        raise SiteError(
            f"there is no {config_file}: run this in the site's folder, or name the site's "
            "configuration with -f FILE, or a bundle with --bundle FOLDER"
        )
    return folder


def open_engine(bundle: Path | None, config_file: Path) -> Engine[Bundle]:
    """An engine over the site's bundle."""
    folder = find_bundle(bundle, config_file)
    _require_bundle(folder)
    opened = open_bundle(folder)
    chosen = read_function_settings(folder)
    embedder = make_embedder(opened.manifest.identity, find_model_folder(), chosen)
    return make_engine(opened, embedder, chosen)


def read_site_notebook(folder: Path | str | None) -> Notebook:
    """The notebook of a site that was built, an empty one for None; NotebookError."""
    return read_notebook(Path(folder), writes_key=False) if folder else Notebook()


def read_function_settings(bundle: Path) -> FunctionSettings:
    """What the function that a bundle belongs to is told of its providers."""
    return read_settings(bundle.parent)


def _require_bundle(folder: Path) -> None:
    """BundleError where a site has no such bundle, but one for each language or version."""
    path = folder / MANIFEST_FILE
    if not path.exists() and (others := _find_sibling_bundles(folder)):
        named = " or ".join(f"--bundle {_shorten_path(other)}" for other in others)
        raise BundleError(f"{_shorten_path(path)} does not exist: name one with {named}")


def _find_sibling_bundles(folder: Path) -> list[Path]:
    """The bundles of the function folders beside a bundle, by language, version or both."""
    inner = f"*/{settings.BUNDLE_FOLDER}/{MANIFEST_FILE}"
    found = (path for pattern in (inner, f"*/{inner}") for path in folder.parent.glob(pattern))
    return sorted(path.parent for path in found)


def _shorten_path(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
