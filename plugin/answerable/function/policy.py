"""Read a function's ``Policy`` from ANSWERABLE_* variables: origins, rates, token cap, secrets."""

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from ..serve.errors import PolicyError
from .limits import parse_rates

T = TypeVar("T")
D = TypeVar("D")

ENVIRONMENT_PREFIX = "ANSWERABLE_"
# Fewer characters could be guessed, and with them every hash.
MIN_SECRET_CHARS = 16
_SHA256_HEX = re.compile(r"[0-9a-f]{64}")
_HOST = re.compile(r"[a-z0-9.:_-]+")
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_REDIS_SCHEMES = ("redis", "rediss", "valkey", "valkeys", "unix", "redis+unix", "valkey+unix")
_FLAGS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Policy:
    """Hold the protections of a function.

    ``origins``: the pages that may ask, as ``scheme://host[:port]``. ``rate`` and ``rate_all``: of
    one asker and of all together. ``tokens_per_day``: what providers may count in a UTC day, None
    without a cap. ``deadline``: seconds for one answer. ``bearer`` and ``metrics``: SHA-256
    digests of tokens. ``asker_header``: where a trusted proxy puts the asker's address.
    ``in_flight_per_asker``: of the questions in flight, None without a limit.
    """

    origins: tuple[str, ...] = ()
    rate: str = "20/minute; 300/day"
    rate_all: str = "600/minute"
    redis_url: str | None = None
    cache_seconds: int = 86_400
    cache_entries: int = 1000
    in_flight: int = 12
    in_flight_per_asker: int | None = None
    tokens_per_day: int | None = 3_000_000
    deadline: float = 30.0
    paused: bool = False
    bearer: tuple[str, ...] = ()
    metrics: str | None = None
    asker_header: str | None = None
    secret: bytes = b""


def read_policy(environment: Mapping[str, str], site_url: str | None = None) -> Policy:
    """Read a policy from environment variables; PolicyError names the variable that is wrong.

    site_url: of the bundle's site, whose origin may ask unless others are named.
    """

    def get(name: str, parse: Callable[[str], T], default: D) -> T | D:
        text = environment.get(ENVIRONMENT_PREFIX + name, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            raise PolicyError(f"{ENVIRONMENT_PREFIX}{name}: {error}") from None

    defaults = Policy()
    site_origin = parse_origin(site_url) if site_url else None
    redis_url, secret = get("REDIS_URL", _parse_redis_url, None), get("SECRET", _parse_secret, None)
    if redis_url and not secret:
        raise PolicyError(
            f"{ENVIRONMENT_PREFIX}SECRET: instances that share a store need one secret: set the "
            "same 32 random characters for all of them"
        ) from None
    metrics = get("METRICS_TOKEN", _parse_digests, ())
    in_flight = get("IN_FLIGHT", _make_integer_parser(1), defaults.in_flight)
    return Policy(
        origins=get("ALLOWED_ORIGINS", _parse_origins, (site_origin,) if site_origin else ()),
        rate=get("RATE", _check_rates, defaults.rate),
        rate_all=get("RATE_ALL", _check_rates, defaults.rate_all),
        redis_url=redis_url,
        cache_seconds=get("CACHE_SECONDS", _make_integer_parser(0), defaults.cache_seconds),
        cache_entries=get("CACHE_ENTRIES", _make_integer_parser(1), defaults.cache_entries),
        in_flight=in_flight,
        # A third, rounded up: three askers at least are needed to hold all.
        in_flight_per_asker=get("IN_FLIGHT_PER_ASKER", _make_integer_parser(1), -(-in_flight // 3)),
        tokens_per_day=get("TOKENS_PER_DAY", _make_integer_parser(0), defaults.tokens_per_day),
        deadline=get("DEADLINE", _parse_seconds, defaults.deadline),
        paused=get("PAUSED", _parse_flag, defaults.paused),
        bearer=get("BEARER", _parse_digests, ()),
        metrics=metrics[0] if metrics else None,
        asker_header=get("ASKER_HEADER", _parse_header_name, None),
        secret=secret or os.urandom(32),
    )


def parse_origin(url: str) -> str | None:
    """Reduce a url to its origin as a browser names it; None for one that has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    try:
        # As a browser sends a name that is not ASCII.
        name = parts.hostname.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    if not _HOST.fullmatch(name):
        return None
    host = f"[{name}]" if ":" in name else name
    default_port = {"http": 80, "https": 443}[parts.scheme]
    suffix = f":{port}" if port not in (None, default_port) else ""
    return f"{parts.scheme}://{host}{suffix}"


def _parse_origins(text: str) -> tuple[str, ...]:
    origins = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        origin = parse_origin(part)
        if origin is None or urlsplit(part).path.strip("/"):
            raise ValueError(
                f"{part!r} is not an origin; write one such as https://docs.example.com"
            )
        origins.append(origin)
    return tuple(origins)


def _check_rates(text: str) -> str:
    parse_rates(text)
    return text


def _parse_header_name(text: str) -> str:
    if not _HEADER.fullmatch(text):
        raise ValueError(f"{text!r} is not the name of a header; write one such as X-Forwarded-For")
    return text.lower()


def _parse_redis_url(text: str) -> str:
    if urlsplit(text).scheme not in _REDIS_SCHEMES:
        # The url may hold a password: it is not repeated.
        raise ValueError(
            "it has to begin with redis://, rediss://, valkey://, valkeys:// or unix://"
        )
    return text


def _make_integer_parser(least: int) -> Callable[[str], int]:
    def parse_integer(text: str) -> int:
        # Ten digits are enough for anything that is counted here.
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) >= least):
            raise ValueError(f"{text!r:.40} is not a whole number from {least} to 9999999999")
        return int(text)

    return parse_integer


def _parse_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1 <= value <= 600:
        raise ValueError(f"{text!r} is not a number of seconds from 1 to 600")
    return value


def _parse_flag(text: str) -> bool:
    if text.lower() not in _FLAGS:
        raise ValueError(f"{text!r} is neither 1 nor 0")
    return _FLAGS[text.lower()]


def _parse_digests(text: str) -> tuple[str, ...]:
    digests = tuple(filter(None, (part.strip().lower() for part in text.split(","))))
    if not all(map(_SHA256_HEX.fullmatch, digests)):
        raise ValueError(
            "it takes SHA-256 digests in hexadecimal, not tokens; make one with "
            "`printf %s TOKEN | sha256sum`"
        )
    if not digests:
        raise ValueError("it holds no digest; leave it out or name one")
    return digests


def _parse_secret(text: str) -> bytes:
    if len(text) < MIN_SECRET_CHARS:
        raise ValueError(f"it needs {MIN_SECRET_CHARS} characters; set a longer one")
    return text.encode()
