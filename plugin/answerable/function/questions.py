"""Questions of requests: a body within its bounds, the question and its language, checked."""

import msgspec
from starlette.requests import Request

from ..serve.retrieval.question import clean_question, find_question_problem
from ..serve.text.languages import is_language_tag
from .problems import JSON_TYPE, Problem

# Far more than a question: an agent tells of itself in each message, with an icon if it likes.
MAX_BODY_BYTES = 16_384


class QuestionBody(msgspec.Struct):
    """The body of a question."""

    question: str
    language: str | None = None


async def read_body(request: Request) -> bytes:
    """Read a body as far as is allowed; Problem for a larger one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise Problem("too-large", f"A request has at most {MAX_BODY_BYTES} bytes.")
    return body


def check_body(request: Request) -> None:
    """Raise a Problem for a body that is not declared as JSON."""
    declared = request.headers.get("content-type", "")
    if declared.partition(";")[0].strip().lower() != JSON_TYPE:
        raise Problem("unsupported", "Send the question as application/json.")


def parse_question_body(request: Request, data: bytes) -> tuple[str, str | None]:
    """Parse the question and the language of a body; Problem for anything else."""
    check_body(request)
    try:
        body = msgspec.json.decode(data, type=QuestionBody)
    except (ValueError, RecursionError):
        raise Problem(
            "bad-request", 'The body has to be JSON in UTF-8 with a text "question".'
        ) from None
    return parse_question(body.question), parse_language(body.language)


def parse_question(text: str) -> str:
    """Clean the text of a question; Problem if it is empty or too long."""
    question = clean_question(text)
    if problem := find_question_problem(question):
        raise Problem("bad-request", problem)
    return question


def parse_language(tag: object) -> str | None:
    """Check the language tag of a question, None where there is none; Problem for anything else."""
    if tag is None or (isinstance(tag, str) and is_language_tag(tag)):
        return tag
    raise Problem("bad-request", 'The "language" is not a language tag such as "en" or "pt-BR".')
