"""The protections of a policy, each made when it is first needed: their packages load slowly."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ..protection import answer_cache, limiting, spending
from ..protection import challenge as challenges
from ..protection.asker_shares import AskerShares
from ..protection.challenge import Challenge
from ..protection.limiting import Limiter
from ..protection.policy import Policy
from . import prometheus
from .answering import Answering
from .prometheus import Metrics

T = TypeVar("T")


class Guards:
    """What protects a function, shared by all of its requests.

    ``keeps_near``: refusals are kept with the page that comes nearest.
    """

    def __init__(self, policy: Policy, *, keeps_near: bool = False) -> None:
        self.policy = policy
        self._keeps_near = keeps_near
        self._lock = threading.Lock()
        self._made: dict[str, Any] = {}

    def check(self) -> None:
        """PolicyError for a protection whose package is not installed, before it is needed."""
        _ = self.challenge, self.metrics
        if self.policy.redis_url:
            _ = self.limiter

    @property
    def limiter(self) -> Limiter:
        """The limits on how often is asked."""
        policy = self.policy
        return self._once(
            "limiter",
            lambda: limiting.limiter(policy.rate, policy.rate_all, policy.redis_url),
        )

    @property
    def answering(self) -> Answering:
        """What is behind the limits."""
        return self._once("answering", self._answering)

    @property
    def challenge(self) -> Challenge | None:
        """The proof of work that an asker has to bring, None if none is wanted."""
        key, redis_url = self.policy.challenge_key, self.policy.redis_url
        if not key:
            return None
        return self._once("challenge", lambda: challenges.challenge(key, redis_url))

    @property
    def metrics(self) -> Metrics | None:
        """What is counted, None if nobody may read it."""
        return self._once("metrics", prometheus.Metrics) if self.policy.metrics else None

    def _answering(self) -> Answering:
        policy = self.policy
        kept, capped = policy.cache_seconds, policy.tokens_per_day
        return Answering(
            cache=answer_cache.cache(policy.cache_entries, kept, policy.redis_url),
            purse=None if capped is None else spending.purse(capped, policy.redis_url),
            slots=threading.BoundedSemaphore(policy.in_flight),
            shares=AskerShares(policy.in_flight_per_asker),
            keeps_near=self._keeps_near,
        )

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._made:
            with self._lock:
                if name not in self._made:
                    self._made[name] = make()
        made: T = self._made[name]
        return made
