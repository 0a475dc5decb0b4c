"""What a request asks, read with suspicion."""

import json
from typing import Any

from ..retrieval.question_text import clean_question, find_question_problem
from ..text.languages import is_language_tag
from .messages import JSON_TYPE, MAX_BODY_BYTES, Problem, Request


def parse_body(request: Request) -> dict[str, Any]:
    """The object that a request sends; Problem if it is too large or none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON_TYPE:
        raise Problem("unsupported", "Send the question as application/json.")
    if len(request.body) > MAX_BODY_BYTES:
        raise Problem("too-large", f"A request has at most {MAX_BODY_BYTES} bytes.")
    try:
        # `json` would take UTF-16 too.
        data = json.loads(request.body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Problem("bad-request", "The body is not JSON in UTF-8.") from None
    if not isinstance(data, dict):
        raise Problem("bad-request", 'The body needs a text "question".')
    return data


def parse_question(asked: object) -> str:
    """A question as it is answered; one that cannot be is a problem."""
    if not isinstance(asked, str):
        raise Problem("bad-request", 'The body needs a text "question".')
    cleaned = clean_question(asked)
    if problem := find_question_problem(cleaned):
        raise Problem("bad-request", problem)
    return cleaned


def parse_language(tag: object) -> str | None:
    """The language that is asked in, None if it is not told; Problem if it is no tag."""
    if tag is None:
        return None
    if not isinstance(tag, str) or not is_language_tag(tag):
        raise Problem("bad-request", 'The "language" is no language tag such as "en" or "pt-BR".')
    return tag
