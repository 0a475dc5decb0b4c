"""The engine over what a database serves, which a publisher may replace at any time."""

import copy
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .. import database, providers, settings
from ..database import Database
from ..embedder import Embedder, Identity
from ..engine import Engine
from ..errors import AnswerableError, StorageError
from ..settings import MODEL
from . import store
from .connections import Connections, Reader

# Seconds between two looks at which bundle is served.
LOOK = 1.0


class Source:
    """Gives the engine of the bundle that is served; a question keeps the one that it was given.

    A store out of reach leaves the last engine, which then says so itself. A bundle that cannot be
    served is no reason to go on with an older one, which may hold what was taken back: its error
    is raised until another one is served.
    """

    def __init__(
        self, reader: Reader, name: str, made: Callable[[store.PostgresStore], Engine]
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
        elif time.monotonic() - self._looked > LOOK and self._lock.acquire(blocking=False):
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
            key = store.served(self._reader, self._name)
            if key != self._key or self._problem:
                self._engine = self._made(store.open_store(self._reader, key))
                self._key = key
            self._problem = None
        except StorageError:
            raise
        except AnswerableError as error:
            self._problem = error


def of_function(folder: Path, options: Database, *, verify: bool = True) -> Source:
    """The source of a published function. verify: compare the hashes of its local model."""
    chosen = settings.read(folder)
    embedders: dict[Identity, Embedder] = {}

    def made(opened: store.PostgresStore) -> Engine:
        identity = opened.manifest.identity
        if identity not in embedders:
            embedders[identity] = providers.embedder(
                identity, folder / MODEL, chosen, verify=verify
            )
        return providers.engine(opened, embedders[identity], chosen)

    return Source(Connections(options), chosen.store or database.NAME, made)
