"""Settings of a database that are read where no package of PostgreSQL is installed."""

from typing import Literal, get_args

# Name of a site in its database, unless `store.name` is another.
DEFAULT_STORE_NAME = "site"

SearchMethod = Literal["exact", "hnsw"]
SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)
