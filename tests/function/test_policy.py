"""The protections as the environment sets them: every variable, read whole or refused by name."""

import hashlib
from typing import Any

import msgspec
import pytest

from answerable.engine.errors import PolicyError
from answerable.function.policy import Policy, read_policy

SITE = "https://harbour.example/docs/"
DIGEST = hashlib.sha256(b"harbour-master").hexdigest()
OTHER = hashlib.sha256(b"pilot").hexdigest()
SECRET = "a-secret-of-the-harbour"


def read_variables(site_url: str | None = SITE, **variables: str) -> Policy:
    return read_policy({f"ANSWERABLE_{name}": text for name, text in variables.items()}, site_url)


def refusal(**variables: str) -> str:
    with pytest.raises(PolicyError) as caught:
        read_variables(**variables)
    # Whoever logs the error with its causes must not log what was set.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return str(caught.value)


def test_empty_environment_gives_documented_defaults() -> None:
    policy = read_policy({}, SITE)
    assert policy.allowed_origins == ("https://harbour.example",)
    assert (policy.rate, policy.rate_all) == ("20/minute; 300/day", "600/minute")
    assert (policy.redis_url, policy.cache_seconds, policy.cache_entries) == (None, 86_400, 1000)
    assert (policy.in_flight, policy.in_flight_per_asker, policy.deadline) == (12, None, 30.0)
    assert (policy.tokens_per_day, policy.asker_header) == (3_000_000, None)
    assert (policy.paused, policy.bearer, policy.metrics_token) == (False, (), None)
    assert len({read_policy({}, SITE).secret for _ in range(3)}) == 3


@pytest.mark.parametrize("text", ["", " \t\n"])
def test_empty_variable_counts_as_unset(text: str) -> None:
    names = {field.encode_name: text for field in msgspec.structs.fields(Policy)}
    secret = {"ANSWERABLE_SECRET": SECRET}
    assert read_policy({**names, **secret}, SITE) == read_policy(secret, SITE)


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("RATE", "5/hour", "rate", "5/hour"),
        ("RATE_ALL", " 9/second; 90/day ", "rate_all", "9/second; 90/day"),
        ("REDIS_URL", "rediss://:word@host", "redis_url", "rediss://:word@host"),
        ("REDIS_URL", "unix:///run/redis.sock", "redis_url", "unix:///run/redis.sock"),
        ("CACHE_SECONDS", "0", "cache_seconds", 0),
        ("CACHE_ENTRIES", "1", "cache_entries", 1),
        ("IN_FLIGHT", "1", "in_flight", 1),
        ("IN_FLIGHT_PER_ASKER", "12", "in_flight_per_asker", 12),
        ("TOKENS_PER_DAY", "0", "tokens_per_day", 0),
        ("DEADLINE", "2.5", "deadline", 2.5),
        ("PAUSED", "1", "paused", True),
        ("PAUSED", "false", "paused", False),
        ("BEARER", f" {DIGEST.upper()},,{OTHER} ,", "bearer", (DIGEST, OTHER)),
        ("METRICS_TOKEN", DIGEST, "metrics_token", DIGEST),
        ("SECRET", SECRET, "secret", SECRET),
        ("ASKER_HEADER", "X-Forwarded-For", "asker_header", "x-forwarded-for"),
        ("BASE", "ask/it", "base", "/ask/it/"),
        ("BASE", "/", "base", "/"),
    ],
)
def test_variable_sets_its_field(name: str, text: str, field: str, value: Any) -> None:
    # A store that instances share wants a secret that they share.
    assert getattr(read_variables(**{"SECRET": SECRET, name: text}), field) == value


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("https://harbour.example/", ("https://harbour.example",)),
        ("HTTPS://Harbour.Example", ("https://harbour.example",)),
        ("https://harbour.example:443", ("https://harbour.example",)),
        ("http://harbour.example:80", ("http://harbour.example",)),
        ("https://harbour.example:8443", ("https://harbour.example:8443",)),
        ("http://localhost:8000, https://a.example,", ("http://localhost:8000", "https://a.example")),
        ("http://[::1]:8000", ("http://[::1]:8000",)),
        ("https://häfen.example", ("https://xn--hfen-loa.example",)),
    ],
)  # fmt: skip
def test_origins_are_normalized_like_a_browser(text: str, origins: tuple[str, ...]) -> None:
    assert read_variables(ALLOWED_ORIGINS=text).allowed_origins == origins


@pytest.mark.parametrize("site_url", [None, "", "/docs/", "ftp://harbour.example/", "https://[/"])
def test_policy_without_site_url_allows_no_origin(site_url: str | None) -> None:
    assert read_policy({}, site_url).allowed_origins == ()


@pytest.mark.parametrize(
    "text",
    [
        "*", "https://*.example", "null", "harbour.example", "ftp://harbour.example", "https://", "https://[",
        "https://harbour.example/docs", "https://harbour.example:99999",
    ],
)  # fmt: skip
def test_invalid_origin_is_rejected_with_example(text: str) -> None:
    origins = f"https://a.example,{text}"
    assert refusal(ALLOWED_ORIGINS=origins) == (
        f"ANSWERABLE_ALLOWED_ORIGINS: {origins!r} is not an origin; "
        "write one such as https://docs.example.com"
    )


NO_RATE = "is not a rate; write one such as 20/minute; 300/day"
NO_COUNT = "is not a whole number from 1 to 9999999999"
NO_DEADLINE = "is not a number of seconds from 1 to 600"
NO_FLAG = "is not a switch; write 1 or 0"
NO_DIGEST = "a SHA-256 digest in hexadecimal; make one with `printf %s TOKEN | sha256sum`"


@pytest.mark.parametrize(
    ("name", "texts", "sentence"),
    [
        ("RATE", ("20", "20/fortnight", "0/minute", "-1/minute", "many", ";"), NO_RATE),
        ("RATE_ALL", ("20",), NO_RATE),
        ("IN_FLIGHT", ("0", "-1", "1.5", "1_000", "0x10", "\u0663", "1 0", "1" * 11), NO_COUNT),
        ("CACHE_ENTRIES", ("0",), NO_COUNT),
        ("IN_FLIGHT_PER_ASKER", ("0",), NO_COUNT),
        ("CACHE_SECONDS", ("-1",), NO_COUNT.replace("from 1", "from 0")),
        ("TOKENS_PER_DAY", ("many",), NO_COUNT.replace("from 1", "from 0")),
        ("DEADLINE", ("0", "0.9", "601", "-1", "nan", "inf", "soon"), NO_DEADLINE),
        ("PAUSED", ("2", "on", "1 1"), NO_FLAG),
        ("BASE", ("a b", "//x//y", "/é/"), "is not a path; write one such as /ask/"),
    ],
)
def test_invalid_value_is_rejected_with_what_to_write(
    name: str, texts: tuple[str, ...], sentence: str
) -> None:
    for text in texts:
        assert refusal(**{name: text}) == f"ANSWERABLE_{name}: {text!r} {sentence}"


@pytest.mark.parametrize(
    ("name", "texts", "sentence"),
    [
        (
            "BEARER",
            ("harbour-master", DIGEST[:-1], DIGEST[:-1] + "g", f"{OTHER},{DIGEST}0", " , "),
            NO_DIGEST,
        ),
        ("METRICS_TOKEN", ("harbour-master",), NO_DIGEST),
        (
            "SECRET",
            ("harbour",),
            "a text of 16 characters; set the output of `openssl rand -hex 32`",
        ),
        (
            "REDIS_URL",
            ("http://:word@host", "localhost:6379", "//host", "word"),
            "the address of a Redis server; write one such as redis://host:6379/0",
        ),
    ],
)
def test_what_may_hold_a_secret_is_rejected_without_its_value(
    name: str, texts: tuple[str, ...], sentence: str
) -> None:
    for text in texts:
        assert refusal(**{name: text}) == f"ANSWERABLE_{name}: this is not {sentence}"


def test_a_shared_store_needs_a_shared_secret() -> None:
    with pytest.raises(PolicyError, match="ANSWERABLE_SECRET: instances that share a store need"):
        read_variables(REDIS_URL="redis://localhost")
