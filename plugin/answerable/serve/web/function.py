"""A deployed function: its folder and its environment made into a service.

Nothing is imported here that imports numpy, so that its files are read ahead.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .. import database
from ..errors import PolicyError
from . import starting

if TYPE_CHECKING:
    from ..ahead import Ahead
    from ..engine import Engine
    from ..protection.policy import Policy
    from ..refusals import Keep
    from ..settings import Settings
    from .service import Service

Write = Callable[[bytes], object]


def open_service(folder: Path, environment: Mapping[str, str], out: Write, err: Write) -> "Service":
    """The service of a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` (1:
    sizes are compared, hashes are not) and ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for
    each request and, without that file, for each refusal that is kept. err: takes sentences for
    whoever runs it.
    """
    skips = environment.get("ANSWERABLE_SKIP_HASHES", "").strip().lower()
    verify = skips not in ("1", "true", "yes")
    asked = database.read(environment)
    ahead = starting.begin(folder, verify=verify, has_bundle=asked is None)
    try:
        from .. import settings
        from ..protection import policy
        from . import answering
        from .service import Service

        chosen = settings.read(folder)
        engines, held = _engines(folder, asked, chosen, ahead, verify=verify)
        engine = engines()
        found = policy.read(environment, engine.store.site.url)
        _check_cap(found.tokens_per_day, answering.worst_tokens(engine.embedder, engine.answerer))
        service = Service(
            engines,
            found,
            log=out,
            keep=_keeper(chosen.log_refusals, environment, found, out, err),
            log_questions=chosen.log_questions,
            base=base(environment),
            held=held,
        )
        service.guards.check()
        return service
    finally:
        starting.end()


def _engines(
    folder: Path,
    asked: database.Database | None,
    chosen: "Settings",
    ahead: "Ahead | None",
    *,
    verify: bool,
) -> "tuple[Callable[[], Engine], Callable[[], Engine]]":
    """What gives the engine to ask: always the same, or the one of the bundle that is served.

    The second gives the one at hand and asks no database.
    """
    if asked:
        from ..postgres import source

        found = source.of_function(folder, asked, verify=verify)
        return found, found.held
    if chosen.store:
        raise PolicyError(
            f"{database.URL}: this site is served from a database; set its address, or build "
            "without `store`"
        )
    from .. import providers

    engine = providers.open_function(folder, verify=verify, ahead=ahead)
    return (lambda: engine), (lambda: engine)


def _check_cap(tokens: int | None, worst: int) -> None:
    if tokens is not None and 0 < tokens < worst:
        raise PolicyError(
            f"ANSWERABLE_TOKENS_PER_DAY: {tokens} is less than one question may cost ({worst}): "
            "raise it, or set it to 0 to spend nothing"
        )


def base(environment: Mapping[str, str]) -> str:
    """Where the function answers on its host: ``ANSWERABLE_BASE``, / by default; PolicyError."""
    path = environment.get("ANSWERABLE_BASE", "").strip().strip("/")
    if not re.fullmatch(r"(?:[\w.~-]+(?:/[\w.~-]+)*)?", path, re.ASCII):
        raise PolicyError(f"ANSWERABLE_BASE: {path!r} is no path; write one such as /ask/")
    return f"/{path}/" if path else "/"


def _keeper(
    how: str, environment: Mapping[str, str], found: "Policy", out: Write, err: Write
) -> "Keep | None":
    if how == "none":
        return None
    from .. import refusals

    path = environment.get("ANSWERABLE_REFUSALS")
    write = refusals.appender(Path(path), lambda told: err(f"{told}\n".encode())) if path else out
    return refusals.keeper(lambda: how, write, found.secret)
