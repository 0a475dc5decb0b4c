"""Registry of embedders and answerers, built in or by entry point: packages, host, key variable.

A distribution registers one by an entry point in the group ``answerable.embedders`` or
``answerable.answerers``, whose object is a ``Provider`` with a ``factory``.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .errors import SiteError
from .index.manifest import LOCAL_PROFILE, OPENAI_PROFILE, Profile
from .settings import FunctionSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


@dataclass(frozen=True, slots=True)
class Provider:
    """Describe who embeds or answers; ``serve.providers`` opens it.

    ``requirements``: the distributions that a function needs for it, beside those of every one.
    ``host``: whom it asks unless ``base_url`` names another; None for one that works in the
    process, costs nothing and sends nobody a text. ``key``: the environment's variable of its key.
    ``profile``: of an embedder, how its cosines become scores until a site is calibrated.
    ``factory``: of a registered one. It makes an Embedder of an EmbedderIdentity and
    FunctionSettings, or an Answerer of a Store, an Embedder and FunctionSettings.
    """

    requirements: tuple[str, ...] = ()
    host: str | None = None
    key: str | None = None
    profile: Profile = LOCAL_PROFILE
    factory: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class ProviderOrigin:
    """Name the distribution that registers a provider, its version and the module of its code."""

    distribution: str
    version: str
    module: str


class ProviderRegistry(Mapping[str, Provider]):
    """Map names to providers; entry points are looked up only for a name that is not built in.

    ``kind``: of the providers, such as ``embedder``.
    """

    def __init__(self, kind: str, builtin: Mapping[str, Provider]) -> None:
        self.kind = kind
        self.group = f"answerable.{kind}s"
        self.builtin = builtin

    def __getitem__(self, name: str) -> Provider:
        """Return a provider; KeyError for an unknown name, SiteError for a broken entry point."""
        if name in self.builtin:
            return self.builtin[name]
        return _load_provider(self.group, name)

    def __contains__(self, name: object) -> bool:
        return name in self.builtin or name in _find_entry_points(self.group).names

    def __iter__(self) -> Iterator[str]:
        registered = _find_entry_points(self.group).names - self.builtin.keys()
        return iter((*self.builtin, *sorted(registered)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def find_origin(self, name: str) -> ProviderOrigin | None:
        """Find who registers a provider; None for one that is built in or unknown."""
        points = () if name in self.builtin else _find_entry_points(self.group)
        return next((_describe_origin(point) for point in points if point.name == name), None)

    def describe_unknown(self, name: str) -> str:
        """Describe a name that is neither built in nor registered, with the remedy."""
        return (
            f"{self.kind} provider {name!r:.80} is unknown to this version: upgrade "
            "mkdocs-answerable, or install the package that registers it "
            f"({', '.join(self)} are there)"
        )


@cache
def _find_entry_points(group: str) -> "EntryPoints":
    # Slow to import, and no built-in provider needs it.
    from importlib.metadata import entry_points

    return entry_points(group=group)


@cache
def _load_provider(group: str, name: str) -> Provider:
    """Import a registered provider; its own distribution is among its requirements."""
    point = _find_entry_points(group)[name]
    distribution = _describe_origin(point).distribution
    try:
        provider = point.load()
    except (ImportError, AttributeError) as error:
        raise SiteError(
            f"{group}: {name} of {distribution} cannot be imported ({error}); install what it "
            "needs, or choose another provider"
        ) from error
    if not isinstance(provider, Provider) or provider.factory is None:
        raise SiteError(
            f"{group}: {name} of {distribution} is not an answerable.Provider with a factory; "
            "correct its entry point, or choose another provider"
        )
    return replace(provider, requirements=(distribution, *provider.requirements))


def _describe_origin(point: "EntryPoint") -> ProviderOrigin:
    if point.dist is None:
        return ProviderOrigin(point.module, "", point.module)
    return ProviderOrigin(point.dist.name, point.dist.version, point.module)


_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
# Domains that no public server is in.
_PRIVATE_DOMAINS = (".localhost", ".local", ".internal")

EMBEDDER_PROVIDERS = ProviderRegistry(
    "embedder",
    {
        "local": Provider(),
        "openai": Provider(("openai",), _OPENAI_URL, _OPENAI_KEY_VARIABLE, OPENAI_PROFILE),
    },
)
ANSWERER_PROVIDERS = ProviderRegistry(
    "answerer",
    {
        "extractive": Provider(),
        "openai": Provider(("openai", "jinja2"), _OPENAI_URL, _OPENAI_KEY_VARIABLE),
    },
)


def embeds_in_process(name: str) -> bool:
    """Tell whether a provider embeds in the process, so that more texts cost nothing."""
    return name in EMBEDDER_PROVIDERS and EMBEDDER_PROVIDERS[name].host is None


def answers_in_process(name: str) -> bool:
    """Tell whether a provider answers in the process, so that more questions cost nothing."""
    return name in ANSWERER_PROVIDERS and ANSWERER_PROVIDERS[name].host is None


def is_private_address(base_url: str | None) -> bool:
    """True if a server is on this machine or in a private network, where nobody needs a key."""
    host = _find_host(base_url)
    try:
        return not ip_address(host).is_global
    except ValueError:
        # A name without a dot is one of a local network, such as a container's.
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_DOMAINS))


def is_loopback_address(base_url: str | None) -> bool:
    """True if a server is on this machine, so that no other machine can reach it."""
    host = _find_host(base_url)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return f".{host}".endswith(".localhost")


def _find_host(base_url: str | None) -> str:
    return urlsplit(base_url or "").hostname or ""


def find_key_variable(provider: Provider, base_url: str | None) -> str | None:
    """Find the variable of the key that a provider needs for a server, None if it needs none."""
    return None if is_private_address(base_url) else provider.key


def list_key_variables(embedder: str, settings: FunctionSettings) -> tuple[str, ...]:
    """List the environment's variables of the keys that a function's two providers need."""
    variables = (
        find_key_variable(EMBEDDER_PROVIDERS[embedder], settings.embedding_base_url),
        find_key_variable(ANSWERER_PROVIDERS[settings.answers], settings.base_url),
    )
    return tuple(sorted({variable for variable in variables if variable}))


def list_missing_keys(embedder: str, settings: FunctionSettings) -> tuple[str, ...]:
    """List the variables of keys that a function needs and this process does not have."""
    variables = list_key_variables(embedder, settings)
    return tuple(name for name in variables if not os.environ.get(name, "").strip())
