"""Embedders and answerers: those that are built in, and those of other distributions.

A distribution registers one by an entry point in the group ``answerable.embedders`` or
``answerable.answerers``, whose object is a ``Provider`` with a ``factory``.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .answers.contract import Answerer
from .answers.keyless import ExtractiveAnswerer
from .bundle import Bundle, open_bundle
from .engine import Engine
from .errors import PolicyError, SiteError
from .index.manifest import LOCAL_PROFILE, MANIFEST_FILE, OPENAI_PROFILE, Profile
from .retrieval.store import Store
from .settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from .text.urls import is_private_address
from .vectors import Embedder, EmbedderIdentity

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

StoreT = TypeVar("StoreT", bound=Store)
Kind = Literal["embedder", "answerer"]
# Returns what finds the engine over the bundle that a database serves at the moment, of the folder
# of a published function and its environment. ``verify``: see ``open_function``.
DatabaseOpener = Callable[..., Callable[[], Engine]]

DATABASE_URL_VARIABLE = "ANSWERABLE_DATABASE_URL"
STORE_PACKAGE = "postgres"


@dataclass(frozen=True, slots=True)
class Provider:
    """Who embeds or answers.

    ``requirements``: the distributions that a function needs for it, beside those of every one.
    ``host``: whom it asks unless ``base_url`` names another; None for one that works in the
    process, costs nothing and sends nobody a text. ``key``: the environment's variable of its key.
    ``profile``: of an embedder, how its cosines become scores until a site is calibrated.
    ``factory``: makes an Embedder of an EmbedderIdentity and FunctionSettings, or an Answerer of a
    Store, an Embedder and FunctionSettings.
    """

    requirements: tuple[str, ...] = ()
    host: str | None = None
    key: str | None = None
    profile: Profile = LOCAL_PROFILE
    factory: Callable[..., Any] | None = None


# OpenAI's package is imported only where it is chosen.


def _make_openai_embedder(identity: EmbedderIdentity, settings: FunctionSettings) -> Embedder:
    from .embedders.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(identity, settings.embedding_base_url)


def _make_openai_answerer(store: Store, embedder: Embedder, settings: FunctionSettings) -> Answerer:
    del embedder
    from .openai import OpenAIAnswerer

    return OpenAIAnswerer(settings, store.index.site.name, store.index.site.author)


_OPENAI = Provider(("openai",), "https://api.openai.com/v1", "OPENAI_API_KEY", OPENAI_PROFILE)
# The local embedder has no factory: it needs the files of its model.
BUILTIN: Mapping[Kind, Mapping[str, Provider]] = {
    "embedder": {"local": Provider(), "openai": replace(_OPENAI, factory=_make_openai_embedder)},
    "answerer": {
        "extractive": Provider(factory=lambda *_: ExtractiveAnswerer()),
        "openai": replace(
            _OPENAI, requirements=("openai", "jinja2"), factory=_make_openai_answerer
        ),
    },
}


@cache
def _read_entry_points(kind: Kind) -> "Mapping[str, EntryPoint]":
    """Read what distributions register, by name."""
    # Slow to import, and no built-in provider needs it.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"answerable.{kind}s")}


def list_providers(kind: Kind) -> tuple[str, ...]:
    """List the names of all embedders or answerers, the built-in ones first."""
    return tuple(dict.fromkeys((*BUILTIN[kind], *sorted(_read_entry_points(kind)))))


def find_entry_point(kind: Kind, name: str) -> "EntryPoint | None":
    """Find what registers a name; None for one that is built in or unknown."""
    return None if name in BUILTIN[kind] else _read_entry_points(kind).get(name)


@cache
def find_provider(kind: Kind, name: str) -> Provider:
    """Find a provider; its own distribution is among its requirements. SiteError without one."""
    if name in BUILTIN[kind]:
        return BUILTIN[kind][name]
    point = find_entry_point(kind, name)
    if point is None:
        raise SiteError(
            f"{kind} provider {name!r:.80} is unknown to this version: upgrade mkdocs-answerable, "
            f"or install the package that registers it ({', '.join(list_providers(kind))} are "
            "there)"
        )
    distribution = point.dist.name if point.dist else point.module
    try:
        provider = point.load()
    except (ImportError, AttributeError) as error:
        raise SiteError(
            f"{point.group}: {name} of {distribution} cannot be imported ({error}); install what "
            "it needs, or choose another provider"
        ) from error
    if not isinstance(provider, Provider) or provider.factory is None:
        raise SiteError(
            f"{point.group}: {name} of {distribution} is not an answerable.Provider with a "
            "factory; correct its entry point, or choose another provider"
        )
    return replace(provider, requirements=(distribution, *provider.requirements))


def find_key_variable(provider: Provider, base_url: str | None) -> str | None:
    """Find the variable of the key that a provider needs for a server, None if it needs none."""
    return None if is_private_address(base_url) else provider.key


def list_missing_keys(embedder: str, settings: FunctionSettings) -> tuple[str, ...]:
    """List the variables of keys that a function needs and this process does not have."""
    variables = {
        find_key_variable(find_provider("embedder", embedder), settings.embedding_base_url),
        find_key_variable(find_provider("answerer", settings.answers), settings.base_url),
    }
    return tuple(
        sorted(name for name in variables if name and not os.environ.get(name, "").strip())
    )


def make_embedder(
    identity: EmbedderIdentity, model: Path, settings: FunctionSettings, *, verify: bool = True
) -> Embedder:
    """Open the embedder of an identity. model: the folder of the local one's files.

    verify: compare their hashes. SiteError for a provider that is neither built in nor registered.
    """
    provider = find_provider("embedder", identity.provider)
    if provider.factory is None:
        from .embedders import local_embedder

        return local_embedder.load_local_embedder(model, verify=verify)
    embedder: Embedder = _check_parts(provider.factory(identity, settings), Embedder)
    return embedder


def make_engine(
    store: StoreT, embedder: Embedder, settings: FunctionSettings | None = None
) -> Engine[StoreT]:
    """Make an engine with the answerer that the settings choose, the keyless one by default.

    SiteError for an answerer that is neither built in nor registered.
    """
    settings = settings or FunctionSettings()
    factory = find_provider("answerer", settings.answers).factory
    assert factory is not None, "only the local embedder has none"
    return Engine(store, embedder, _check_parts(factory(store, embedder, settings), Answerer))


def _check_parts(instance: Any, protocol: type) -> Any:
    """Return what a factory has made; SiteError names what its protocol requires.

    A number of tokens that is forgotten would count as nothing, and escape the daily cap.
    """
    required = (name for name in vars(protocol) if not name.startswith("_"))
    if missing := [name for name in required if not hasattr(instance, name)]:
        raise SiteError(
            f"{type(instance).__name__} is not an answerable.{protocol.__name__}: it lacks "
            f"{', '.join(missing)}; add them, as answerable.{protocol.__name__} describes them"
        )
    return instance


def open_function(
    folder: Path | str,
    *,
    embedder: Embedder | None = None,
    answerer: Answerer | None = None,
    verify: bool = True,
) -> Engine[Bundle]:
    """Open the engine of a published function folder, or of the bundle in one.

    embedder, answerer: instead of those that its bundle and its settings name. verify: compare
    the hashes of all its data. BundleError for a folder that cannot be served.
    """
    folder = Path(folder)
    if (folder / MANIFEST_FILE).is_file():
        folder = folder.absolute().parent
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify)
    settings = read_settings(folder)
    if embedder is None:
        identity, model = bundle.manifest.identity, folder / MODEL_FOLDER
        embedder = make_embedder(identity, model, settings, verify=verify)
    if answerer is None:
        return make_engine(bundle, embedder, settings)
    return Engine(bundle, embedder, answerer)


def check_database_url(url: str, where: str) -> None:
    """Refuse an address of another server than PostgreSQL.

    PolicyError does not repeat it: it may hold a password.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        raise PolicyError(f"{where}: it has to begin with postgresql://")


def find_database_opener(environment: Mapping[str, str]) -> DatabaseOpener | None:
    """Find what opens the database that an environment names, None without one."""
    url = environment.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        return None
    check_database_url(url, DATABASE_URL_VARIABLE)
    # By name: only a function that is served from a database has the package.
    module = import_module(f"{__package__.partition('.')[0]}.{STORE_PACKAGE}.engine")
    opener: DatabaseOpener = module.open_database_engine
    return opener
