"""Refused questions, as a log keeps them: no address, and no text unless the owner wants it."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from . import askers, terms
from .frozen import frozen
from .retrieval import Retrieved
from .types import Reason

# What the dev servers call their log, in the cache folder.
FILE = "refusals.jsonl"
# What tells a refusal from the other lines of a platform's log.
EVENT = "refusal"
# Some 50,000 refusals: whoever asks nonsense in a loop does not fill a disk.
MAX_BYTES = 16_000_000

Score = Literal["above", "close", "low", "far"]
SCORES: tuple[Score, ...] = ("above", "close", "low", "far")


@frozen
class Near:
    """The record that comes nearest to a question, and how near to the floor, in thirds of it."""

    record: str
    score: Score


@frozen
class Unanswered:
    """A question that was refused, as the HTTP core hands it on and nothing may keep it.

    ``asker`` is an address, "" if it is unknown; ``bundle`` the id of the one that was asked.
    """

    question: str
    asker: str
    reason: Reason
    bundle: str
    near: Near | None


@frozen
class Refusal:
    """A refused question as it is kept.

    ``time`` is in UTC, to the hour; ``asker`` and ``question`` are hashes, ``text`` the question.
    """

    time: str
    reason: Reason
    bundle: str
    asker: str
    question: str
    near: Near | None = None
    text: str | None = None

    def as_json(self) -> bytes:
        """The refusal as a line of a log."""
        near = asdict(self.near) if self.near else {"record": None, "score": None}
        row: dict[str, Any] = {
            "event": EVENT,
            "time": self.time,
            "reason": self.reason,
            "bundle": self.bundle,
            "asker": self.asker,
            "question": self.question,
            "near": near["record"],
            "score": near["score"],
        }
        if self.text is not None:
            row["text"] = self.text
        return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


Keep = Callable[[Unanswered], None]
Write = Callable[[bytes], object]


def near(found: Retrieved, floor: float) -> Near | None:
    """The record of the best passage, or of the best near miss; never a hint.

    found: with one near miss. None where no passage shares anything with the question.
    """
    if found.passages:
        return Near(found.passages[0].item.record, "above")
    if not found.near_passages:
        return None
    best = found.near_passages[0]
    share = 3 * best.base / floor
    score: Score = "close" if share >= 2 else "low" if share >= 1 else "far"
    return Near(best.item.record, score)


def refusal(asked: Unanswered, secret: bytes, now: float, *, text: bool) -> Refusal:
    """What is kept of a refused question. now: seconds since 1970; text: keep the question too."""
    hour = time.strftime("%Y-%m-%dT%H:00Z", time.gmtime(now))
    return Refusal(
        time=hour,
        reason=asked.reason,
        bundle=asked.bundle,
        asker=askers.hashed(asked.asker, secret, hour[:10]),
        # A key that is no day's: what is asked on two days is one question.
        question=askers.hashed(normalized(asked.question), secret, "question"),
        near=asked.near,
        text=asked.question if text else None,
    )


def normalized(question: str) -> str:
    """What two askings of one question share: its words, whatever their case and punctuation."""
    return " ".join(terms.words(question)) or question


def keeper(
    how: Callable[[], str], write: Write, secret: bytes, now: Callable[[], float] = time.time
) -> Keep:
    """What keeps refused questions. how: the setting ``log_refusals``, asked for each of them."""

    def keep(asked: Unanswered) -> None:
        if (setting := how()) != "none":
            write(refusal(asked, secret, now(), text=setting == "text").as_json())

    return keep


def appender(path: Path, complain: Callable[[str], object], limit: int = MAX_BYTES) -> Write:
    """What appends lines to a file of its owner's, and drops them once it has ``limit`` bytes.

    Threads and processes may append at once. complain: is told once, in a sentence, why lines are
    dropped.
    """
    told = threading.Lock()

    def append(line: bytes) -> None:
        problem = _append(path, line, limit)
        # Never let go of: the first to take it is the only one who tells.
        if problem and told.acquire(blocking=False):
            complain(f"Refused questions are no longer kept: {path} {problem}")

    return append


def _append(path: Path, line: bytes, limit: int) -> str | None:
    """Append a line by one write, which is what keeps it whole; why not, if it is dropped."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Opened anew each time, so that the log may be moved away or deleted at any moment.
        descriptor = os.open(path, flags, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(line) > limit:
                return f"has {limit:,} bytes; read it with `answerable gaps`, then delete it"
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"cannot be written ({error.strerror or type(error).__name__}); correct its rights"
    return None
