"""Which database a function is to answer from, as its environment says; none by default."""

import math
from collections.abc import Mapping

from .errors import PolicyError
from .frozen import frozen

URL = "ANSWERABLE_DATABASE_URL"
_CONNECTIONS = "ANSWERABLE_DATABASE_CONNECTIONS"
_TIMEOUT = "ANSWERABLE_DATABASE_TIMEOUT"
_SCHEMES = ("postgresql://", "postgres://")
# What a function's bundle is called in a database that holds several sites, unless it is named.
NAME = "site"


@frozen
class Database:
    """Where a database is, how many connections a process opens and how long one question waits.

    ``url`` may hold a password: no text may repeat it. ``timeout``: seconds that a question may
    wait for it in all.
    """

    url: str
    connections: int = 4
    timeout: float = 5.0


def read(environment: Mapping[str, str]) -> Database | None:
    """The database that an environment names; PolicyError names the variable that is wrong."""
    url = environment.get(URL, "").strip()
    if not url:
        return None
    check_url(url, URL)
    usual = Database(url)
    connections = environment.get(_CONNECTIONS, "").strip() or str(usual.connections)
    if not (connections.isascii() and connections.isdigit() and 1 <= int(connections[:9]) <= 1000):
        raise PolicyError(f"{_CONNECTIONS}: {connections!r:.40} is no whole number from 1 to 1000")
    seconds = environment.get(_TIMEOUT, "").strip() or str(usual.timeout)
    return Database(url, int(connections), _seconds(seconds))


def check_url(url: str, where: str) -> None:
    """Refuse an address of no PostgreSQL server; PolicyError does not repeat it."""
    if not url.startswith(_SCHEMES):
        raise PolicyError(f"{where}: it has to begin with postgresql://")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.1 <= value <= 60:
        raise PolicyError(f"{_TIMEOUT}: {text!r:.40} is no number of seconds from 0.1 to 60")
    return value
