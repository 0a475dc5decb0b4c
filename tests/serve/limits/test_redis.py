"""Limits, spending and answers that instances share over a real Redis, and its outages."""

import signal
import sys
from dataclasses import replace

import pytest
import redis

from answerable.serve.engine import Engine
from answerable.serve.errors import PolicyError, StorageError
from answerable.serve.limits.answer_cache import RedisStore, connect_redis, create_answer_cache
from answerable.serve.limits.rate_limit import create_rate_limiter
from answerable.serve.limits.token_budget import create_token_budget
from support.deadlines import PATIENCE, finish
from support.redis_server import RedisServer
from support.service_requests import USUAL, Paid, asking, code, letters


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("redis"))


def test_instances_share_a_redis_and_refuse_without_it(
    base: Engine, redis_server: RedisServer
) -> None:
    """Two services are one to their askers: one cache, one rate, one cap."""
    policy = replace(USUAL, redis_url=redis_server.url, rate="4/hour", tokens_per_day=129)
    one, other = asking(base, policy), asking(base, policy)
    assert one().json["answer"] == other().json["answer"]
    assert [service.log[0]["cache"] for service in (one, other)] == ["miss", "hit"]
    # The first answer has cost 30 tokens, and another one may cost 100.
    assert code(other("Another?")) == code(one("Another?")) == "capped"
    assert code(other()) == code(one()) == "rate-limited"
    redis_server.kill()
    calls = [*one.answerer.questions, *other.answerer.questions]
    for response in (one(asker="192.0.2.2"), other.get("search", "q=rope"), one.get("ready")):
        assert code(response) == "unavailable"
    assert [*one.answerer.questions, *other.answerer.questions] == calls
    redis_server.start()
    assert one(asker="192.0.2.2").status == other.get("ready").status == 200


def test_wrong_redis_url_is_reported_without_its_password() -> None:
    for wrong in ("http://:hunter2@store", "hunter2", "redis://:hunter2@store:port"):
        with pytest.raises(PolicyError, match="write it like redis://host:6379/0") as refused:
            connect_redis(wrong)
        assert "hunter2" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_missing_redis_package_is_policy_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(PolicyError, match="the package redis is not installed"):
        RedisStore("redis://store")


@pytest.mark.deep
def test_paid_answer_is_delivered_although_redis_is_killed(
    base: Engine, redis_server: RedisServer
) -> None:
    policy = replace(USUAL, redis_url=redis_server.url, tokens_per_day=1000)
    ask = asking(base, policy, answerer=Paid(before=redis_server.kill))
    # The call is charged in Redis before it is made, and not after it.
    assert ask().json["mode"] == "partial"
    assert code(ask()) == "unavailable"


@pytest.mark.deep
def test_redis_that_hangs_counts_as_away_until_it_goes_on(redis_server: RedisServer) -> None:
    limiter = create_rate_limiter("10/hour", "10/hour", redis_server.url)
    assert limiter.admit("asker") is None
    assert redis_server.process is not None
    redis_server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StorageError):
        finish(lambda: limiter.admit("asker"))
    redis_server.process.send_signal(signal.SIGCONT)
    assert limiter.admit("asker") is None


@pytest.mark.deep
def test_refused_request_counts_nowhere_in_redis(redis_server: RedisServer) -> None:
    limiter = create_rate_limiter("2/hour", "3/hour", redis_server.url)
    assert [limiter.admit("asker") is None for _ in range(6)] == [True] * 2 + [False] * 4
    assert limiter.admit("other") is None
    assert limiter.admit("other") is not None


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_every_key_has_prefix_and_expiry(redis_server: RedisServer, scheme: str) -> None:
    url = redis_server.url.replace("redis", scheme, 1)
    create_rate_limiter("10/minute; 300/day", "600/minute", url).admit("asker")
    create_token_budget(100, url).reserve(1)
    cache = create_answer_cache(10, 60, url)
    cache.get_or_make("stored", lambda: (b"1", True), PATIENCE)
    cache.get_or_make("shared", lambda: (b"2", False), PATIENCE)
    with redis.Redis.from_url(redis_server.url) as client:
        keys = [key.decode() for key in client.keys("*")]
        assert len(keys) == 7
        assert all(key.startswith("answerable:") for key in keys)
        assert all(client.pttl(key) > 0 for key in keys)


@pytest.mark.deep
def test_key_of_a_dead_instance_is_free_when_its_time_is_over(redis_server: RedisServer) -> None:
    cache = create_answer_cache(10, 60, redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("answerable:answering:key", "dead", px=60_000)
        with pytest.raises(TimeoutError, match="ask again"):
            cache.get_or_make("key", lambda: (b"", True), 0.1)
        client.pexpire("answerable:answering:key", 1)
    assert cache.get_or_make("key", lambda: (b"1", True), PATIENCE) == (b"1", "miss")
