"""Open a published function's folder as an app, configured by ANSWERABLE_* variables."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from ..engine.engine import Engine
from ..engine.errors import PolicyError
from ..engine.providers import (
    DATABASE_URL_VARIABLE,
    find_database_opener,
    list_missing_keys,
    open_function,
)
from ..engine.settings import FunctionSettings, read_settings
from .app import Function, create_app
from .logs import LineFile, Logs, RefusalLog
from .policy import read_policy

WriteLine = Callable[[bytes], object]


def open_app(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> Starlette:
    """Open a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` and
    ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for each
    request and, without that file, for each refusal that is logged. err: takes sentences for
    whoever runs the function.
    """
    settings = read_settings(folder)
    find_engine = _open_engine(folder, environment, settings)
    engine = find_engine()
    policy = read_policy(environment, engine.store.index.site.url)
    find_missing_keys = partial(list_missing_keys, engine.embedder.identity.provider, settings)
    if missing := find_missing_keys():
        sentence = f"{', '.join(missing)} is not set: no model is called until it is; set it"
        err(f"{sentence} where the function runs\n".encode())
    refusals = None
    if settings.log_refusals != "none":
        path = environment.get("ANSWERABLE_REFUSALS")
        file = LineFile(Path(path), lambda text: err(f"{text}\n".encode())) if path else None
        write = file.append if file else out
        refusals = RefusalLog(lambda: settings.log_refusals, write, policy.secret)
    logs = Logs(out, refusals)
    return create_app(Function(find_engine, policy, logs, list_missing_keys=find_missing_keys))


def _open_engine(
    folder: Path, environment: Mapping[str, str], settings: FunctionSettings
) -> Callable[[], Engine]:
    """Open the engines over a database, or the one over the folder's bundle."""
    verify = environment.get("ANSWERABLE_SKIP_HASHES", "").strip() != "1"
    if open_database := find_database_opener(environment):
        return open_database(folder, environment, verify=verify)
    if settings.store:
        raise PolicyError(
            f"{DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build without `store`"
        )
    engine = open_function(folder, verify=verify)
    return lambda: engine
