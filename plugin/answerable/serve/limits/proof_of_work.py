"""Issue signed proof-of-work challenges (ALTCHA version 2), verify solutions, accept each once.

ALTCHA's own widget solves them too: a challenge reveals the first half of a key that is derived
from a number within known bounds, and whoever asks has to count up to that number.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from ..errors import PolicyError, StorageError
from .redis_store import connect_redis

# The derivation of one step, and the number of steps. 200,000 iterations in the mean are 0.1 s
# where 2 million are derived in a second and 0.5 s where 400,000 are.
ALGORITHM = "PBKDF2/SHA-256"
COST = 1000
COUNTERS = range(100, 300)
# How long a challenge may be solved and sent.
LIFETIME_SECONDS = 300
# Longer than it may live even where the clocks of two instances are a lifetime apart.
_REMEMBERED_SECONDS = 2 * LIFETIME_SECONDS
# Some 20 MB, and more than one process can answer in the time that they are remembered.
_MAX_REMEMBERED = 100_000

MISSING_MESSAGE = 'Solve a challenge first: GET challenge, and send its solution as "altcha".'
UNSOLVED_MESSAGE = "The challenge is not solved: get another one."
EXPIRED_MESSAGE = "The challenge has expired: get another one."
USED_MESSAGE = "The challenge has been used: get another one."


class UsedSolutions(Protocol):
    """Remember which challenges were used."""

    def set_once(self, key: str, seconds: int) -> bool:
        """Remember a key for some seconds; False if it was known already, StorageError."""
        ...

    def forget(self, key: str) -> None:
        """Let a key count as never used; StorageError if that is not possible."""
        ...


class UnsolvedError(Exception):
    """Reject a request without a solution that counts; the text is fixed and says why."""


class ProofOfWork:
    """Issue challenges signed with a key, and accept each solution once."""

    def __init__(
        self, key: bytes, used: UsedSolutions, now: Callable[[], float] = time.time
    ) -> None:
        self._key = key
        self._used = used
        self._now = now

    def create_challenge(self) -> dict[str, Any]:
        """Create a challenge, as the JSON that its asker gets."""
        import altcha

        challenge = altcha.create_challenge(
            ALGORITHM,
            COST,
            counter=secrets.choice(COUNTERS),
            expires_at=int(self._now()) + LIFETIME_SECONDS,
            hmac_secret=self._key,
        )
        return challenge.to_dict()

    @contextmanager
    def use_solution(self, payload: str | None) -> Iterator[None]:
        """Use a solution up for what this block admits; a block that raises leaves it unused.

        payload: a challenge and its solution, as base64 of JSON. The solution is verified and
        taken before the block, so that the same one sent many times at once gets into one block
        only. UnsolvedError for one that is not of ours, not fresh or used; StorageError if it is
        not possible to tell whether it was used.
        """
        # A verified signature is the one there is for a challenge, so it is the challenge's name.
        name = f"challenge:{self._verify(payload)}"
        if not self._used.set_once(name, _REMEMBERED_SECONDS):
            raise UnsolvedError(USED_MESSAGE)
        try:
            yield
        except BaseException:
            # Where the store has gone meanwhile the reader solves another one.
            with suppress(StorageError):
                self._used.forget(name)
            raise

    def _verify(self, payload: str | None) -> str:
        """Verify a solution and return its challenge's signature; UnsolvedError.

        The signature is compared first, so that a payload cannot ask for work of its own choice.
        """
        import altcha

        if not payload:
            raise UnsolvedError(MISSING_MESSAGE)
        try:
            solution = altcha.Payload.from_base64(payload)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UnsolvedError(UNSOLVED_MESSAGE) from None
        try:
            result = altcha.verify_solution(solution, self._key)
        except (TypeError, ValueError):
            raise UnsolvedError(UNSOLVED_MESSAGE) from None
        if result.expired:
            raise UnsolvedError(EXPIRED_MESSAGE)
        if not result.verified:
            raise UnsolvedError(UNSOLVED_MESSAGE)
        return str(solution.challenge.signature)


class MemoryUsedSolutions:
    """Remember keys in this process, at most ``limit``; then every key counts as used.

    All keys are remembered equally long, so that the first to come is the first to go.
    """

    def __init__(
        self, limit: int = _MAX_REMEMBERED, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit
        self._now = now
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()

    def set_once(self, key: str, seconds: int) -> bool:
        """See UsedSolutions."""
        with self._lock:
            now = self._now()
            while self._ends and next(iter(self._ends.values())) <= now:
                del self._ends[next(iter(self._ends))]
            if key in self._ends or len(self._ends) >= self._limit:
                return False
            self._ends[key] = now + seconds
            return True

    def forget(self, key: str) -> None:
        """See UsedSolutions."""
        with self._lock:
            self._ends.pop(key, None)


def create_proof_of_work(key: bytes, redis_url: str | None) -> ProofOfWork:
    """Sign challenges with a key and remember used ones in Redis, else in this process.

    PolicyError where the package is missing; nothing is connected to yet.
    """
    try:
        import altcha  # noqa: F401
    except ImportError:
        raise PolicyError(
            "ANSWERABLE_ALTCHA_KEY: the package altcha is not installed; "
            "run `pip install altcha` where the function runs"
        ) from None
    used: UsedSolutions = connect_redis(redis_url) if redis_url else MemoryUsedSolutions()
    return ProofOfWork(key, used)
