"""The protections of a function, read from the variables of its environment."""

import re
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from ..engine.errors import PolicyError

PREFIX = "ANSWERABLE_"
_RATE = r"[1-9][0-9]{0,9}/(second|minute|hour|day)"
_MOST = 9_999_999_999

# What each variable takes; the description says what to write instead of what it does not take.
Origin = Annotated[str, Meta(description="an origin; write one such as https://docs.example.com")]
Rates = Annotated[
    str,
    Meta(
        pattern=rf"^{_RATE}(\s*[;,]\s*{_RATE})*$",
        description="a rate; write one such as 20/minute; 300/day",
    ),
]
Count = Annotated[int, Meta(ge=1, le=_MOST, description=f"a whole number from 1 to {_MOST}")]
CountOrZero = Annotated[int, Meta(ge=0, le=_MOST, description=f"a whole number from 0 to {_MOST}")]
Seconds = Annotated[float, Meta(ge=1, le=600, description="a number of seconds from 1 to 600")]
Switch = Annotated[bool, Meta(description="a switch; write 1 or 0")]
HeaderName = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9-]+$",
        description="the name of a header; write one such as X-Forwarded-For",
    ),
]
RedisUrl = Annotated[
    str,
    Meta(
        pattern="^(rediss?|unix)://",
        description="the address of a Redis server; write one such as redis://host:6379/0",
    ),
]
BasePath = Annotated[
    str,
    Meta(
        pattern="^/([A-Za-z0-9_.~-]+/)*$",
        description="a path; write one such as /ask/",
    ),
]
_DIGEST = "a SHA-256 digest in hexadecimal; make one with `printf %s TOKEN | sha256sum`"
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description=_DIGEST)]
Digests = Annotated[tuple[Digest, ...], Meta(min_length=1, description=_DIGEST)]
# Fewer characters could be guessed, and with them every hash.
Secret = Annotated[
    str,
    Meta(
        min_length=16,
        description="a text of 16 characters; set the output of `openssl rand -hex 32`",
    ),
]
# An address may hold a password, and whoever mistakes a digest writes a token: neither is repeated.
_NOT_REPEATED = ("redis_url", "secret", "bearer", "metrics_token")


class Policy(msgspec.Struct, frozen=True, rename=lambda name: PREFIX + name.upper()):
    """The protections of a function, each named like the variable that sets it.

    ``allowed_origins``: the pages that may ask. ``rate`` and ``rate_all``: of one asker and of all
    together. ``tokens_per_day``: what providers may count in a UTC day, None without a cap.
    ``deadline``: seconds for one answer. ``in_flight``: questions answered at once, and
    ``in_flight_per_asker`` of one asker, None for a third. ``bearer`` and ``metrics_token``:
    digests of tokens. ``asker_header``: where a trusted proxy puts the asker's address. ``base``:
    the path that the function answers under.
    """

    allowed_origins: tuple[Origin, ...] = ()
    rate: Rates = "20/minute; 300/day"
    rate_all: Rates = "600/minute"
    redis_url: RedisUrl | None = None
    cache_seconds: CountOrZero = 86_400
    cache_entries: Count = 1000
    in_flight: Count = 12
    in_flight_per_asker: Count | None = None
    tokens_per_day: CountOrZero | None = 3_000_000
    deadline: Seconds = 30.0
    paused: Switch = False
    bearer: Digests = ()
    metrics_token: Digest | None = None
    asker_header: HeaderName | None = None
    base: BasePath = "/"
    secret: Secret = msgspec.field(default_factory=lambda: secrets.token_hex(32))


# For who asks on their own machine: as often as they like, and of what they have just written.
UNLIMITED = Policy(
    rate="1000/second",
    rate_all="1000/second",
    cache_seconds=0,
    in_flight=64,
    tokens_per_day=None,
    deadline=600.0,
)


def read_policy(environment: Mapping[str, str], site_url: str | None = None) -> Policy:
    """Read a policy; PolicyError names the variable that is wrong, and what to write.

    site_url: of the bundle's site, whose origin may ask unless others are named.
    """
    values: dict[str, Any] = {}
    if origin := parse_origin(site_url or ""):
        values["allowed_origins"] = (origin,)
    for field in msgspec.structs.fields(Policy):
        if text := environment.get(field.encode_name, "").strip():
            try:
                value = _parse(field.name, text)
                values[field.name] = msgspec.convert(value, field.type, strict=False)
            # That of msgspec is one too.
            except ValueError:
                shown = "this" if field.name in _NOT_REPEATED else f"{text!r}"
                description = _find_description(field.type)
                raise PolicyError(f"{field.encode_name}: {shown} is not {description}") from None
    if "redis_url" in values and "secret" not in values:
        raise PolicyError(
            f"{PREFIX}SECRET: instances that share a store need one secret: set the same 32 "
            "random characters for all of them"
        )
    return Policy(**values)


def parse_origin(url: str) -> str | None:
    """Reduce a url to its origin as a browser names it; None for one that has none."""
    try:
        parts = urlsplit(url)
        # As a browser sends a name that is not ASCII.
        host = (parts.hostname or "").encode("idna").decode("ascii")
        port = parts.port
    except ValueError:
        return None
    # A wildcard would match nothing.
    if parts.scheme not in ("http", "https") or not re.fullmatch("[a-z0-9.:_-]+", host):
        return None
    default_port = {"http": 80, "https": 443}[parts.scheme]
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, default_port) else "")


def _parse(name: str, text: str) -> object:
    """Parse lists and what may be written in capitals."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if name == "allowed_origins":
        return [None if urlsplit(part).path.strip("/") else parse_origin(part) for part in parts]
    if name == "bearer":
        return [part.lower() for part in parts]
    if name == "base":
        return f"/{path}/" if (path := text.strip("/")) else "/"
    return text.lower() if name in ("metrics_token", "asker_header") else text


def _find_description(hint: Any) -> str:
    """Find the description of a type, or of the first part of it that has one."""
    metas = (meta for part in (hint, *get_args(hint)) for meta in getattr(part, "__metadata__", ()))
    return next(str(meta.description) for meta in metas if meta.description)
