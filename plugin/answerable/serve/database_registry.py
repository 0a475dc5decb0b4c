"""Find what opens the engine over a database, by the scheme of the address that names it.

A distribution registers one by an entry point in the group ``answerable.stores``, whose name is the
scheme and whose object is a ``DatabaseOpener``.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .errors import PolicyError

if TYPE_CHECKING:
    from .engine import Engine

DATABASE_URL_VARIABLE = "ANSWERABLE_DATABASE_URL"
STORE_PACKAGE = "postgres"
_GROUP = "answerable.stores"
# Known without an entry point too: a function's folder is no distribution.
_OWN = f"{__package__.partition('.')[0]}.{STORE_PACKAGE}.engine:open_database_engine"
_OWN_SCHEMES = ("postgresql", "postgres")


class DatabaseEngines(Protocol):
    """Return an engine over the bundle that a database serves at the moment."""

    def __call__(self) -> "Engine[Any]":
        """Return the engine to ask, after a look from time to time; AnswerableError without one."""

    def current(self) -> "Engine[Any]":
        """Return the engine at hand, without a look; AnswerableError without one."""


class DatabaseOpener(Protocol):
    """Open the engine of a published function over the database that an environment names."""

    def __call__(
        self, folder: Path, environment: Mapping[str, str], *, verify: bool = True
    ) -> DatabaseEngines: ...


def find_database_opener(environment: Mapping[str, str]) -> DatabaseOpener | None:
    """Find what opens the database of an environment, None without one.

    PolicyError for an address that nobody opens, which it does not repeat: it may hold a password.
    """
    url = environment.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        return None
    own = (EntryPoint(scheme, _OWN, _GROUP) for scheme in _OWN_SCHEMES)
    openers = {entry.name: entry for entry in (*entry_points(group=_GROUP), *own)}
    scheme = url.partition("://")[0]
    if scheme not in openers:
        raise PolicyError(f"{DATABASE_URL_VARIABLE}: it has to begin with {_OWN_SCHEMES[0]}://")
    opener: DatabaseOpener = openers[scheme].load()
    return opener
