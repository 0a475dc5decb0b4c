"""Read the lines of our logs: refused questions, requests and votes; count what readers ask."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..serve.http.logs import LoggedRefusal, NearestRecord, Nearness, normalize_question_words
from ..serve.retrieval.question import clean_question, find_question_problem
from ..serve.types import Mode, Reason

# A clock that was wrong once does not add a thousand years of empty weeks.
_MAX_WEEKS = 530
# What only a line of ours holds, so that one that is cut off is told from another program's.
_OWN_FIELD = re.compile(r'"event"\s*:\s*"(?:refusal|request)"|"helpful"\s*:')

Hour = Annotated[
    str,
    Meta(pattern=r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):00Z$"),
]
Name = Annotated[str, Meta(max_length=500)]


class RefusalLine(msgspec.Struct, tag_field="event", tag="refusal"):
    """A line of the refusal log."""

    time: Hour
    reason: Reason
    bundle: Name
    asker: Name
    question: Name
    near: Name | None = None
    score: Nearness | None = None
    clear: bool | None = None
    text: str | None = None

    def read_refusal(self) -> LoggedRefusal:
        """Read the refusal; ValueError for a text that nobody could ask."""
        near = None
        if self.near is not None and self.score is not None:
            near = NearestRecord(self.near, self.score, self.clear is True)
        text = None if self.text is None else _clean(self.text)
        return LoggedRefusal(
            self.time, self.reason, self.bundle, self.asker, self.question, near, text
        )


class RequestLine(msgspec.Struct, tag_field="event", tag="request"):
    """A line of the request log; ``mode`` is None where an error kept an answer from being made."""

    request_id: Name
    method: str
    path: Name
    status: int
    mode: Mode | None = None
    time: Hour | None = None
    cited: Annotated[tuple[Name, ...], Meta(max_length=64)] = ()
    question: str | None = None

    @property
    def asks(self) -> bool:
        """True where it asked a question; what else an agent sends has no mode."""
        is_answer = self.path == "answer" or (self.path == "mcp" and self.mode is not None)
        return is_answer and self.method == "POST"

    @property
    def outcome(self) -> Literal["failed", "refused", "answered"]:
        """The fate of the question."""
        if self.mode is None or self.status != 200:
            return "failed"
        return "refused" if self.mode == "not-found" else "answered"


class Vote(msgspec.Struct):
    """A reader's word on an answer, as the widget sends it to the owner's server."""

    request_id: Name
    helpful: bool
    question: str
    reason: Name | None = None


@dataclass(frozen=True, slots=True)
class LogEvents:
    """The events of logs in their order, and how many lines were damaged."""

    refusals: tuple[LoggedRefusal, ...] = ()
    requests: tuple[RequestLine, ...] = ()
    votes: tuple[Vote, ...] = ()
    damaged: int = 0


def parse_logs(texts: Iterable[str]) -> LogEvents:
    """Parse the lines of our logs, a JSON object each; every line of another kind is skipped.

    A request that several logs hold counts once, and of the votes on one answer the last.
    """
    refusals: list[LoggedRefusal] = []
    requests: dict[str, RequestLine] = {}
    votes: dict[str, Vote] = {}
    damaged = 0
    for line in (line for text in texts for line in text.split("\n")):
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            damaged += _OWN_FIELD.search(line) is not None
            continue
        try:
            match _read_event(row):
                case LoggedRefusal() as refusal:
                    refusals.append(refusal)
                case RequestLine(asks=True) as request:
                    requests.setdefault(request.request_id, request)
                case Vote() as vote:
                    votes[vote.request_id] = vote
        except ValueError:
            damaged += 1
    return LogEvents(tuple(refusals), tuple(requests.values()), tuple(votes.values()), damaged)


def _read_event(row: Any) -> LoggedRefusal | RequestLine | Vote | None:
    """Read a JSON value as an event, None for another program's; ValueError if it is damaged."""
    if not isinstance(row, dict):
        return None
    if row.get("event") in ("refusal", "request"):
        event: RefusalLine | RequestLine = msgspec.convert(row, RefusalLine | RequestLine)
        if isinstance(event, RefusalLine):
            return event.read_refusal()
        # An error may have been about the question: it is empty or too long then.
        if event.question is not None:
            event.question = None if event.outcome == "failed" else _clean(event.question)
        return event
    if {"helpful", "request_id", "question"} <= row.keys():
        vote = msgspec.convert(row, Vote)
        vote.question, vote.reason = _clean(vote.question), clean_question(vote.reason or "")
        return vote
    return None


def _clean(text: str) -> str:
    question = clean_question(text)
    if find_question_problem(question):
        raise ValueError("a question that nobody could ask")
    return question


def summarize_usage(events: LogEvents) -> dict[str, Any]:
    """Summarize requests and votes as JSON: by week, by question, by page, and what was voted down.

    The largest counts go first, and weeks in order. The refusal log counts for none of them.
    """
    requests = {request.request_id: request for request in events.requests}
    votes = {vote.request_id: vote for vote in events.votes}
    questions: dict[str, Counter[str]] = defaultdict(Counter)
    texts: dict[str, str] = {}
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    for request in events.requests:
        if request.question is not None:
            words = normalize_question_words(request.question)
            texts[words] = request.question
            questions[words][request.outcome] += 1
        for page in dict.fromkeys(request.cited):
            pages[page]["answers"] += 1
            if vote := votes.get(request.request_id):
                pages[page]["helpful" if vote.helpful else "unhelpful"] += 1
    voted: dict[str, list[Vote]] = defaultdict(list)
    for vote in events.votes:
        voted[normalize_question_words(vote.question)].append(vote)
    question_rows = [
        {"text": texts[words], "answered": row["answered"], "refused": row["refused"]}
        for words, row in questions.items()
    ]
    names = ("answers", "helpful", "unhelpful")
    page_rows = [
        {"record": page, **{name: row[name] for name in names}} for page, row in pages.items()
    ]
    voted_down = [
        _summarize_votes(group, requests)
        for group in voted.values()
        if any(not vote.helpful for vote in group)
    ]
    return {
        "requests": len(events.requests),
        "undated": sum(request.time is None for request in events.requests),
        "votes": len(events.votes),
        "weeks": _count_weeks(events.requests),
        "questions": sorted(
            question_rows, key=lambda row: (-row["answered"] - row["refused"], row["text"])
        ),
        "pages": sorted(page_rows, key=lambda row: (-row["answers"], row["record"])),
        "voted_down": sorted(
            voted_down, key=lambda row: (-row["unhelpful"], row["helpful"], row["text"])
        ),
    }


def _summarize_votes(votes: Sequence[Vote], requests: Mapping[str, RequestLine]) -> dict[str, Any]:
    against = [vote for vote in votes if not vote.helpful]
    cited = [requests[vote.request_id].cited for vote in against if vote.request_id in requests]
    return {
        "text": votes[-1].question,
        "helpful": len(votes) - len(against),
        "unhelpful": len(against),
        "reasons": Counter(vote.reason or "no reason" for vote in against).most_common(),
        "pages": list(dict.fromkeys(page for pages in cited for page in pages)),
    }


def _count_weeks(requests: Iterable[RequestLine]) -> list[dict[str, Any]]:
    """Count questions by ISO week; a week without any between two others is there too."""
    counts: dict[date, Counter[str]] = defaultdict(Counter)
    for request in requests:
        # A day that no calendar has passes the pattern of an hour.
        try:
            day = date.fromisoformat((request.time or "")[:10])
            counts[day - timedelta(days=day.weekday())][request.outcome] += 1
        except (ValueError, OverflowError):
            continue
    mondays = sorted(counts)
    weeks = (mondays[-1] - mondays[0]).days // 7 + 1 if mondays else 0
    if weeks <= _MAX_WEEKS:
        mondays = [mondays[0] + timedelta(weeks=week) for week in range(weeks)]
    rows = []
    for monday in mondays:
        row = {name: counts[monday][name] for name in ("answered", "refused", "failed")}
        decided = row["answered"] + row["refused"]
        week = "{}-W{:02}".format(*monday.isocalendar()[:2])
        share = row["refused"] / decided if decided else None
        rows.append({"week": week, "monday": monday.isoformat(), **row, "refused_share": share})
    return rows
