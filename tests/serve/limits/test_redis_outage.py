"""A Redis that is killed, hangs or loses a reply: nobody waits, and nothing is made or spent."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

import pytest
import redis

from answerable.serve.errors import PolicyError, StorageError
from answerable.serve.limits import answer_cache
from answerable.serve.limits.answer_cache import RedisStore, connect_redis, create_answer_cache
from answerable.serve.limits.rate_limit import create_rate_limiter
from answerable.serve.limits.token_budget import create_token_budget
from serve.limits.test_answer_cache import Maker
from support.deadlines import PATIENCE, finish
from support.token_budget_checks import attempt, refusal


class LossyLine:
    """Passes one command at a time to a server; while ``loses``, it hangs up before the reply.

    For clients that send a command only after the reply to the one before.
    """

    def __init__(self, port: int) -> None:
        self.loses = False
        self._server = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> LossyLine:
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        del kind, error, at
        for each in (self._listening, *self._open):
            _hang_up(each)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            self._threads.append(threading.Thread(target=self._pass, args=(client,)))
            self._threads[-1].start()

    def _pass(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._server)) as server:
            while command := _received(client):
                server.sendall(command)
                reply = _received(server)
                if self.loses:
                    self.loses = False
                    return
                client.sendall(reply)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except OSError:
        return b""


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    finally:
        connection.close()


if TYPE_CHECKING:
    from support.redis_server import RedisServer


# Seconds for which an answer is waited for: longer than what waits for a store that is away.
WAIT = 10 * PATIENCE


def promptly(call: Callable[[], object], error: type[Exception]) -> None:
    """The call raises, and does not let anyone wait for it: a store that hangs would for ever."""
    with pytest.raises(error):
        finish(call)


def test_killed_redis_fails_fast_and_recovers_on_restart(
    redis_server: RedisServer,
) -> None:
    url = redis_server.url
    store = connect_redis(url)
    limiter = create_rate_limiter("10/minute", "10/minute", url)
    purse = create_token_budget(100, url)
    cache, make = create_answer_cache(10, 60, url), Maker()

    def all_work() -> None:
        store.ping()
        assert limiter.admit("asker") is None
        assert attempt(purse, 60) is not None
        assert refusal(purse, 60) == "reserved"
        assert cache.get_or_make("key", make, WAIT) == (b"%d" % make.count, "miss")
        assert cache.get_or_make("key", make, WAIT) == (b"%d" % make.count, "hit")

    all_work()
    for round_ in range(1, 3):
        redis_server.kill()
        promptly(store.ping, StorageError)
        promptly(lambda: limiter.admit("asker"), StorageError)
        promptly(lambda: purse.reserve(1), StorageError)
        promptly(lambda: cache.get_or_make("key", make, WAIT), StorageError)
        promptly(lambda: cache.get_or_make("new", make, WAIT), StorageError)
        assert make.count == round_
        redis_server.start()
        all_work()


def test_hanging_redis_counts_as_unreachable(redis_server: RedisServer) -> None:
    limiter = create_rate_limiter("10/minute", "10/minute", redis_server.url)
    assert limiter.admit("asker") is None
    assert redis_server.process is not None
    redis_server.process.send_signal(signal.SIGSTOP)
    promptly(lambda: limiter.admit("asker"), StorageError)
    redis_server.process.send_signal(signal.SIGCONT)
    assert limiter.admit("asker") is None


def test_redis_killed_during_answer_does_not_lose_answer(
    redis_server: RedisServer,
) -> None:
    url = redis_server.url
    cache, purse = create_answer_cache(10, 60, url), create_token_budget(100, url)
    begun, killed = threading.Event(), threading.Event()

    def make() -> tuple[bytes, bool]:
        reservation = purse.reserve(100)
        begun.set()
        assert killed.wait(WAIT)
        reservation.settle(0)
        return b"answer", True

    follows = Maker()
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(cache.get_or_make, "key", make, WAIT)
        assert begun.wait(WAIT)
        follower = pool.submit(cache.get_or_make, "key", follows, WAIT)
        time.sleep(0.1)
        redis_server.kill()
        promptly(lambda: follower.result(WAIT), StorageError)
        killed.set()
        assert leader.result(WAIT) == (b"answer", "miss")
    assert follows.count == 0


def test_error_of_make_is_raised_despite_killed_redis(redis_server: RedisServer) -> None:
    cache = create_answer_cache(10, 60, redis_server.url)

    def make() -> tuple[bytes, bool]:
        redis_server.kill()
        raise RuntimeError("no answer")

    promptly(lambda: cache.get_or_make("key", make, WAIT), RuntimeError)


def test_lost_reply_gives_nothing_back_twice(redis_server: RedisServer) -> None:
    def account() -> tuple[int, int]:
        """Read the settled tokens, and those that are reserved."""
        claimed, settled = map(int, client.hmget(key, "claimed", "settled"))
        return settled, claimed - settled

    with (
        redis.Redis.from_url(redis_server.url) as client,
        LossyLine(redis_server.port) as line,
    ):
        purse = create_token_budget(100, f"redis://127.0.0.1:{line.port}/0")
        purse.reserve(50).settle(49)
        (key,) = client.keys("*")
        # What may have been done is not done again: it costs the day a reservation.
        line.loses = True
        with pytest.raises(StorageError):
            purse.reserve(20)
        assert account() == (49, 20)
        reservation = purse.reserve(20)
        line.loses = True
        with pytest.raises(StorageError):
            reservation.begin(25, 0)
        assert account() == (49, 45)
        # The connection is a new one, and its greeting is not what is lost.
        purse.reserve(0)
        line.loses = True
        reservation.settle(5)
        assert account() == (54, 25)
        assert not line.loses


def test_lock_with_lost_reply_belongs_to_its_owner(redis_server: RedisServer) -> None:
    with LossyLine(redis_server.port) as line:
        url = f"redis://127.0.0.1:{line.port}/0"
        cache, make = create_answer_cache(10, 60, url), Maker()
        assert cache.get_or_make("warm", make, WAIT) == (b"1", "miss")
        line.loses = True
        assert cache.get_or_make("key", make, WAIT) == (b"2", "miss")
        assert cache.get_or_make("key", make, WAIT) == (b"2", "hit")


def test_idle_connections_are_reopened(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = connect_redis(redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:

        def connections() -> int:
            return int(client.info("stats")["total_connections_received"])

        store.ping()
        before = connections()
        store.ping()
        assert connections() == before
        monkeypatch.setattr(answer_cache, "_IDLE_SECONDS", -1.0)
        store.ping()
        assert connections() == before + 1


def test_wrong_address_is_reported_without_password() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"redis://:hunter2@127.0.0.1:{free.getsockname()[1]}/0"
    limiter = create_rate_limiter("10/minute", "10/minute", url)
    promptly(lambda: limiter.admit("asker"), StorageError)
    with pytest.raises(StorageError) as away:
        create_token_budget(10, url).reserve(1)
    for wrong in ("http://:hunter2@store", "hunter2", "redis://:hunter2@store:port"):
        with pytest.raises(PolicyError, match="write it like redis://host:6379/0") as refused:
            connect_redis(wrong)
        assert "hunter2" not in str(refused.value)
        assert refused.value.__cause__ is None
    assert "hunter2" not in str(away.value)
    assert "hunter2" not in str(away.value.__cause__)


def test_missing_redis_package_is_policy_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(PolicyError, match="the package redis is not installed"):
        RedisStore("redis://store")
