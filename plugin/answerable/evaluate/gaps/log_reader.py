"""Find events in a log's text: JSON on a line, after other text or inside other JSON."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...serve.http.refusal_log import LoggedRefusal
from .log_events import LogEvent, QuestionRequest, Vote, is_event, parse_event

# What only lines with an event hold, escaped as often as it may be: the rest is not parsed.
_EVENT_FIELD = re.compile(r'"event\\*"\s*:\s*\\*"(?:refusal|request)\\*"|"helpful\\*"\s*:')
_BRACE = re.compile(r"\{")
# A platform puts a line into a field of its own JSON, and another one may wrap that again.
_MAX_NESTING = 6
_DECODER = json.JSONDecoder()

# A text stands for an event that cannot be parsed, or for a request that asks nothing.
_DAMAGED = "damaged"
_NO_QUESTION = "no question"
_Finding = LogEvent | str


@dataclass(frozen=True, slots=True)
class LogEvents:
    """Hold the events of logs in their order, and count those that were damaged."""

    refusals: tuple[LoggedRefusal, ...] = ()
    requests: tuple[QuestionRequest, ...] = ()
    votes: tuple[Vote, ...] = ()
    damaged: int = 0


def parse_logs(texts: Iterable[str]) -> LogEvents:
    """Parse the events of some logs; every line of another kind is skipped.

    A log has one JSON object a line, bare, after other text or in a field of an object around it,
    or is one JSON document as a whole. A request that several logs hold counts once, and of the
    votes on one answer the last.
    """
    refusals: list[LoggedRefusal] = []
    requests: dict[str, QuestionRequest] = {}
    votes: dict[str, Vote] = {}
    damaged = 0
    for finding in (finding for text in texts for finding in _find_in_log(text)):
        match finding:
            case LoggedRefusal():
                refusals.append(finding)
            case QuestionRequest():
                requests.setdefault(finding.request_id, finding)
            case Vote():
                votes[finding.request_id] = finding
            case _:
                damaged += finding == _DAMAGED
    return LogEvents(tuple(refusals), tuple(requests.values()), tuple(votes.values()), damaged)


def _find_in_log(text: str) -> Iterator[_Finding]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        # A question may hold what `splitlines` takes for the end of a line.
        for line in text.split("\n"):
            yield from _find_in_value(line, _MAX_NESTING)
    else:
        yield from _find_in_value(document, _MAX_NESTING)


def _find_in_value(value: Any, depth: int) -> Iterator[_Finding]:
    """Find the events in a piece of a log. depth: how many levels deep to look."""
    if depth == 0:
        return
    if isinstance(value, str):
        yield from _find_in_text(value, depth)
    elif isinstance(value, list):
        for each in value:
            yield from _find_in_value(each, depth - 1)
    elif isinstance(value, dict) and is_event(value):
        try:
            yield parse_event(value) or _NO_QUESTION
        except ValueError:
            yield _DAMAGED
    elif isinstance(value, dict):
        for each in value.values():
            yield from _find_in_value(each, depth - 1)


def _find_in_text(text: str, depth: int) -> Iterator[_Finding]:
    """Find the events in the first JSON object of a text; one that is cut off is damaged."""
    if not _EVENT_FIELD.search(text):
        return
    # A platform's text before the object has a brace or two at most.
    for number, start in enumerate(islice(_BRACE.finditer(text), 4)):
        try:
            value, _ = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        findings = list(_find_in_value(value, depth - 1))
        # Of an event that is cut off, a part may be whole.
        yield from findings or ([_DAMAGED] if number else [])
        return
    yield _DAMAGED
