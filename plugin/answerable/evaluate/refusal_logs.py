"""Refusals read back from logs, which hold other lines too and may wrap each of ours."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..serve import questions
from ..serve.refusals import EVENT, SCORES, Near, Refusal
from ..serve.types import REASONS

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:00Z")
_BRACE = re.compile(r"\{")
# A platform puts a line into a field of its own JSON, whose line may be in a field of another's.
_DEPTH = 6
_DECODER = json.JSONDecoder()


def read(text: str) -> tuple[Refusal, ...]:
    """The refusals of a log in their order; everything else in it is passed over.

    The log has one JSON object a line, bare, after other text or in a field of an object around
    it, or is one JSON document as a whole.
    """
    try:
        return tuple(_in(json.loads(text), _DEPTH))
    except (ValueError, RecursionError):
        pass
    # A question may hold what `splitlines` takes for the end of a line.
    return tuple(refusal for line in text.split("\n") for refusal in _in(line, _DEPTH))


def _in(value: Any, depth: int) -> Iterator[Refusal]:
    """The refusals in a piece of a log, so many levels deep."""
    if depth == 0:
        return
    if isinstance(value, str):
        yield from _in_text(value, depth)
    elif isinstance(value, list):
        for each in value:
            yield from _in(each, depth - 1)
    elif isinstance(value, dict) and value.get("event") == EVENT:
        if found := _refusal(value):
            yield found
    elif isinstance(value, dict):
        for each in value.values():
            yield from _in(each, depth - 1)


def _in_text(text: str, depth: int) -> Iterator[Refusal]:
    """The refusals of the first JSON object in a text."""
    if EVENT not in text:
        return
    # What stands before a platform's object has a brace or two at most.
    for start in islice(_BRACE.finditer(text), 4):
        try:
            value, _ = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        yield from _in(value, depth - 1)
        return


def _refusal(row: Mapping[str, Any]) -> Refusal | None:
    """A refusal from its JSON, None if it is damaged; nothing of it is trusted."""
    time, reason, text = row.get("time"), row.get("reason"), row.get("text")
    bundle, asker, question = row.get("bundle"), row.get("asker"), row.get("question")
    if not isinstance(time, str) or not _TIME.fullmatch(time) or reason not in REASONS:
        return None
    if not (isinstance(bundle, str) and isinstance(asker, str) and isinstance(question, str)):
        return None
    if text is not None:
        text = questions.clean(text) if isinstance(text, str) else ""
        if questions.problem(text):
            return None
    near = None
    if isinstance(row.get("near"), str) and row.get("score") in SCORES:
        near = Near(row["near"], row["score"])
    return Refusal(time, reason, bundle, asker, question, near, text)
