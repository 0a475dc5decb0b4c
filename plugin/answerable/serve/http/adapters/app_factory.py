"""Open a published function's folder as a ``Service``, configured by ANSWERABLE_* variables."""

import gc
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...database_registry import DATABASE_URL_VARIABLE, DatabaseOpener, find_database_opener
from ...errors import PolicyError

if TYPE_CHECKING:
    from ...engine import Engine
    from ...limits.policy import Policy
    from ...settings import FunctionSettings
    from ..logs import LogRefusal
    from ..service import Service

WriteLine = Callable[[bytes], object]


def open_service(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> "Service":
    """Open a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` (1:
    sizes are compared, hashes are not) and ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for
    each request and, without that file, for each refusal that is logged. err: takes sentences for
    whoever runs the function.
    """
    skips = environment.get("ANSWERABLE_SKIP_HASHES", "").strip().lower()
    verify = skips not in ("1", "true", "yes")
    open_database = find_database_opener(environment)
    begin_startup()
    try:
        from ...limits.policy import read_policy
        from ...provider_registry import list_missing_keys
        from ...settings import read_settings
        from ..service import Service

        settings = read_settings(folder)
        find_engine, find_current_engine = _open_engines(
            folder, open_database, environment, settings, verify=verify
        )
        engine = find_engine()
        policy = read_policy(environment, engine.store.index.site.url)
        cap, most = policy.tokens_per_day, engine.max_question_tokens
        if cap is not None and 0 < cap < most:
            raise PolicyError(
                f"ANSWERABLE_TOKENS_PER_DAY: {cap} is less than one question may cost ({most}): "
                "raise it, or set it to 0 to spend nothing"
            )

        def find_missing_keys(served: "Engine") -> tuple[str, ...]:
            return list_missing_keys(served.embedder.identity.provider, settings)

        service = Service(
            find_engine,
            policy,
            find_current_engine=find_current_engine,
            log=out,
            log_refusal=_open_refusal_log(settings.log_refusals, environment, policy, out, err),
            base=read_base_path(environment),
            list_missing_keys=find_missing_keys,
        )
        service.protections.check_installed()
        if missing := find_missing_keys(engine):
            sentence = f"{', '.join(missing)} is not set: no model is called until it is; set it"
            err(f"{sentence} where the function runs\n".encode())
        return service
    finally:
        end_startup()


def read_base_path(environment: Mapping[str, str]) -> str:
    """Read the path under which a function answers, ``ANSWERABLE_BASE``; PolicyError."""
    path = environment.get("ANSWERABLE_BASE", "").strip().strip("/")
    if not re.fullmatch(r"(?:[\w.~-]+(?:/[\w.~-]+)*)?", path, re.ASCII):
        raise PolicyError(f"ANSWERABLE_BASE: {path!r} is not a path; write one such as /ask/")
    return f"/{path}/" if path else "/"


def begin_startup() -> None:
    """Pause garbage collection, until ``end_startup``: it is a twentieth of a start."""
    gc.disable()


def end_startup() -> None:
    """Collect garbage from here on, but never among the objects that exist already."""
    gc.freeze()
    gc.enable()


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
    open_database: DatabaseOpener | None,
    environment: Mapping[str, str],
    settings: "FunctionSettings",
    *,
    verify: bool,
) -> "tuple[Callable[[], Engine], Callable[[], Engine]]":
    """Return a function that finds the engine to ask, and one that returns the engine at hand.

    Both return the same engine for a bundle. Only the first asks a database what it serves.
    """
    if open_database:
        engines = open_database(folder, environment, verify=verify)
        return engines, engines.current
    if settings.store:
        raise PolicyError(
            f"{DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build without `store`"
        )
    from ...providers import open_function

    engine = open_function(folder, verify=verify)
    return (lambda: engine), (lambda: engine)


def _open_refusal_log(
    setting: str,
    environment: Mapping[str, str],
    policy: "Policy",
    out: WriteLine,
    err: WriteLine,
) -> "LogRefusal | None":
    if setting == "none":
        return None
    from ..logs import make_line_appender, make_refusal_logger

    path, write = environment.get("ANSWERABLE_REFUSALS"), out
    if path:
        write = make_line_appender(Path(path), lambda sentence: err(f"{sentence}\n".encode()))
    return make_refusal_logger(lambda: setting, write, policy.secret)
