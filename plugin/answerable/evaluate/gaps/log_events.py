"""Parse the events of a log from their JSON: refused questions, requests and votes on answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...serve.http.refusal_log import (
    NEARNESS_LEVELS,
    REFUSAL_EVENT,
    LoggedRefusal,
    NearestRecord,
)
from ...serve.http.telemetry import REQUEST_EVENT
from ...serve.retrieval.question_text import clean_question, find_question_problem
from ...serve.types import MODES, REASONS, Mode

# The paths of the requests that ask a question; what else an agent sends has no mode.
_ANSWER_PATH = "answer"
_AGENT_PATH = "mcp"
_FULL_HOUR = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):00Z")
# An answer cites fewer pages than this.
_MAX_CITED = 64
_MAX_ID_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """Hold a logged request that asked a question.

    ``hour``: in UTC, None in lines without a time. ``mode``: of the answer, None where an error
    kept it from being made. ``cited``: the pages that it cites. ``question``: None unless the owner
    logs questions.
    """

    request_id: str
    hour: str | None
    mode: Mode | None
    cited: tuple[str, ...] = ()
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """Hold what a reader has said of an answer, as the widget sends it to the owner's server.

    ``reason``: of a No, by the widget's list, None for a Yes.
    """

    request_id: str
    is_helpful: bool
    reason: str | None
    question: str


LogEvent = LoggedRefusal | QuestionRequest | Vote


def is_event(row: Mapping[str, Any]) -> bool:
    """Test whether a JSON object claims to be one of the events."""
    return row.get("event") in (REFUSAL_EVENT, REQUEST_EVENT) or _is_vote(row)


def parse_event(row: Mapping[str, Any]) -> LogEvent | None:
    """Parse an event, whose fields may hold anything; None for a request without a question.

    ValueError if it is damaged.
    """
    if row.get("event") == REFUSAL_EVENT:
        return _parse_refusal(row)
    if row.get("event") == REQUEST_EVENT:
        return _parse_request(row)
    return _parse_vote(row)


def _is_vote(row: Mapping[str, Any]) -> bool:
    return "helpful" in row and "request_id" in row and "question" in row


def _parse_refusal(row: Mapping[str, Any]) -> LoggedRefusal:
    reason = row.get("reason")
    if reason not in REASONS:
        raise ValueError("a refusal without a reason")
    near = None
    if isinstance(row.get("near"), str) and row.get("score") in NEARNESS_LEVELS:
        near = NearestRecord(row["near"], row["score"], row.get("clear") is True)
    return LoggedRefusal(
        time=_parse_hour(row.get("time")),
        reason=reason,
        bundle=_parse_text(row.get("bundle")),
        asker_hash=_parse_text(row.get("asker")),
        question_hash=_parse_text(row.get("question")),
        near=near,
        text=None if row.get("text") is None else _parse_question(row["text"]),
    )


def _parse_request(row: Mapping[str, Any]) -> QuestionRequest | None:
    mode, cited, question = row.get("mode"), row.get("cited", []), row.get("question")
    path = _parse_text(row.get("path"))
    is_question = path == _ANSWER_PATH or (path == _AGENT_PATH and mode is not None)
    if not is_question or row.get("method") != "POST":
        return None
    if mode is not None and mode not in MODES:
        raise ValueError("a mode that does not exist")
    if not isinstance(cited, list) or len(cited) > _MAX_CITED:
        raise ValueError("cited pages that are no list")
    is_answered = row.get("status") == 200
    return QuestionRequest(
        request_id=_parse_text(row.get("request_id")),
        hour=None if row.get("time") is None else _parse_hour(row["time"]),
        mode=mode if is_answered else None,
        cited=tuple(dict.fromkeys(map(_parse_text, cited))),
        # An error may have been about the question: it is empty or too long then.
        question=_parse_question(question) if is_answered and question is not None else None,
    )


def _parse_vote(row: Mapping[str, Any]) -> Vote:
    is_helpful, reason = row["helpful"], row.get("reason")
    if not isinstance(is_helpful, bool):
        raise ValueError("a vote that is neither a Yes nor a No")
    return Vote(
        request_id=_parse_text(row["request_id"]),
        is_helpful=is_helpful,
        reason=None if is_helpful or reason is None else clean_question(_parse_text(reason)),
        question=_parse_question(row["question"]),
    )


def _parse_hour(value: Any) -> str:
    if not isinstance(value, str) or not _FULL_HOUR.fullmatch(value):
        raise ValueError("a time that is no hour")
    return value


def _parse_text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_ID_CHARACTERS:
        raise ValueError("a field that is no short text")
    return value


def _parse_question(value: Any) -> str:
    question = clean_question(value) if isinstance(value, str) else ""
    if find_question_problem(question):
        raise ValueError("a question that nobody could ask")
    return question
