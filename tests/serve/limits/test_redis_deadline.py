"""The time that a question waits for Redis is a part of its deadline."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from answerable.serve.engine import Engine
from answerable.serve.errors import ProviderError
from answerable.serve.limits.answer_cache import connect_redis, create_answer_cache
from answerable.serve.limits.rate_limit import create_rate_limiter
from answerable.serve.limits.token_budget import create_token_budget
from answerable.serve.request_context import RequestContext, use_context
from support.service_requests import USUAL, asking, code, letters


@dataclass
class SlowLine:
    """Passes one command at a time to a server, and each reply after ``seconds``.

    For clients that send a command only after the reply to the one before.
    """

    server: int
    seconds: float = 0.0
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def pass_on(self, client: socket.socket) -> None:
        with (
            suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self.server)) as server,
        ):
            while command := client.recv(65_536):
                server.sendall(command)
                reply = server.recv(65_536)
                self.over.wait(self.seconds)
                client.sendall(reply)


@contextmanager
def slow_line(server: int) -> Iterator[SlowLine]:
    """A line to a port of loopback, as fast as any until its ``seconds`` are set."""
    line = SlowLine(server)
    listening = socket.create_server(("127.0.0.1", 0))
    line.port = listening.getsockname()[1]
    clients: list[socket.socket] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                clients.append(listening.accept()[0])
                threading.Thread(target=line.pass_on, args=(clients[-1],), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield line
    finally:
        line.over.set()
        for each in (listening, *clients):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        thread.join(10)


if TYPE_CHECKING:
    from support.redis_server import RedisServer

# What a store that hangs stays under on any machine.
BOUNDED = 30.0
RATES = "100/second; 100/minute; 100/hour; 1000/day"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("redis-deadline"))


def test_slow_redis_makes_question_late_at_no_cost(base: Engine, redis_server: RedisServer) -> None:
    """Each command is quick enough alone; all of an admission's are not."""
    with slow_line(redis_server.port) as line:
        policy = replace(
            USUAL, rate=RATES, rate_all=RATES, deadline=1.0,
            redis_url=f"redis://127.0.0.1:{line.port}/0",
        )  # fmt: skip
        # The client's own hello is not what is slow.
        connect_redis(str(policy.redis_url)).ping()
        line.seconds = 0.4
        ask = asking(base, policy)
        assert code(ask()) == "timeout"
        assert code(ask.get("search", "q=rope")) == "timeout"
        assert ask.answerer.questions == []


@pytest.mark.parametrize("work", ["limits", "tokens", "cache"])
def test_hanging_redis_makes_question_late(redis_server: RedisServer, work: str) -> None:
    url = redis_server.url
    limiter, cache = create_rate_limiter("9/day", "9/day", url), create_answer_cache(9, 60, url)
    purse, store = create_token_budget(100, url), connect_redis(url)
    store.ping()
    works: dict[str, Callable[[], object]] = {
        "limits": lambda: limiter.admit("asker"),
        "tokens": lambda: purse.reserve(1),
        "cache": lambda: cache.get_or_make("key", lambda: (b"", True), 60),
    }
    assert redis_server.process is not None
    redis_server.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    try:
        with use_context(RequestContext(0.3)), pytest.raises(ProviderError) as caught:
            works[work]()
    finally:
        redis_server.process.send_signal(signal.SIGCONT)
    assert caught.value.timeout
    assert time.monotonic() - begun < BOUNDED


def test_late_question_releases_reservation(redis_server: RedisServer) -> None:
    url = redis_server.url
    purse, store = create_token_budget(100, url), connect_redis(url)
    reservation = purse.reserve(99)
    with use_context(RequestContext(-1.0)):
        with pytest.raises(ProviderError):
            store.ping()
        with pytest.raises(ProviderError):
            purse.reserve(1)
        reservation.settle(0)
    assert purse.reserve(100)
