"""A bundle put into a database in one transaction, and the last one removed when its time is over.

Nothing is there for anyone else to see before the transaction ends, and ending it is the single
step from the old bundle to the new. Whatever stops a publisher, the server takes back what it did.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...serve.bundle import Bundle
from ...serve.database import NAME
from ...serve.postgres import schema
from ...serve.postgres.schema import PUBLIC, Tables
from ...serve.postgres.search import Search
from ...serve.store import Store
from . import catalog, filling
from .catalog import Connection
from .filling import Filled

# Hours after which what is no longer served is removed: functions that slept may still ask it.
GRACE = 24.0

Check = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a bundle is published: an address, which may hold a password, and the site's name.

    grace: hours after which what it replaces is removed.
    """

    url: str
    name: str = NAME
    search: Search = field(default_factory=Search)
    grace: float = GRACE


@dataclass(frozen=True, slots=True)
class Published:
    """What was done: rows that were sent, rows that the last bundle had, bundles removed."""

    key: str
    sent: int = 0
    kept: int = 0
    removed: int = 0


def publish(bundle: Bundle, target: Target, check: Check | None = None) -> Published:
    """Publish a bundle; StorageError if another build does, or if the database refuses.

    check: is given the store before anyone else can see it, and raises to have nothing published.
    A bundle that is served already is left as it is.
    """
    key = _key(bundle, target)
    with catalog.connected(target.url) as connection:
        catalog.prepare(connection, target.name)
        with connection.transaction():
            catalog.lock(connection, target.name)
            done = _publish(connection, bundle, target, key, check)
        removed = catalog.remove_superseded(connection, target.name, 3600 * target.grace)
    return Published(key, done.sent, done.kept, removed)


def _key(bundle: Bundle, target: Target) -> str:
    """What the tables carry in their names: of all that they depend on."""
    parts = [target.name, schema.FORMAT, bundle.manifest.id, target.search.as_json()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _publish(
    connection: Connection, bundle: Bundle, target: Target, key: str, check: Check | None
) -> Filled:
    last = catalog.served(connection, target.name)
    if last and not catalog.has(connection, Tables(last).all):
        last = None
    if last == key:
        return Filled()
    known = catalog.one(
        connection, f"SELECT count(*) FROM {PUBLIC}.bundles WHERE key = %s", (key,)
    )[0]
    done = Filled()
    if not known or not catalog.has(connection, Tables(key).all):
        catalog.drop(connection, Tables(key))
        done = filling.fill(connection, bundle, Tables(key), last, target.name, target.search)
    if check:
        # Of psycopg, if it is missing, the builder is told by `catalog` and not by what serves.
        from ...serve.postgres.store import open_store

        check(open_store(_InTransaction(connection), key))
    catalog.serve(connection, target.name, key)
    return done


@dataclass(frozen=True, slots=True)
class _InTransaction:
    """What a publisher reads of what it has not published yet."""

    connection: Connection

    def read(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[tuple[Any, ...]]:
        """See Reader."""
        del timeout
        for name, value in (settings or {}).items():
            self.connection.execute("SELECT set_config(%s, %s, true)", (name, value))
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(statement.encode(), parameters).fetchall()
