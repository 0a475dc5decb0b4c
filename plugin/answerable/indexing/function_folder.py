"""Write a function's folder but its bundle: code, requirements, Dockerfile, settings, model."""

import compileall
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path
from py_compile import PycInvalidationMode

from .. import engine
from ..engine.errors import SiteError
from ..engine.providers import BUILTIN, STORE_PACKAGE, find_provider, list_providers
from ..engine.settings import BUNDLE_FOLDER, MODEL_FOLDER, SETTINGS_FILE, FunctionSettings
from ..engine.vectors import EmbedderIdentity
from .files import (
    PRIVATE_FOLDER_MODE,
    is_lock_or_leftover,
    make_private_folder,
    read_folder,
    remove_leftovers,
    restrict_mode,
    write_folder,
    write_private_file,
)
from .local_model import PACKAGED_MODEL

# What engine/ and main.py import in any case, by distribution.
BASE_REQUIREMENTS = ("msgspec", "numpy", "starlette", "uvicorn")
# The extra that installs each optional package.
_EXTRA_BY_PACKAGE = {
    distribution: f"[{name}]"
    for providers in BUILTIN.values()
    for name, provider in providers.items()
    if provider.host
    for distribution in provider.requirements
}
# Of the Python that has built the folder, since its bytecode is for that one alone.
_DOCKERFILE = """\
FROM python:{version}-slim
ENV HOST=0.0.0.0 PORT=8000
WORKDIR /srv
COPY requirements.txt .
RUN pip install --no-cache-dir --only-binary=:all: -r requirements.txt
COPY --chown=10001 . .
USER 10001
EXPOSE 8000
CMD ["python", "-I", "main.py"]
"""
_STORE_REQUIREMENTS = ("psycopg", "psycopg-binary", "psycopg-pool")

# What a build leaves in a function folder, so that the next one recognizes it.
_FUNCTION_MARKERS = ("answerable/engine", f"{BUNDLE_FOLDER}/manifest.json")


def check_function_folder(folder: Path) -> None:
    """Refuse a folder that is not empty and that no build has written; SiteError.

    One may hold others, of the versions of a site.
    """
    if not folder.exists() or _is_function_folder(folder):
        return
    others = (path for path in folder.iterdir() if not is_lock_or_leftover(path.name))
    if not all(map(_is_function_folder, others)):
        raise SiteError(
            f"function: {folder} holds files that no build has written; choose another folder"
        )


def _is_function_folder(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _FUNCTION_MARKERS)


def write_function(folder: Path, identity: EmbedderIdentity, settings: FunctionSettings) -> None:
    """Write everything in a function folder but its bundle; equal files are left alone.

    Its owner alone can read it: beside it lie vectors of notes.
    """
    check_function_folder(folder)
    make_private_folder(folder)
    # Before anything of the last build is replaced: a package may be missing.
    requirements = _pin_requirements(identity, settings)
    model = folder / MODEL_FOLDER
    for place in (folder, model):
        remove_leftovers(place)
    source = Path(engine.__file__).parent.parent
    rooms = ("engine", "function", *((STORE_PACKAGE,) if settings.store else ()))
    code = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for room in rooms
        for path in sorted((source / room).rglob("*"))
        if path.suffix in (".py", ".jinja", ".json") and path.name != "main.py"
    }
    # Its names are all of engine/, so that a registered provider imports them there too.
    code["__init__.py"] = (source / "__init__.py").read_bytes()
    _replace_code(folder / "answerable", code)
    if identity.provider == "local":
        files = {file.name: file.read_bytes() for file in PACKAGED_MODEL.iterdir()}
        write_folder(model, files, is_private=True)
    write_private_file(folder / "requirements.txt", requirements)
    version = ".".join(map(str, sys.version_info[:2]))
    write_private_file(folder / "Dockerfile", _DOCKERFILE.format(version=version).encode())
    write_private_file(folder / SETTINGS_FILE, settings.as_json())
    write_private_file(folder / "main.py", (source / "function" / "main.py").read_bytes())


def _pin_requirements(identity: EmbedderIdentity, settings: FunctionSettings) -> bytes:
    """Pin what the function needs for its providers to what the bundle was built with.

    SiteError if some of it is not installed here.
    """
    names = [*BASE_REQUIREMENTS, *find_provider("answerer", settings.answers).requirements]
    # An embedder that is not registered here is reported where the function is opened.
    if identity.provider in list_providers("embedder"):
        names += find_provider("embedder", identity.provider).requirements
    store = _STORE_REQUIREMENTS if settings.store else ()
    names += [name for name in store if any(metadata.distributions(name=name))]
    return "".join(f"{n}=={_installed_version(n)}\n" for n in sorted(set(names))).encode()


def _installed_version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        extra = _EXTRA_BY_PACKAGE.get(distribution, "")
        raise SiteError(
            f"the function needs the package {distribution}, which is not installed: run "
            f"`pip install 'mkdocs-answerable{extra}'`"
        ) from None


def _replace_code(folder: Path, code: Mapping[str, bytes]) -> None:
    """Replace a folder of code as a whole, so that no two versions of it are ever mixed."""
    own = ("__init__.py", "engine/", "function/", f"{STORE_PACKAGE}/")
    if any(not name.startswith(own) for name in read_folder(folder)):
        raise SiteError(
            f"function: {folder} holds code that no build has written; choose another folder"
        )
    write_folder(folder, code, is_private=True)
    if not _is_compiled(folder, code):
        _compile_code(folder)


def _compile_code(folder: Path) -> None:
    """Put bytecode beside the code, as this Python reads it.

    A function's folder cannot be written where it runs, so each cold start would compile it again.
    Nor is its time kept on the way there, so the bytecode is not checked against it.
    """
    mode = PycInvalidationMode.UNCHECKED_HASH
    # Also what a function that was started meanwhile has compiled by times.
    compileall.compile_dir(folder, ddir=folder.name, quiet=2, force=True, invalidation_mode=mode)
    for path in folder.rglob("__pycache__"):
        restrict_mode(path, PRIVATE_FOLDER_MODE)


def _is_compiled(folder: Path, contents: Iterable[str]) -> bool:
    """True if there is bytecode for this Python beside all code."""
    paths = (folder / name for name in contents if name.endswith(".py"))
    return all(Path(cache_from_source(path)).is_file() for path in paths)
