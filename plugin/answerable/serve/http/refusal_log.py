"""Log refused questions as JSON lines: hashed asker, nearest page, the text only if configured."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..limits.askers import hash_with_secret
from ..retrieval.retrieve import RetrievalResult
from ..text.tokenization import split_lowercase_words
from ..types import Reason

# The file of the development servers, in the cache folder.
REFUSAL_LOG_FILE = "refusals.jsonl"
# Tells a refusal from the other lines of a platform's log.
REFUSAL_EVENT = "refusal"
# Some 50,000 refusals: whoever asks nonsense in a loop does not fill a disk.
MAX_LOG_BYTES = 16_000_000

Nearness = Literal["above", "close", "low", "far"]
NEARNESS_LEVELS: tuple[Nearness, ...] = ("above", "close", "low", "far")
# Passages under the floor to retrieve with a refused question, to see the next page after the
# nearest one.
NEAR_PASSAGES = 8
# A page is clearly the nearest if it leads the next page by this share of the floor. Two sites
# refused 55 questions, and 40 of these have a page from two thirds of the floor on, which is one
# that should answer for 10 of them; 18 of these pages are clearly the nearest, and 8 are right.
_CLEAR_LEAD = 0.125


@dataclass(frozen=True, slots=True)
class NearestRecord:
    """Hold the record nearest to a question.

    ``nearness``: its score, as thirds of the floor: "above" it, "close" from two thirds on, "low"
    from one third on, else "far". ``is_clear``: whether it is clearly nearer than the next record.
    """

    record: str
    nearness: Nearness
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class RefusedQuestion:
    """Pass on a question that was refused; it must not be stored as it is.

    ``address``: of the client, "" if unknown. ``bundle``: the id of the bundle that was asked.
    """

    question: str
    address: str
    reason: Reason
    bundle: str
    near: NearestRecord | None


@dataclass(frozen=True, slots=True)
class LoggedRefusal:
    """Hold a refused question as it is logged.

    ``time`` is in UTC, to the hour. ``asker_hash`` is keyed by the day, ``question_hash`` is not.
    ``text`` is the question itself, None unless the owner logs it.
    """

    time: str
    reason: Reason
    bundle: str
    asker_hash: str
    question_hash: str
    near: NearestRecord | None = None
    text: str | None = None

    def to_line(self) -> bytes:
        """Format the refusal as a line of JSON."""
        row: dict[str, Any] = {
            "event": REFUSAL_EVENT,
            "time": self.time,
            "reason": self.reason,
            "bundle": self.bundle,
            "asker": self.asker_hash,
            "question": self.question_hash,
            "near": self.near.record if self.near else None,
            "score": self.near.nearness if self.near else None,
            "clear": self.near.is_clear if self.near else None,
        }
        if self.text is not None:
            row["text"] = self.text
        return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


LogRefusal = Callable[[RefusedQuestion], None]
WriteLine = Callable[[bytes], object]


def find_nearest_record(result: RetrievalResult, floor: float) -> NearestRecord | None:
    """Find the record of the best passage, or of the best near miss; never a hint.

    result: with ``NEAR_PASSAGES`` near misses. None where no passage shares anything with the
    question.
    """
    candidates = (*result.passages, *result.near_passages)
    if not candidates:
        return None
    best = candidates[0]
    nearness: Nearness = "above"
    if not result.passages:
        thirds = 3 * best.base / floor
        nearness = "close" if thirds >= 2 else "low" if thirds >= 1 else "far"
    others = [each.score for each in candidates if each.item.record != best.item.record]
    if not others and len(result.near_passages) >= NEAR_PASSAGES:
        # All candidates are of one page, so that the next page comes after the last of them.
        others = [candidates[-1].score]
    lead = best.score - max(others, default=0.0)
    return NearestRecord(best.item.record, nearness, lead >= _CLEAR_LEAD * floor)


def redact_refusal(
    refused: RefusedQuestion, secret: bytes, now: float, *, with_text: bool
) -> LoggedRefusal:
    """Hash the asker and the question, drop the address, and round the time to the hour.

    now: seconds since 1970. with_text: keep the text of the question beside its hash.
    """
    hour = format_hour(now)
    return LoggedRefusal(
        time=hour,
        reason=refused.reason,
        bundle=refused.bundle,
        asker_hash=hash_with_secret(refused.address, secret, hour[:10]),
        # Not keyed by a day: a question that is asked on two days is one question.
        question_hash=hash_with_secret(
            normalize_question_words(refused.question), secret, "question"
        ),
        near=refused.near,
        text=refused.question if with_text else None,
    )


def format_hour(now: float) -> str:
    """Format a time in UTC, rounded down to the hour. now: seconds since 1970."""
    return time.strftime("%Y-%m-%dT%H:00Z", time.gmtime(now))


def normalize_question_words(question: str) -> str:
    """Reduce a question to its lower-case words, so that two spellings of it are one."""
    return " ".join(split_lowercase_words(question)) or question


def make_refusal_logger(
    read_setting: Callable[[], str],
    write: WriteLine,
    secret: bytes,
    now: Callable[[], float] = time.time,
) -> LogRefusal:
    """Make a logger of refused questions. read_setting: ``log_refusals``, for each question."""

    def log_refusal(refused: RefusedQuestion) -> None:
        if (setting := read_setting()) != "none":
            write(redact_refusal(refused, secret, now(), with_text=setting == "text").to_line())

    return log_refusal


def make_line_appender(
    path: Path, report: Callable[[str], object], limit: int = MAX_LOG_BYTES
) -> WriteLine:
    """Make a writer of lines to a file of its owner's, which drops them from ``limit`` bytes on.

    Threads and processes may append at once. report: is called once, with one sentence that says
    why lines are dropped.
    """
    reported = threading.Lock()

    def append(line: bytes) -> None:
        problem = _append_line(path, line, limit)
        # Never released: only the first thread that takes it reports.
        if problem and reported.acquire(blocking=False):
            report(f"Refused questions are no longer kept: {path} {problem}")

    return append


def _append_line(path: Path, line: bytes, limit: int) -> str | None:
    """Append a line by one write, which keeps it whole; return why it was dropped, if it was."""
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
        reason = error.strerror or type(error).__name__
        return f"cannot be written ({reason}); check its permissions"
    return None
