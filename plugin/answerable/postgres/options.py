"""Settings of a database: ANSWERABLE_DATABASE_* (url, connections, timeout) and the search."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..serve.errors import BundleError, PolicyError
from ..serve.providers import DATABASE_URL_VARIABLE

_CONNECTIONS_VARIABLE = "ANSWERABLE_DATABASE_CONNECTIONS"
_TIMEOUT_VARIABLE = "ANSWERABLE_DATABASE_TIMEOUT"
# Name of a function's bundle in a database of several sites, unless `store` names another.
DEFAULT_STORE_NAME = "site"


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """Configure the address, the connections of a process and the wait of one question.

    ``url`` may hold a password: no text may repeat it. ``timeout``: seconds that a question may
    wait for it in all.
    """

    url: str
    connections: int = 4
    timeout: float = 5.0


def read_database_options(environment: Mapping[str, str]) -> DatabaseOptions:
    """Read the database of an environment that names one; PolicyError names the variable."""

    def read_number(variable: str, default: float, low: float, high: float, kind: str) -> float:
        text = environment.get(variable, "").strip() or str(default)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or (kind == "whole number" and not text.isdecimal()):
            raise PolicyError(f"{variable}: {text!r:.40} is not a {kind} from {low} to {high}")
        return value

    options = DatabaseOptions(environment.get(DATABASE_URL_VARIABLE, "").strip())
    connections = read_number(_CONNECTIONS_VARIABLE, options.connections, 1, 1000, "whole number")
    timeout = read_number(_TIMEOUT_VARIABLE, options.timeout, 0.1, 60, "number of seconds")
    return DatabaseOptions(options.url, int(connections), timeout)


def check_database_url(url: str, where: str) -> None:
    """Refuse an address of another server than PostgreSQL; PolicyError does not repeat it."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise PolicyError(f"{where}: it has to begin with postgresql://")


SearchMethod = Literal["exact", "hnsw"]
SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)


def check_search_method(name: str) -> SearchMethod:
    """Check the search method that a database holds; BundleError for an unknown one."""
    for method in SEARCH_METHODS:
        if name == method:
            return method
    raise BundleError(
        f"the database holds a search that this version does not know ({name!r:.40}): publish again"
    )
