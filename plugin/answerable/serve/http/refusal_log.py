"""Refused questions, as a log keeps them: no address, and no text unless the owner wants it."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ..limits.askers import hash_with_secret
from ..retrieval.retrieve import RetrievalResult
from ..text.tokenization import split_lowercase_words
from ..types import Reason

# What the dev servers call their log, in the cache folder.
REFUSAL_LOG_FILE = "refusals.jsonl"
# What tells a refusal from the other lines of a platform's log.
REFUSAL_EVENT = "refusal"
# Some 50,000 refusals: whoever asks nonsense in a loop does not fill a disk.
MAX_LOG_BYTES = 16_000_000

Nearness = Literal["above", "close", "low", "far"]
NEARNESS_LEVELS: tuple[Nearness, ...] = ("above", "close", "low", "far")


@dataclass(frozen=True, slots=True)
class NearestRecord:
    """The record that comes nearest to a question, and how near to the floor, in thirds of it."""

    record: str
    score: Nearness


@dataclass(frozen=True, slots=True)
class RefusedQuestion:
    """A question that was refused, as the HTTP core hands it on and nothing may keep it.

    ``asker`` is an address, "" if it is unknown; ``bundle`` the id of the one that was asked.
    """

    question: str
    asker: str
    reason: Reason
    bundle: str
    near: NearestRecord | None


@dataclass(frozen=True, slots=True)
class LoggedRefusal:
    """A refused question as it is kept.

    ``time`` is in UTC, to the hour; ``asker`` and ``question`` are hashes, ``text`` the question.
    """

    time: str
    reason: Reason
    bundle: str
    asker: str
    question: str
    near: NearestRecord | None = None
    text: str | None = None

    def as_json(self) -> bytes:
        """The refusal as a line of a log."""
        near = asdict(self.near) if self.near else {"record": None, "score": None}
        row: dict[str, Any] = {
            "event": REFUSAL_EVENT,
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


LogRefusal = Callable[[RefusedQuestion], None]
WriteLine = Callable[[bytes], object]


def find_nearest_record(found: RetrievalResult, floor: float) -> NearestRecord | None:
    """The record of the best passage, or of the best near miss; never a hint.

    found: with one near miss. None where no passage shares anything with the question.
    """
    if found.passages:
        return NearestRecord(found.passages[0].item.record, "above")
    if not found.near_passages:
        return None
    best = found.near_passages[0]
    share = 3 * best.base / floor
    score: Nearness = "close" if share >= 2 else "low" if share >= 1 else "far"
    return NearestRecord(best.item.record, score)


def anonymize_refusal(
    asked: RefusedQuestion, secret: bytes, now: float, *, text: bool
) -> LoggedRefusal:
    """What is kept of a refused question. now: seconds since 1970; text: keep the question too."""
    hour = time.strftime("%Y-%m-%dT%H:00Z", time.gmtime(now))
    return LoggedRefusal(
        time=hour,
        reason=asked.reason,
        bundle=asked.bundle,
        asker=hash_with_secret(asked.asker, secret, hour[:10]),
        # A key that is no day's: what is asked on two days is one question.
        question=hash_with_secret(normalize_question_words(asked.question), secret, "question"),
        near=asked.near,
        text=asked.question if text else None,
    )


def normalize_question_words(question: str) -> str:
    """What two askings of one question share: its words, whatever their case and punctuation."""
    return " ".join(split_lowercase_words(question)) or question


def make_refusal_logger(
    how: Callable[[], str], write: WriteLine, secret: bytes, now: Callable[[], float] = time.time
) -> LogRefusal:
    """What keeps refused questions. how: the setting ``log_refusals``, asked for each of them."""

    def keep(asked: RefusedQuestion) -> None:
        if (setting := how()) != "none":
            write(anonymize_refusal(asked, secret, now(), text=setting == "text").as_json())

    return keep


def make_line_appender(
    path: Path, complain: Callable[[str], object], limit: int = MAX_LOG_BYTES
) -> WriteLine:
    """What appends lines to a file of its owner's, and drops them once it has ``limit`` bytes.

    Threads and processes may append at once. complain: is told once, in a sentence, why lines are
    dropped.
    """
    told = threading.Lock()

    def append(line: bytes) -> None:
        problem = _append_line(path, line, limit)
        # Never let go of: the first to take it is the only one who tells.
        if problem and told.acquire(blocking=False):
            complain(f"Refused questions are no longer kept: {path} {problem}")

    return append


def _append_line(path: Path, line: bytes, limit: int) -> str | None:
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
