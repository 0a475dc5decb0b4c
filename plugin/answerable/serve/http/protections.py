"""Hold what protects a service: pause, tokens, rates, asker ids, guarded engine.

Each protection is created when it is first needed, because their packages load slowly.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ..limits.answer_cache import create_answer_cache
from ..limits.askers import AskerSlots, accepts_bearer_token, hash_with_secret, mask_address
from ..limits.policy import Policy
from ..limits.rate_limit import RateLimiter, create_rate_limiter
from ..limits.token_budget import create_token_budget
from .guarded_engine import GuardedEngine
from .messages import Problem, Request
from .telemetry import RequestMetrics

T = TypeVar("T")

_PAUSED_SECONDS = "3600"


class Protections:
    """Hold the protections that all requests of a function share.

    finds_nearest: refusals are logged with the record nearest to the question.
    """

    def __init__(self, policy: Policy, *, finds_nearest: bool = False) -> None:
        self.policy = policy
        self._finds_nearest = finds_nearest
        self._lock = threading.Lock()
        self._created: dict[str, Any] = {}

    def check_installed(self) -> None:
        """Raise PolicyError for a protection whose package is not installed."""
        _ = self.metrics
        if self.policy.redis_url:
            _ = self.limiter

    @property
    def limiter(self) -> RateLimiter:
        """Limit how often one asker, and all of them together, may ask."""
        policy = self.policy
        return self._create_once(
            "limiter",
            lambda: create_rate_limiter(policy.rate, policy.rate_all, policy.redis_url),
        )

    @property
    def guarded_engine(self) -> GuardedEngine:
        """Answer behind the cache, the slots and the token budget."""
        return self._create_once("guarded_engine", self._create_guarded_engine)

    @property
    def metrics(self) -> RequestMetrics | None:
        """Count requests, None if nobody may read the counters."""
        return self._create_once("metrics", RequestMetrics) if self.policy.metrics else None

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            raise Problem(
                "paused",
                "Questions are not answered at the moment. Search the site instead.",
                Retry_After=_PAUSED_SECONDS,
            )

    def check_bearer(self, request: Request, digests: tuple[str, ...]) -> None:
        """Raise a Problem for a request without a bearer token of these SHA-256 digests."""
        if not accepts_bearer_token(request.headers.get("authorization"), digests):
            raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")

    def admit(self, asker: str) -> None:
        """Count a request against the rates; Problem with the seconds to wait if one is full."""
        seconds = self.limiter.admit(asker)
        if seconds is not None:
            raise Problem(
                "rate-limited",
                "Too many questions: wait a moment.",
                Retry_After=str(max(1, round(seconds + 0.5))),
            )

    def identify_asker(self, request: Request) -> str:
        """Hash a client's address for the day; all clients without an address are one."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        address = self.find_address(request)
        return hash_with_secret(address, self.policy.secret, day) or "unknown"

    def find_address(self, request: Request) -> str:
        """Find the address of a client, in the header of a trusted proxy if the policy has one."""
        header = self.policy.asker_header
        if header is None:
            return mask_address(request.client_address)
        # The nearest proxy appends the last entry; anyone may write what is before it.
        return mask_address(request.headers.get(header, "").rpartition(",")[2].strip())

    def _create_guarded_engine(self) -> GuardedEngine:
        policy = self.policy
        redis_url, tokens_per_day = policy.redis_url, policy.tokens_per_day
        return GuardedEngine(
            cache=create_answer_cache(policy.cache_entries, policy.cache_seconds, redis_url),
            budget=(
                None if tokens_per_day is None else create_token_budget(tokens_per_day, redis_url)
            ),
            slots=threading.BoundedSemaphore(policy.in_flight),
            asker_slots=AskerSlots(policy.in_flight_per_asker),
            finds_nearest=self._finds_nearest,
        )

    def _create_once(self, name: str, create: Callable[[], T]) -> T:
        if name not in self._created:
            with self._lock:
                if name not in self._created:
                    self._created[name] = create()
        protection: T = self._created[name]
        return protection
