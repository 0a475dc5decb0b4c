"""Open a published function's folder as an app, configured by ANSWERABLE_* variables."""

import gc
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..serve.errors import PolicyError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ..serve.settings import FunctionSettings
    from .app import EngineSource
    from .logs import LogRefusal
    from .policy import Policy

WriteLine = Callable[[bytes], object]


def open_app(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> "Starlette":
    """Open a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` (1:
    sizes are compared, hashes are not) and ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for
    each request and, without that file, for each refusal that is logged. err: takes sentences for
    whoever runs the function.
    """
    skips = environment.get("ANSWERABLE_SKIP_HASHES", "").strip().lower()
    verify = skips not in ("1", "true", "yes")
    # A twentieth of a start is garbage collection.
    gc.disable()
    try:
        from ..serve.providers import list_missing_keys
        from ..serve.settings import read_settings
        from .app import create_app
        from .logs import Logs
        from .policy import read_policy

        settings = read_settings(folder)
        engines = _open_engines(folder, environment, settings, verify=verify)
        engine = engines()
        assert engine is not None, "a function has an engine or an error"
        policy = read_policy(environment, engine.store.site.url)
        find_missing_keys = partial(list_missing_keys, engine.embedder.identity.provider, settings)
        if missing := find_missing_keys():
            sentence = f"{', '.join(missing)} is not set: no model is called until it is; set it"
            err(f"{sentence} where the function runs\n".encode())
        log_refusal = _open_refusal_log(settings.log_refusals, environment, policy, out, err)
        return create_app(
            engines,
            policy,
            Logs(out, log_refusal),
            base=read_base_path(environment),
            list_missing_keys=find_missing_keys,
        )
    finally:
        # From here on it never looks at the objects that exist already.
        gc.freeze()
        gc.enable()


def read_base_path(environment: Mapping[str, str]) -> str:
    """Read the path under which a function answers, ``ANSWERABLE_BASE``; PolicyError."""
    path = environment.get("ANSWERABLE_BASE", "").strip().strip("/")
    if not re.fullmatch(r"(?:[\w.~-]+(?:/[\w.~-]+)*)?", path, re.ASCII):
        raise PolicyError(f"ANSWERABLE_BASE: {path!r} is not a path; write one such as /ask/")
    return f"/{path}/" if path else "/"


def write_stdout(line: bytes) -> None:
    """Write a line to standard output, where a platform collects logs."""
    write_line(sys.stdout.buffer, line)


def write_stderr(line: bytes) -> None:
    """Write a line to standard error."""
    write_line(sys.stderr.buffer, line)


def write_line(stream: BinaryIO, line: bytes) -> None:
    """Write a line and flush it: a buffer may be frozen with the function."""
    stream.write(line)
    stream.flush()


def _open_engines(
    folder: Path,
    environment: Mapping[str, str],
    settings: "FunctionSettings",
    *,
    verify: bool,
) -> "EngineSource":
    """Open the engines over a database, or the one over the folder's bundle."""
    from ..serve.providers import DATABASE_URL_VARIABLE, find_database_opener, open_function
    from .app import FoundEngine

    if open_database := find_database_opener(environment):
        engines: EngineSource = open_database(folder, environment, verify=verify)
        return engines
    if settings.store:
        raise PolicyError(
            f"{DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build without `store`"
        )
    engine = open_function(folder, verify=verify)
    return FoundEngine(lambda: engine)


def _open_refusal_log(
    setting: str,
    environment: Mapping[str, str],
    policy: "Policy",
    out: WriteLine,
    err: WriteLine,
) -> "LogRefusal | None":
    if setting == "none":
        return None
    from .logs import make_line_appender, make_refusal_logger

    path, write = environment.get("ANSWERABLE_REFUSALS"), out
    if path:
        write = make_line_appender(Path(path), lambda sentence: err(f"{sentence}\n".encode()))
    return make_refusal_logger(lambda: setting, write, policy.secret)
