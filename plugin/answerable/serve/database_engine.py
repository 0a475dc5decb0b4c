"""The engine over what a database serves, which a publisher may replace at any time."""

import copy
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .embedders.embedder import Embedder, EmbedderIdentity
from .engine import Engine
from .errors import AnswerableError, StorageError
from .providers import make_embedder, make_engine
from .settings import MODEL_FOLDER, read_settings
from .stores.postgres import database_options
from .stores.postgres.connections import ConnectionPool, DatabaseReader
from .stores.postgres.database_options import DatabaseOptions
from .stores.postgres.postgres_store import PostgresStore, open_postgres_store, read_served_key

# Seconds between two looks at which bundle is served.
LOOK_SECONDS = 1.0


class DatabaseEngine:
    """Gives the engine of the bundle that is served; a question keeps the one that it was given.

    A store out of reach leaves the last engine, which then says so itself. A bundle that cannot be
    served is no reason to go on with an older one, which may hold what was taken back: its error
    is raised until another one is served.
    """

    def __init__(
        self, reader: DatabaseReader, name: str, made: Callable[[PostgresStore], Engine]
    ) -> None:
        self._reader = reader
        self._name = name
        self._made = made
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._key = ""
        self._problem: AnswerableError | None = None
        self._looked = float("-inf")

    def __call__(self) -> Engine:
        """The engine to ask; AnswerableError if there is none."""
        if self._engine is None and self._problem is None:
            with self._lock:
                if self._engine is None:
                    self._look()
        elif time.monotonic() - self._looked > LOOK_SECONDS and self._lock.acquire(blocking=False):
            # The others go on with what there is.
            try:
                self._look()
            except StorageError:
                pass
            finally:
                self._lock.release()
        return self.held()

    def held(self) -> Engine:
        """The engine at hand, without a look; AnswerableError if there is none."""
        engine, problem = self._engine, self._problem
        if problem:
            # Many threads may raise it, and each writes its way into it.
            raise copy.copy(problem)
        if engine is None:
            raise StorageError("the database has not answered yet: ask again")
        return engine

    def _look(self) -> None:
        self._looked = time.monotonic()
        try:
            key = read_served_key(self._reader, self._name)
            if key != self._key or self._problem:
                self._engine = self._made(open_postgres_store(self._reader, key))
                self._key = key
            self._problem = None
        except StorageError:
            raise
        except AnswerableError as error:
            self._problem = error


def open_database_engine(
    folder: Path, options: DatabaseOptions, *, verify: bool = True
) -> DatabaseEngine:
    """The source of a published function. verify: compare the hashes of its local model."""
    chosen = read_settings(folder)
    embedders: dict[EmbedderIdentity, Embedder] = {}

    def made(opened: PostgresStore) -> Engine:
        identity = opened.manifest.identity
        if identity not in embedders:
            embedders[identity] = make_embedder(
                identity, folder / MODEL_FOLDER, chosen, verify=verify
            )
        return make_engine(opened, embedders[identity], chosen)

    return DatabaseEngine(
        ConnectionPool(options), chosen.store or database_options.DEFAULT_STORE_NAME, made
    )
