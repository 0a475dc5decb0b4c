"""The protections as the environment sets them: every variable, read whole or refused by name."""

import hashlib
from typing import Any

import pytest

from answerable.function.policy import Policy, read_policy
from answerable.serve.errors import PolicyError

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
    assert policy.origins == ("https://harbour.example",)
    assert (policy.rate, policy.rate_all) == ("20/minute; 300/day", "600/minute")
    assert (policy.redis_url, policy.cache_seconds, policy.cache_entries) == (None, 86_400, 1000)
    assert (policy.in_flight, policy.tokens_per_day, policy.deadline) == (12, 3_000_000, 30.0)
    assert (policy.paused, policy.bearer, policy.metrics) == (False, (), None)
    assert policy.asker_header is None
    assert policy.in_flight_per_asker == 4


def test_default_secret_is_random() -> None:
    secrets = {read_policy({}, SITE).secret for _ in range(3)}
    assert {len(secret) for secret in secrets} == {32}
    assert len(secrets) == 3


@pytest.mark.parametrize("text", ["", " ", "\t\n"])
def test_empty_variable_counts_as_unset(text: str) -> None:
    names = [
        "ALLOWED_ORIGINS", "RATE", "RATE_ALL", "REDIS_URL", "CACHE_SECONDS", "CACHE_ENTRIES",
        "IN_FLIGHT", "TOKENS_PER_DAY", "DEADLINE", "PAUSED", "BEARER", "METRICS_TOKEN",
        "ASKER_HEADER", "IN_FLIGHT_PER_ASKER",
    ]  # fmt: skip
    policy = read_variables(**dict.fromkeys(names, text), SECRET=SECRET)
    assert policy == read_variables(SECRET=SECRET)


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("RATE", "5/hour", "rate", "5/hour"),
        ("RATE_ALL", " 9/second; 90/day ", "rate_all", "9/second; 90/day"),
        ("REDIS_URL", "redis://localhost:6379/0", "redis_url", "redis://localhost:6379/0"),
        ("REDIS_URL", "rediss://:word@host", "redis_url", "rediss://:word@host"),
        ("REDIS_URL", "unix:///run/redis.sock", "redis_url", "unix:///run/redis.sock"),
        ("CACHE_SECONDS", "0", "cache_seconds", 0),
        ("CACHE_ENTRIES", "1", "cache_entries", 1),
        ("IN_FLIGHT", "1", "in_flight", 1),
        ("IN_FLIGHT", "1", "in_flight_per_asker", 1),
        ("IN_FLIGHT", "100", "in_flight_per_asker", 34),
        ("IN_FLIGHT_PER_ASKER", "12", "in_flight_per_asker", 12),
        ("TOKENS_PER_DAY", "0", "tokens_per_day", 0),
        ("DEADLINE", "1", "deadline", 1.0),
        ("DEADLINE", "2.5", "deadline", 2.5),
        ("DEADLINE", "600", "deadline", 600.0),
        ("PAUSED", "1", "paused", True),
        ("PAUSED", "TRUE", "paused", True),
        ("PAUSED", "yes", "paused", True),
        ("PAUSED", "0", "paused", False),
        ("PAUSED", "false", "paused", False),
        ("PAUSED", "no", "paused", False),
        ("BEARER", DIGEST, "bearer", (DIGEST,)),
        ("BEARER", f" {DIGEST.upper()},,{OTHER} ,", "bearer", (DIGEST, OTHER)),
        ("METRICS_TOKEN", DIGEST, "metrics", DIGEST),
        ("SECRET", SECRET, "secret", SECRET.encode()),
        ("ASKER_HEADER", "X-Forwarded-For", "asker_header", "x-forwarded-for"),
    ],
)
def test_variable_sets_its_field(name: str, text: str, field: str, value: Any) -> None:
    # A store that instances share wants a secret that they share.
    assert getattr(read_variables(**{"SECRET": SECRET, name: text}), field) == value


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("https://harbour.example", ("https://harbour.example",)),
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
    assert read_variables(ALLOWED_ORIGINS=text).origins == origins


@pytest.mark.parametrize("site_url", [None, "", "/docs/", "ftp://harbour.example/", "https://[/"])
def test_policy_without_site_url_allows_no_origin(site_url: str | None) -> None:
    assert read_policy({}, site_url).origins == ()


def test_allowed_origins_replace_site_origin() -> None:
    assert read_variables(ALLOWED_ORIGINS="https://a.example").origins == ("https://a.example",)


@pytest.mark.parametrize(
    "text",
    [
        "*", "null", "harbour.example", "ftp://harbour.example", "https://", "https://[",
        "https://harbour.example/docs", "https://harbour.example:99999",
    ],
)  # fmt: skip
def test_invalid_origin_is_rejected_with_example(text: str) -> None:
    message = refusal(ALLOWED_ORIGINS=f"https://a.example,{text}")
    assert message == (
        f"ANSWERABLE_ALLOWED_ORIGINS: {text!r} is not an origin; "
        "write one such as https://docs.example.com"
    )


NO_RATE = "is not a rate; write one such as 20/minute; 300/day"
NO_COUNT = "is not a whole number from 1 to 9999999999"
NO_DEADLINE = "is not a number of seconds from 1 to 600"
NO_FLAG = "is neither 1 nor 0"


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
    ],
)
def test_invalid_value_is_rejected_with_what_to_write(
    name: str, texts: tuple[str, ...], sentence: str
) -> None:
    for text in texts:
        assert refusal(**{name: text}) == f"ANSWERABLE_{name}: {text!r} {sentence}"


@pytest.mark.parametrize("name", ["BEARER", "METRICS_TOKEN"])
def test_token_instead_of_digest_is_rejected_without_its_value(name: str) -> None:
    for text in ("harbour-master", DIGEST[:-1], DIGEST[:-1] + "g", DIGEST + "0"):
        assert refusal(**{name: f"{OTHER},{text}"}) == (
            f"ANSWERABLE_{name}: it takes SHA-256 digests in hexadecimal, not tokens; make one "
            "with `printf %s TOKEN | sha256sum`"
        )
    assert refusal(**{name: " , "}) == (
        f"ANSWERABLE_{name}: it holds no digest; leave it out or name one"
    )


def test_secret_and_redis_url_are_rejected_without_their_values() -> None:
    assert refusal(SECRET="harbour") == (
        "ANSWERABLE_SECRET: it needs 16 characters; set a longer one"
    )
    for text in ("http://:word@host", "localhost:6379", "//host", "word"):
        assert refusal(REDIS_URL=text) == (
            "ANSWERABLE_REDIS_URL: it has to begin with redis://, rediss://, valkey://, "
            "valkeys:// or unix://"
        )
    message = refusal(REDIS_URL="redis://localhost")
    assert message.startswith("ANSWERABLE_SECRET: instances that share a store need one secret")
