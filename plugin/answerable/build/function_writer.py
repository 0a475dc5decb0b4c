"""The answer function's folder: the serving code, its requirements and the local model."""

import importlib.util
import py_compile
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from py_compile import PycInvalidationMode

from .. import serve
from ..serve import local_embedder
from ..serve.embedder import Identity
from ..serve.errors import EmbedderError, SiteError
from ..serve.provided import ANSWERERS, EMBEDDERS, Provider
from ..serve.settings import BUNDLE, FILE, MODEL, Settings
from . import files, swap

# What serve/ imports in any case, by distribution.
REQUIREMENTS = ("limits", "numpy", "snowballstemmer")
# The compiled scan: 45 MB of a function, which it earns where numpy would take milliseconds.
KERNEL = "numkong"
KERNEL_WORTH = 8_000_000
# What an installation brings only where it is asked for.
_EXTRAS = {
    distribution: f"[{name}]"
    for name, provider in (*EMBEDDERS.items(), *ANSWERERS.items())
    if provider.host
    for distribution in provider.requirements
}
_STORE_REQUIREMENTS = ("psycopg", "psycopg-binary")

# What a build leaves in a function folder, so that the next one knows it for its own.
_MARKS = ("answerable/serve", f"{BUNDLE}/manifest.json")
_PACKAGE_DOC = '"""The serving part of mkdocs-answerable."""\n'


def model_folder() -> Path:
    """Where the installed wordllama keeps its two data files; the package is not imported.

    EmbedderError if it is not installed.
    """
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderError("wordllama is not installed: run `pip install wordllama==0.2.2.post0`")
    return Path(spec.origin).parent


def check(folder: Path) -> None:
    """Refuse a folder that is not empty and that no build has written; SiteError.

    One may hold others, of the versions or the languages of a site.
    """
    if not folder.exists() or _is_function(folder):
        return
    if any(not files.is_ours(path.name) and not _is_function(path) for path in folder.iterdir()):
        raise SiteError(
            f"function: {folder} holds files that no build has written; choose another folder"
        )


def _is_function(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)


def write(folder: Path, identity: Identity, settings: Settings, scanned: int = 0) -> None:
    """Write everything in a function folder but its bundle; what is there already is left alone.

    Its owner alone can read it: beside it lie vectors of notes.
    scanned: the bytes of vectors that a question is held against.
    """
    check(folder)
    files.make_private(folder)
    # Found to be missing before anything of the last build is replaced.
    requirements = _requirements(identity, settings, scanned)
    model = (folder / MODEL / name for name in (local_embedder.WEIGHTS, local_embedder.TOKENIZER))
    for place in {folder, folder / MODEL, *(path.parent for path in model)}:
        files.remove_leftovers(place)
    source = Path(serve.__file__).parent
    code = {
        f"serve/{path.relative_to(source).as_posix()}": path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.suffix in (".py", ".jinja") and path.name != "main.py"
    }
    code["__init__.py"] = _PACKAGE_DOC.encode()
    _replace_tree(folder / "answerable", code)
    if identity.provider == "local":
        for name in (local_embedder.WEIGHTS, local_embedder.TOKENIZER):
            files.copy_private(model_folder() / name, folder / MODEL / name)
        files.write_private(folder / MODEL / "LICENSE", _model_license())
    files.write_private(folder / "requirements.txt", requirements)
    files.write_private(folder / FILE, settings.as_json())
    files.write_private(folder / "main.py", (source / "web" / "main.py").read_bytes())


def _requirements(identity: Identity, settings: Settings, scanned: int) -> bytes:
    """What the function needs for its providers, pinned to what the bundle was built with.

    SiteError if some of it is not installed here.
    """
    kernel = (KERNEL,) if scanned >= KERNEL_WORTH and _is_installed(KERNEL) else ()
    # Whoever opens a function says which embedder it does not know.
    embedder = EMBEDDERS.get(identity.provider, Provider())
    names = [*REQUIREMENTS, *kernel, *embedder.requirements]
    names += ANSWERERS[settings.answers].requirements
    if settings.store:
        names += (name for name in _STORE_REQUIREMENTS if _is_installed(name))
    return "".join(f"{n}=={_version(n)}\n" for n in sorted(set(names))).encode()


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        extra = _EXTRAS.get(distribution, "")
        raise SiteError(
            f"the function needs the package {distribution}, which is not installed: run "
            f"`pip install 'mkdocs-answerable{extra}'`"
        ) from None


def _replace_tree(folder: Path, contents: dict[str, bytes]) -> None:
    """Replace a folder of code as a whole, so that no two versions of it are ever mixed."""
    found = _read_tree(folder)
    if found == contents and _is_compiled(folder, contents):
        return
    if any(name != "__init__.py" and not name.startswith("serve/") for name in found):
        raise SiteError(
            f"function: {folder} holds code that no build has written; choose another folder"
        )
    fresh = files.temporary_for(folder)
    for name, data in contents.items():
        files.write_private(fresh / name, data)
    _compile(fresh, folder.name)
    swap.replace(fresh, folder)


def _compile(folder: Path, name: str) -> None:
    """Put bytecode beside the code, as this Python reads it.

    A function's folder cannot be written where it runs, so each cold start would compile it again.
    Nor is its time kept on the way there, so the bytecode is not checked against it.
    """
    for path in list(folder.rglob("*.py")):
        # The bytecode has the mode of its code, and the folder that it would make has the umask's.
        files.make_private(_bytecode(path).parent)
        py_compile.compile(
            str(path),
            str(_bytecode(path)),
            f"{name}/{path.relative_to(folder).as_posix()}",
            doraise=True,
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )


def _bytecode(path: Path) -> Path:
    """Where this Python looks for a file's bytecode, unless it is told to keep all elsewhere."""
    return path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"


def _is_compiled(folder: Path, contents: Iterable[str]) -> bool:
    """Whether there is bytecode for this Python beside all code."""
    return all(_bytecode(folder / name).is_file() for name in contents if name.endswith(".py"))


def _read_tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _model_license() -> bytes:
    """The licence that the model's files are shipped under, beside their copies."""
    found = metadata.files("wordllama") or []
    texts = [Path(str(f.locate())).read_bytes() for f in found if f.name.startswith("LICENSE")]
    return b"\n".join(texts)
