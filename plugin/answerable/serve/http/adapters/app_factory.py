"""The standard streams of a function, where its platform collects what it says.

The start of a function's process: what comes before numpy is imported, and what at its end.

A deployed function: its folder and its environment made into a service.

Nothing is imported here that imports numpy, so that its files are read ahead.
"""

import gc
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...errors import PolicyError
from ...settings import BUNDLE_FOLDER
from ...stores.postgres import database_options
from ...stores.postgres.database_options import DatabaseOptions, read_database_options
from ...stores.prefetch import Prefetch


def write_stdout(line: bytes) -> None:
    """Write a line to standard output."""
    write_line(sys.stdout.buffer, line)


def write_stderr(line: bytes) -> None:
    """Write a line to standard error."""
    write_line(sys.stderr.buffer, line)


def write_line(stream: BinaryIO, line: bytes) -> None:
    """Write a line at once: what waits may be frozen with the function."""
    stream.write(line)
    stream.flush()


def begin_startup(function: Path, *, verify: bool, has_bundle: bool = True) -> Prefetch | None:
    """Begin to read a function's folder, before anything imports numpy.

    verify: hash the files of its bundle. has_bundle: it is asked; else there is nothing to read.
    Garbage is not collected until ``end``.
    """
    # Looking for garbage among what is kept for good is a twentieth of a start.
    gc.disable()
    return Prefetch(function / BUNDLE_FOLDER, verify=verify) if has_bundle else None


def end_startup() -> None:
    """Collect garbage from here on, but never look at what there is already."""
    gc.freeze()
    gc.enable()


if TYPE_CHECKING:
    from ...engine import Engine
    from ...limits.policy import Policy
    from ...settings import FunctionSettings
    from ...stores.prefetch import Prefetch
    from ..refusal_log import LogRefusal
    from ..service import Service

WriteLine = Callable[[bytes], object]


def open_service(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> "Service":
    """The service of a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` (1:
    sizes are compared, hashes are not) and ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for
    each request and, without that file, for each refusal that is kept. err: takes sentences for
    whoever runs it.
    """
    skips = environment.get("ANSWERABLE_SKIP_HASHES", "").strip().lower()
    verify = skips not in ("1", "true", "yes")
    asked = read_database_options(environment)
    prefetch = begin_startup(folder, verify=verify, has_bundle=asked is None)
    try:
        from ...limits.policy import read_policy
        from ...settings import read_settings
        from ..service import Service

        chosen = read_settings(folder)
        engines, held = _open_engines(folder, asked, chosen, prefetch, verify=verify)
        engine = engines()
        found = read_policy(environment, engine.store.site.url)
        _check_cap(found.tokens_per_day, engine.max_question_tokens)
        service = Service(
            engines,
            found,
            log=out,
            keep=_open_refusal_log(chosen.log_refusals, environment, found, out, err),
            log_questions=chosen.log_questions,
            base=read_base_path(environment),
            held=held,
        )
        service.guards.check()
        return service
    finally:
        end_startup()


def _open_engines(
    folder: Path,
    asked: DatabaseOptions | None,
    chosen: "FunctionSettings",
    prefetch: "Prefetch | None",
    *,
    verify: bool,
) -> "tuple[Callable[[], Engine], Callable[[], Engine]]":
    """What gives the engine to ask: always the same, or the one of the bundle that is served.

    The second gives the one at hand and asks no database.
    """
    if asked:
        from ...database_engine import open_database_engine

        found = open_database_engine(folder, asked, verify=verify)
        return found, found.current
    if chosen.store:
        raise PolicyError(
            f"{database_options.DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build "
            "without `store`"
        )
    from ...providers import open_function

    engine = open_function(folder, verify=verify, prefetch=prefetch)
    return (lambda: engine), (lambda: engine)


def _check_cap(tokens: int | None, worst: int) -> None:
    if tokens is not None and 0 < tokens < worst:
        raise PolicyError(
            f"ANSWERABLE_TOKENS_PER_DAY: {tokens} is less than one question may cost ({worst}): "
            "raise it, or set it to 0 to spend nothing"
        )


def read_base_path(environment: Mapping[str, str]) -> str:
    """Where the function answers on its host: ``ANSWERABLE_BASE``, / by default; PolicyError."""
    path = environment.get("ANSWERABLE_BASE", "").strip().strip("/")
    if not re.fullmatch(r"(?:[\w.~-]+(?:/[\w.~-]+)*)?", path, re.ASCII):
        raise PolicyError(f"ANSWERABLE_BASE: {path!r} is no path; write one such as /ask/")
    return f"/{path}/" if path else "/"


def _open_refusal_log(
    how: str, environment: Mapping[str, str], found: "Policy", out: WriteLine, err: WriteLine
) -> "LogRefusal | None":
    if how == "none":
        return None
    from ..refusal_log import make_line_appender, make_refusal_logger

    path = environment.get("ANSWERABLE_REFUSALS")
    write = make_line_appender(Path(path), lambda told: err(f"{told}\n".encode())) if path else out
    return make_refusal_logger(lambda: how, write, found.secret)
