"""A model's server that counts the tokens it has served, and that can be held up."""

import json
import threading
import time
from typing import Any

from support.deadlines import PATIENCE
from support.openai_stub import OpenAIStub
from support.stub_server import StubReply, StubRequest


class Metered(OpenAIStub):
    """A stub whose replies wait for ``gate`` and ``seconds``; ``tokens`` is what they have cost.

    A reply counts when it is made: as with a real provider, whoever hangs up has to pay for it.
    ``waiting`` are the replies that are held up now.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(keep=1)
        self.seconds = seconds
        self.gate = threading.Event()
        self.gate.set()
        self.tokens = 0
        self.waiting = 0
        self._counting = threading.Lock()

    def respond(self, request: StubRequest) -> StubReply:
        reply = super().respond(request)
        with self._counting:
            self.tokens += _tokens(reply)
            self.waiting += 1
        self.gate.wait(PATIENCE)
        time.sleep(self.seconds)
        with self._counting:
            self.waiting -= 1
        return reply


def _tokens(reply: StubReply) -> int:
    usage: dict[str, Any] = json.loads(reply.body).get("usage") or {}
    return int(usage.get("total_tokens", 0))
