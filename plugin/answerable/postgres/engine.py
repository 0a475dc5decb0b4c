"""Return an engine over the bundle that PostgreSQL serves; open another when that is replaced."""

import copy
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ..serve.embedders.embedder import Embedder, EmbedderIdentity
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, StorageError
from ..serve.providers import make_embedder, make_engine
from ..serve.settings import MODEL_FOLDER, read_settings
from .connections import DatabaseConnections, Fetch
from .options import DEFAULT_STORE_NAME, read_database_options
from .store import PostgresStore, open_postgres_store, read_served_key

# Seconds between two looks at which bundle is served.
LOOK_SECONDS = 1.0


class DatabaseEngine:
    """Follow the served bundle; a question keeps the engine that it began with.

    A store out of reach leaves the last engine, which then says so itself. A bundle that cannot be
    served does not leave an older one, which may hold what was taken back: its error is raised
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
        if self._engine is None and self._problem is None:
            with self._lock:
                if self._engine is None:
                    self._look()
        elif time.monotonic() - self._last_look > LOOK_SECONDS and self._lock.acquire(
            blocking=False
        ):
            # The others go on with what there is.
            try:
                self._look()
            except StorageError:
                pass
            finally:
                self._lock.release()
        return self.current()

    def current(self) -> Engine:
        """Return the engine at hand, without a look; AnswerableError without one."""
        engine, problem = self._engine, self._problem
        if problem:
            # Many threads may raise it, and each writes its traceback into it.
            raise copy.copy(problem)
        if engine is None:
            raise StorageError("the database has not answered yet: ask again")
        return engine

    def _look(self) -> None:
        self._last_look = time.monotonic()
        try:
            key = read_served_key(self._fetch, self._name)
            if key != self._key or self._problem:
                self._engine = self._make(open_postgres_store(self._fetch, key))
                self._key = key
            self._problem = None
        except StorageError:
            raise
        except AnswerableError as error:
            self._problem = error


def open_database_engine(
    folder: Path, environment: Mapping[str, str], *, verify: bool = True
) -> DatabaseEngine:
    """Open the engine of a published function; PolicyError for a variable that is no option.

    verify: compare the hashes of its local model.
    """
    options, settings = read_database_options(environment), read_settings(folder)
    embedders: dict[EmbedderIdentity, Embedder] = {}

    def make(store: PostgresStore) -> Engine:
        identity = store.manifest.identity
        if identity not in embedders:
            embedders[identity] = make_embedder(
                identity, folder / MODEL_FOLDER, settings, verify=verify
            )
        return make_engine(store, embedders[identity], settings)

    fetch = DatabaseConnections(options).fetch
    return DatabaseEngine(fetch, settings.store or DEFAULT_STORE_NAME, make)
