"""What of a function folder goes into a package: known files, not all that lies there."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...serve import local_embedder, provided, settings
from ...serve.errors import SiteError
from ...serve.manifest import MANIFEST, Manifest, stored_name
from ...serve.opening import open_bundle
from ...serve.settings import BUNDLE, MODEL, Settings

CODE = "answerable"
REQUIREMENTS = "requirements.txt"

_AGAIN = "run `mkdocs build` again"
_CODE_SUFFIXES = (".py", ".jinja")


@dataclass(frozen=True, slots=True)
class Contents:
    """A function's own files: from the name in its folder to where each lies.

    requirements: the lines of its requirements.txt. keys: the environment's variables of its
    providers' keys. is_stored: a database serves it, and its bundle stays where it was built.
    """

    files: dict[str, Path]
    requirements: tuple[str, ...]
    keys: tuple[str, ...]
    is_stored: bool


def read(folder: Path, adapter: str) -> Contents:
    """The files of a function folder, its data compared with their hashes.

    adapter: the module of ``serve/web/`` that has to be there. SiteError or BundleError for a
    folder that cannot be packaged.
    """
    if not (folder / BUNDLE / MANIFEST).is_file():
        raise SiteError(
            f"{folder} is no function's folder: name the one that holds {BUNDLE}/{MANIFEST} with "
            "--function"
        )
    manifest = open_bundle(folder / BUNDLE).manifest
    embedder = manifest.identity.provider
    if embedder not in provided.EMBEDDERS:
        raise SiteError(
            f"{folder}: embedder provider {embedder!r:.80} is unknown to this version: upgrade "
            "mkdocs-answerable"
        )
    chosen = settings.read(folder)
    _check_addresses(folder, chosen)
    bundle = () if chosen.store else _bundle(manifest)
    names = [*_code(folder), *bundle, settings.FILE]
    if embedder == "local":
        local_embedder.load(folder / MODEL)
        names += [f"{MODEL}/{local_embedder.WEIGHTS}", f"{MODEL}/{local_embedder.TOKENIZER}"]
        names += [f"{MODEL}/LICENSE"]
    found = {name: folder / name for name in names}
    needed = (f"{CODE}/serve/web/{adapter}.py", settings.FILE)
    for name in (*found, *needed):
        if name not in found or not (folder / name).is_file():
            raise SiteError(f"{folder / name} is missing: {_AGAIN}")
    keys = provided.keys(embedder, chosen.answers)
    return Contents(found, _requirements(folder), keys, chosen.store is not None)


def _code(folder: Path) -> list[str]:
    """The code of the serving part; its bytecode is made anew, for the Python that will run it."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / CODE).rglob("*"))
        if path.suffix in _CODE_SUFFIXES and path.is_file()
    ]


def _bundle(manifest: Manifest) -> list[str]:
    """The files that the manifest names: an earlier build's may still lie beside them."""
    names = (stored_name(name, file.sha256) for name, file in manifest.files.items())
    return [f"{BUNDLE}/{name}" for name in (MANIFEST, *names)]


def _requirements(folder: Path) -> tuple[str, ...]:
    path = folder / REQUIREMENTS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise SiteError(f"{path} cannot be read: {_AGAIN}") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _check_addresses(folder: Path, chosen: Settings) -> None:
    """Refuse a provider's address that carries a password: a package holds no secret."""
    for name in ("base_url", "embedding_base_url"):
        address = urlsplit(getattr(chosen, name) or "")
        if address.username or address.password:
            raise SiteError(
                f"{folder / settings.FILE}: {name} holds a user name or a password, and a package "
                "holds no secret; take it out of mkdocs.yml and build again"
            )
