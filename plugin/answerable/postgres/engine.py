"""Engine over the index that PostgreSQL serves, replaced when another one is published."""

import copy
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ..engine.engine import Engine
from ..engine.errors import AnswerableError, StorageError
from ..engine.providers import DATABASE_URL_VARIABLE, make_embedder, make_engine
from ..engine.settings import MODEL_FOLDER, read_settings
from ..engine.vectors import Embedder, EmbedderIdentity
from .connections import Database, Fetch
from .options import DEFAULT_STORE_NAME
from .store import PostgresStore, open_postgres_store, read_served_key

# Seconds between two looks at which index is served.
LOOK_SECONDS = 1.0


class DatabaseEngine:
    """The engine over the served index; a question keeps the one that it began with.

    A database out of reach leaves the last engine, which then says so itself. An index that cannot
    be served does not leave an older one, which may hold what was taken back: its error is raised
    until another one is served.
    """

    def __init__(self, fetch: Fetch, name: str, make: Callable[[PostgresStore], Engine]) -> None:
        self._fetch = fetch
        self._name = name
        self._make = make
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._key = ""
        self._problem: AnswerableError | None = None
        self._last_look = float("-inf")

    def __call__(self) -> Engine:
        """Return the engine to ask, after a look from time to time; AnswerableError without one."""
        is_due = time.monotonic() - self._last_look > LOOK_SECONDS
        # While one thread looks, the others go on with what there is.
        if is_due and self._lock.acquire(blocking=self._engine is None):
            try:
                self._look()
            finally:
                self._lock.release()
        engine, problem = self._engine, self._problem
        if problem:
            # Many threads may raise it, and each writes its traceback into it.
            raise copy.copy(problem)
        if engine is None:
            raise StorageError("the database has not answered yet: ask again")
        return engine

    def _look(self) -> None:
        try:
            key = read_served_key(self._fetch, self._name)
            if key != self._key:
                self._engine = self._make(open_postgres_store(self._fetch, self._name))
                self._key = key
            self._problem = None
        except StorageError:
            if self._engine is None:
                raise
        except AnswerableError as error:
            self._problem, self._key = error, ""
        finally:
            self._last_look = time.monotonic()


def open_database_engine(
    folder: Path, environment: Mapping[str, str], *, verify: bool = True
) -> DatabaseEngine:
    """Open the engine of a published function over the database that an environment names.

    verify: compare the hashes of its local model.
    """
    settings = read_settings(folder)
    embedders: dict[EmbedderIdentity, Embedder] = {}

    def make(store: PostgresStore) -> Engine:
        identity = store.manifest.identity
        if identity not in embedders:
            embedders[identity] = make_embedder(
                identity, folder / MODEL_FOLDER, settings, verify=verify
            )
        return make_engine(store, embedders[identity], settings)

    database = Database(environment[DATABASE_URL_VARIABLE].strip())
    return DatabaseEngine(database.fetch, settings.store or DEFAULT_STORE_NAME, make)
