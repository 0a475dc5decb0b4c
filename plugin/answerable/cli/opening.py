"""Where a command finds its bundle, and the engine over it."""

from pathlib import Path

from ..build import notebook
from ..build.function_writer import model_folder
from ..build.notebook import Notebook
from ..serve import providers, settings
from ..serve.engine import Engine
from ..serve.errors import BundleError, SiteError
from ..serve.manifest import MANIFEST
from ..serve.opening import open_bundle

DEFAULT = Path("function", settings.BUNDLE)


def bundle_folder(bundle: Path | None, config_file: Path) -> Path:
    """The folder that was named, else the one that mkdocs.yml names, else the default one."""
    if bundle:
        return bundle
    if not config_file.is_file():
        return _without_site(config_file)
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs import settings as site

    return site.load(config_file).bundle


def _without_site(config_file: Path) -> Path:
    """The default bundle where there is no configuration; SiteError if that is missing too."""
    folder = config_file.parent / DEFAULT
    if not folder.is_dir() and not _others(folder):
        raise SiteError(
            f"there is no {config_file}: run this in the site's folder, or name the site's "
            "configuration with -f FILE, or a bundle with --bundle FOLDER"
        )
    return folder


def engine(bundle: Path | None, config_file: Path) -> Engine:
    """An engine over the site's bundle."""
    folder = bundle_folder(bundle, config_file)
    _check_present(folder)
    opened = open_bundle(folder)
    chosen = settings_of(folder)
    embedder = providers.embedder(opened.manifest.identity, model_folder(), chosen)
    return providers.engine(opened, embedder, chosen)


def notebook_of(folder: Path | str | None) -> Notebook:
    """The notebook of a site that was built, an empty one for None; NotebookError."""
    return notebook.read_all(Path(folder), writes_key=False) if folder else Notebook()


def settings_of(bundle: Path) -> settings.Settings:
    """What the function that a bundle belongs to is told of its providers."""
    return settings.read(bundle.parent)


def _check_present(folder: Path) -> None:
    """BundleError where a site has no such bundle, but one for each language or version."""
    path = folder / MANIFEST
    if not path.exists() and (others := _others(folder)):
        named = " or ".join(f"--bundle {_shown(other)}" for other in others)
        raise BundleError(f"{_shown(path)} does not exist: name one with {named}")


def _others(folder: Path) -> list[Path]:
    """The bundles of the function folders beside a bundle, by language, version or both."""
    inner = f"*/{settings.BUNDLE}/{MANIFEST}"
    found = (path for pattern in (inner, f"*/{inner}") for path in folder.parent.glob(pattern))
    return sorted(path.parent for path in found)


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
