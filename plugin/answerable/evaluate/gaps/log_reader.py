"""Parse refusals out of a log's text: JSON on a line, after other text or inside other JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ...serve.http.refusal_log import NEARNESS_LEVELS, REFUSAL_EVENT, LoggedRefusal, NearestRecord
from ...serve.retrieval.question_text import clean_question, find_question_problem
from ...serve.types import REASONS

_FULL_HOUR = re.compile(r"\d{4}-\d\d-\d\dT\d\d:00Z")
_BRACE = re.compile(r"\{")
# A platform puts a line into a field of its own JSON, and another one may wrap that again.
_MAX_NESTING = 6
_DECODER = json.JSONDecoder()


def parse_refusal_log(text: str) -> tuple[LoggedRefusal, ...]:
    """Parse the refusals of a log in their order; everything else in it is skipped.

    The log has one JSON object a line, bare, after other text or in a field of an object around
    it, or is one JSON document as a whole.
    """
    try:
        return tuple(_find_refusals(json.loads(text), _MAX_NESTING))
    except (ValueError, RecursionError):
        pass
    # A question may hold what `splitlines` takes for the end of a line.
    return tuple(
        refusal for line in text.split("\n") for refusal in _find_refusals(line, _MAX_NESTING)
    )


def _find_refusals(value: Any, depth: int) -> Iterator[LoggedRefusal]:
    """Find the refusals in a piece of a log. depth: how many levels deep to look."""
    if depth == 0:
        return
    if isinstance(value, str):
        yield from _find_refusals_in_text(value, depth)
    elif isinstance(value, list):
        for each in value:
            yield from _find_refusals(each, depth - 1)
    elif isinstance(value, dict) and value.get("event") == REFUSAL_EVENT:
        if refusal := _parse_refusal(value):
            yield refusal
    elif isinstance(value, dict):
        for each in value.values():
            yield from _find_refusals(each, depth - 1)


def _find_refusals_in_text(text: str, depth: int) -> Iterator[LoggedRefusal]:
    """Find the refusals in the first JSON object of a text."""
    if REFUSAL_EVENT not in text:
        return
    # A platform's text before the object has a brace or two at most.
    for start in islice(_BRACE.finditer(text), 4):
        try:
            value, _ = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        yield from _find_refusals(value, depth - 1)
        return


def _parse_refusal(row: Mapping[str, Any]) -> LoggedRefusal | None:
    """Parse a refusal from its JSON, which may hold anything; None if it is damaged."""
    time, reason, text = row.get("time"), row.get("reason"), row.get("text")
    bundle, asker, question = row.get("bundle"), row.get("asker"), row.get("question")
    if not isinstance(time, str) or not _FULL_HOUR.fullmatch(time) or reason not in REASONS:
        return None
    if not (isinstance(bundle, str) and isinstance(asker, str) and isinstance(question, str)):
        return None
    if text is not None:
        text = clean_question(text) if isinstance(text, str) else ""
        if find_question_problem(text):
            return None
    near = None
    if isinstance(row.get("near"), str) and row.get("score") in NEARNESS_LEVELS:
        near = NearestRecord(row["near"], row["score"], row.get("clear") is True)
    return LoggedRefusal(time, reason, bundle, asker, question, near, text)
