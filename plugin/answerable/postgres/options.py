"""Settings of a database that are read where no package of PostgreSQL is installed."""

from typing import Literal, get_args

from ..engine.errors import PolicyError

# Name of a site in its database, unless `store.name` is another.
DEFAULT_STORE_NAME = "site"

SearchMethod = Literal["exact", "hnsw"]
SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)


def check_database_url(url: str, where: str) -> None:
    """Refuse an address of another server than PostgreSQL; PolicyError does not repeat it."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise PolicyError(f"{where}: it has to begin with postgresql://")
