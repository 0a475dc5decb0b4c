"""Read ANSWERABLE_DATABASE_* (url, connections, timeout); check exact or HNSW search settings."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from ..serve.database_registry import DATABASE_URL_VARIABLE
from ..serve.errors import BundleError, PolicyError

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


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Choose ``exact`` search, or ``hnsw`` with its parameters by pgvector's names.

    ``m`` and ``ef_construction`` are those of the index, ``ef_search`` how many passages it is
    asked for. ValueError for what is out of range.
    """

    how: SearchMethod = "exact"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 400

    def __post_init__(self) -> None:
        if self.how not in SEARCH_METHODS:
            raise ValueError(f"{self.how!r:.40} is none of {', '.join(SEARCH_METHODS)}")
        ranges = (("m", 2, 100), ("ef_construction", 4, 1000), ("ef_search", 1, 1000))
        for name, low, high in ranges:
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ValueError(
                    f"{name}: {value!r:.40} is not a whole number from {low} to {high}"
                )
        if self.ef_construction < 2 * self.m:
            raise ValueError(f"ef_construction: {self.ef_construction} is less than twice m")

    @property
    def label(self) -> str:
        """Format a short name, such as ``hnsw (m 16, ef_construction 64, ef_search 400)``."""
        if self.how == "exact":
            return self.how
        return (
            f"hnsw (m {self.m}, ef_construction {self.ef_construction}, ef_search {self.ef_search})"
        )

    def as_json(self) -> str:
        """Return the search as the database holds it."""
        return json.dumps(asdict(self), sort_keys=True)


def parse_vector_search(text: str) -> VectorSearch:
    """Parse the text of ``as_json``; BundleError."""
    try:
        return VectorSearch(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise BundleError(
            f"the database holds a search that this version does not know ({error!s:.200}): "
            "publish again"
        ) from None
