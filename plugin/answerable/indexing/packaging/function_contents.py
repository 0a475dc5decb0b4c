"""What of a function folder goes into a package: known files, not all that lies there."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...serve import settings
from ...serve.bundle_format.manifest import MANIFEST_FILE, Manifest, stored_file_name
from ...serve.embedders import local_embedder
from ...serve.errors import SiteError
from ...serve.provider_registry import EMBEDDER_PROVIDERS, list_key_variables
from ...serve.settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from ...serve.stores.bundle_reader import open_bundle

CODE_FOLDER = "answerable"
REQUIREMENTS_FILE = "requirements.txt"

_AGAIN = "run `mkdocs build` again"
_CODE_SUFFIXES = (".py", ".jinja")


@dataclass(frozen=True, slots=True)
class FunctionContents:
    """A function's own files: from the name in its folder to where each lies.

    requirements: the lines of its requirements.txt. keys: the environment's variables of its
    providers' keys. is_stored: a database serves it, and its bundle stays where it was built.
    """

    files: dict[str, Path]
    requirements: tuple[str, ...]
    keys: tuple[str, ...]
    is_stored: bool


def read_function_contents(folder: Path, adapter: str) -> FunctionContents:
    """The files of a function folder, its data compared with their hashes.

    adapter: the module of ``serve/http/adapters/`` that has to be there. SiteError or BundleError
    for a     folder that cannot be packaged.
    """
    if not (folder / BUNDLE_FOLDER / MANIFEST_FILE).is_file():
        raise SiteError(
            f"{folder} is no function's folder: name the one that holds "
            f"{BUNDLE_FOLDER}/{MANIFEST_FILE} with "
            "--function"
        )
    manifest = open_bundle(folder / BUNDLE_FOLDER).manifest
    embedder = manifest.identity.provider
    if embedder not in EMBEDDER_PROVIDERS:
        raise SiteError(
            f"{folder}: embedder provider {embedder!r:.80} is unknown to this version: upgrade "
            "mkdocs-answerable"
        )
    chosen = read_settings(folder)
    _check_addresses(folder, chosen)
    bundle = () if chosen.store else _bundle(manifest)
    names = [*_code(folder), *bundle, settings.SETTINGS_FILE]
    if embedder == "local":
        local_embedder.load_local_embedder(folder / MODEL_FOLDER)
        names += [
            f"{MODEL_FOLDER}/{local_embedder.WEIGHTS_FILE}",
            f"{MODEL_FOLDER}/{local_embedder.TOKENIZER_FILE}",
        ]
        names += [f"{MODEL_FOLDER}/LICENSE"]
    found = {name: folder / name for name in names}
    needed = (f"{CODE_FOLDER}/serve/http/adapters/{adapter}.py", settings.SETTINGS_FILE)
    for name in (*found, *needed):
        if name not in found or not (folder / name).is_file():
            raise SiteError(f"{folder / name} is missing: {_AGAIN}")
    keys = list_key_variables(embedder, chosen.answers)
    return FunctionContents(found, _requirements(folder), keys, chosen.store is not None)


def _code(folder: Path) -> list[str]:
    """The code of the serving part; its bytecode is made anew, for the Python that will run it."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / CODE_FOLDER).rglob("*"))
        if path.suffix in _CODE_SUFFIXES and path.is_file()
    ]


def _bundle(manifest: Manifest) -> list[str]:
    """The files that the manifest names: an earlier build's may still lie beside them."""
    names = (stored_file_name(name, file.sha256) for name, file in manifest.files.items())
    return [f"{BUNDLE_FOLDER}/{name}" for name in (MANIFEST_FILE, *names)]


def _requirements(folder: Path) -> tuple[str, ...]:
    path = folder / REQUIREMENTS_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise SiteError(f"{path} cannot be read: {_AGAIN}") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _check_addresses(folder: Path, chosen: FunctionSettings) -> None:
    """Refuse a provider's address that carries a password: a package holds no secret."""
    for name in ("base_url", "embedding_base_url"):
        address = urlsplit(getattr(chosen, name) or "")
        if address.username or address.password:
            raise SiteError(
                f"{folder / settings.SETTINGS_FILE}: {name} holds a user name or a password, "
                "and a package "
                "holds no secret; take it out of mkdocs.yml and build again"
            )
