"""List the files of a function folder that belong in a package, and check that all are there."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...serve import settings
from ...serve.bundle_format.manifest import MANIFEST_FILE, stored_file_name
from ...serve.embedders import local_embedder
from ...serve.errors import SiteError
from ...serve.provider_registry import (
    ANSWERER_PROVIDERS,
    EMBEDDER_PROVIDERS,
    list_key_variables,
)
from ...serve.settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from ...serve.stores.bundle_reader import open_bundle

CODE_FOLDER = "answerable"
REQUIREMENTS_FILE = "requirements.txt"

_REBUILD = "run `mkdocs build` again"


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
    """List the files of a function folder, its data compared with their hashes.

    adapter: the module of ``serve/http/adapters/`` that has to be there. SiteError or BundleError
    for a folder that cannot be packaged.
    """
    if not (folder / BUNDLE_FOLDER / MANIFEST_FILE).is_file():
        raise SiteError(
            f"{folder} is not a function folder: name the one that holds "
            f"{BUNDLE_FOLDER}/{MANIFEST_FILE} with --function"
        )
    if not (folder / CODE_FOLDER).is_dir():
        raise SiteError(
            f"{folder} holds no function, since readers' browsers answer this site: set the option "
            "function to a folder, such as function: function, and build again"
        )
    manifest = open_bundle(folder / BUNDLE_FOLDER).manifest
    function_settings = read_settings(folder)
    embedder, answerer = manifest.identity.provider, function_settings.answers
    for registry, name in ((EMBEDDER_PROVIDERS, embedder), (ANSWERER_PROVIDERS, answerer)):
        if name not in registry:
            raise SiteError(f"{folder}: {registry.describe_unknown(name)}")
    _check_addresses(folder, function_settings)
    # Bytecode is made for another Python, so only the code itself is listed.
    code = [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / CODE_FOLDER).rglob("*"))
        if path.suffix in (".py", ".jinja", ".json") and path.is_file()
    ]
    # An earlier build's files may still lie beside those that the manifest names.
    data = [stored_file_name(name, file.sha256) for name, file in manifest.files.items()]
    bundle_files = [f"{BUNDLE_FOLDER}/{name}" for name in (MANIFEST_FILE, *data)]
    names = [*code, *(() if function_settings.store else bundle_files), settings.SETTINGS_FILE]
    if embedder == "local":
        local_embedder.load_local_embedder(folder / MODEL_FOLDER)
        model_files = (*local_embedder.MODEL_FILE_DIGESTS, "LICENSE")
        names += [f"{MODEL_FOLDER}/{name}" for name in model_files]
    # The code is listed from the folder, so the adapter may be missing there unnoticed.
    for name in (*names, f"{CODE_FOLDER}/serve/http/adapters/{adapter}.py"):
        if not (folder / name).is_file():
            raise SiteError(f"{folder / name} is missing: {_REBUILD}")
    return FunctionContents(
        {name: folder / name for name in names},
        _read_requirements(folder),
        list_key_variables(embedder, answerer),
        function_settings.store is not None,
    )


def _read_requirements(folder: Path) -> tuple[str, ...]:
    path = folder / REQUIREMENTS_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise SiteError(f"{path} cannot be read: {_REBUILD}") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _check_addresses(folder: Path, function_settings: FunctionSettings) -> None:
    """Refuse a provider's address that carries a password: a package holds no secret."""
    addresses = {
        "base_url": function_settings.base_url,
        "embedding_base_url": function_settings.embedding_base_url,
    }
    for option, address in addresses.items():
        parts = urlsplit(address or "")
        if parts.username or parts.password:
            raise SiteError(
                f"{folder / settings.SETTINGS_FILE}: {option} holds a user name or a password, and "
                "a package holds no secret; take it out of mkdocs.yml and build again"
            )
