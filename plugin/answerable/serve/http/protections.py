"""The protections of a policy, each made when it is first needed: their packages load slowly."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ..limits.answer_cache import create_answer_cache
from ..limits.concurrency import AskerSlots
from ..limits.policy import Policy
from ..limits.proof_of_work import ProofOfWork, create_proof_of_work
from ..limits.rate_limit import RateLimiter, create_rate_limiter
from ..limits.token_budget import create_token_budget
from .guarded_engine import GuardedEngine
from .metrics import RequestMetrics

T = TypeVar("T")


class Protections:
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
    def limiter(self) -> RateLimiter:
        """The limits on how often is asked."""
        policy = self.policy
        return self._once(
            "limiter",
            lambda: create_rate_limiter(policy.rate, policy.rate_all, policy.redis_url),
        )

    @property
    def answering(self) -> GuardedEngine:
        """What is behind the limits."""
        return self._once("answering", self._answering)

    @property
    def challenge(self) -> ProofOfWork | None:
        """The proof of work that an asker has to bring, None if none is wanted."""
        key, redis_url = self.policy.challenge_key, self.policy.redis_url
        if not key:
            return None
        return self._once("challenge", lambda: create_proof_of_work(key, redis_url))

    @property
    def metrics(self) -> RequestMetrics | None:
        """What is counted, None if nobody may read it."""
        return self._once("metrics", RequestMetrics) if self.policy.metrics else None

    def _answering(self) -> GuardedEngine:
        policy = self.policy
        kept, capped = policy.cache_seconds, policy.tokens_per_day
        return GuardedEngine(
            cache=create_answer_cache(policy.cache_entries, kept, policy.redis_url),
            purse=None if capped is None else create_token_budget(capped, policy.redis_url),
            slots=threading.BoundedSemaphore(policy.in_flight),
            shares=AskerSlots(policy.in_flight_per_asker),
            keeps_near=self._keeps_near,
        )

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._made:
            with self._lock:
                if name not in self._made:
                    self._made[name] = make()
        made: T = self._made[name]
        return made
