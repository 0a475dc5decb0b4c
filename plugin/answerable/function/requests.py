"""What a request has to be, and problems (RFC 9457): why one gets no answer.

A problem is told in fixed words that repeat nothing of the request.
"""

import hashlib
import ipaddress
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ..engine.answers.wire import Json
from ..engine.errors import AnswerableError, ProviderError
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.text.tokenization import is_language_tag

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
# Far more than a question: an agent tells of itself in each message, with an icon if it likes.
MAX_BODY_BYTES = 16_384
NOTHING_HERE = "There is nothing at this path."

ProblemCode = Literal[
    "bad-request", "unauthorized", "forbidden", "not-found", "method-not-allowed", "too-large",
    "unsupported", "rate-limited", "internal", "busy", "capped", "paused",
    "unavailable", "timeout",
]  # fmt: skip

# The status and the title of each code.
PROBLEM_STATUSES: Mapping[ProblemCode, tuple[int, str]] = {
    "bad-request": (400, "Bad request"),
    "unauthorized": (401, "Unauthorized"),
    "forbidden": (403, "Forbidden"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "too-large": (413, "Body too large"),
    "unsupported": (415, "Unsupported media type"),
    "rate-limited": (429, "Too many questions"),
    "internal": (500, "Internal error"),
    "busy": (503, "Busy"),
    "capped": (503, "Spending cap reached"),
    "paused": (503, "Paused"),
    "unavailable": (503, "Unavailable"),
    "timeout": (504, "Timeout"),
}


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A refusal of a request. ``headers``: of the response, with ``_`` for ``-``."""

    def __init__(self, code: ProblemCode, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status, title = PROBLEM_STATUSES[code]
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        # By RFC 9457, with a code that a program can tell apart.
        told = {"title": title, "status": self.status, "detail": detail, "code": code}
        self.body: Json = {"type": "about:blank", **told}

    def make_response(self) -> Response:
        """Put the problem into a response."""
        return make_json_response(
            self.body, self.status, {"Content-Type": PROBLEM_TYPE, **self.headers}
        )


def make_json_response(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Put JSON into a response that no cache stores."""
    fixed = {"Content-Type": JSON_TYPE, "Cache-Control": "no-store"}
    return Response(encode_json(body), status, {**fixed, **(headers or {})})


def encode_json(body: object) -> bytes:
    """Encode JSON in UTF-8; a lone surrogate, which has no bytes, becomes an escape."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")


def convert_error(error: BaseException) -> Problem:
    """Convert an error to a problem for a reader, who has no use for the error's own text."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        # The router's: there is no such path, or it does not take the method.
        if error.status_code == 405:
            sentence = "This path takes another method."
            return Problem("method-not-allowed", sentence, **(error.headers or {}))
        return Problem("not-found", NOTHING_HERE)
    if isinstance(error, ProviderError) and error.cause == "timeout":
        return Problem("timeout", "The answer was not ready in time: try again.")
    if isinstance(error, AnswerableError):
        sentence = "The question cannot be answered at the moment."
        return Problem("unavailable", sentence, Retry_After="5")
    # A fault of ours: the server goes on, and its text, which may hold anything, goes nowhere.
    return Problem("internal", "Something went wrong while answering.")


def find_origin(request: Request, origins: tuple[str, ...], dev_host: str | None) -> str | None:
    """Find the origin of the page that asks, None for a program; Problem for a page elsewhere.

    dev_host: the host of a development server, which serves the pages that may ask, too.
    """
    sent = request.headers.getlist("origin")
    if dev_host is not None:
        host = request.headers.get("host", "")
        origins = (f"http://{host}",) if _is_this_machine(host, dev_host) else ()
        sent = sent or [f"http://{host}"]
    # Twice in one request is no page's: what stands before us may read the other one.
    if len(sent) == 1 and sent[0] in origins:
        return sent[0]
    # A browser names no origin for what a page elsewhere merely embeds, such as a picture.
    is_embedded = request.headers.get("sec-fetch-dest", "document") != "document"
    if not sent and not (is_embedded and request.headers.get("sec-fetch-site") == "cross-site"):
        return None
    raise Problem("forbidden", "Ask from the pages of the site that this answers for.")


def _is_this_machine(authority: str, host: str) -> bool:
    """True for localhost, the configured host and any address.

    A name that an attacker points at this machine (DNS rebinding) is none of them.
    """
    try:
        name = urlsplit(f"//{authority}").hostname or ""
        return name in ("localhost", host) or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def check_bearer(request: Request, digests: tuple[str, ...]) -> None:
    """Raise a Problem for a request without a bearer token of these SHA-256 digests."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    digest = hashlib.sha256(token.encode()).hexdigest()
    if scheme.lower() != "bearer" or not token or digest not in digests:
        raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")


def find_address(request: Request, header: str | None) -> str:
    """Find the address of a client, in the header of a trusted proxy if there is one.

    It has no port, and of an IPv6 address it is the network of 64 bits that one asker has.
    """
    address = request.client.host if request.client else ""
    if header is not None:
        # The nearest proxy appends the last entry; anyone may write what is before it.
        address = ",".join(request.headers.getlist(header)).rpartition(",")[2].strip()
    if address.startswith("[") or address.count(":") == 1:
        # Some proxies add the port, which is another one for every connection.
        address = address.strip("[").partition("]" if "]" in address else ":")[0]
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((ip.packed[:8] + bytes(8), 64)))


class Question(msgspec.Struct):
    """A question as it is asked: its text, cleaned, and the tag of the language to prefer.

    Problem for a text or a tag that is none.
    """

    text: str = msgspec.field(name="question")
    # Of any type, so that whatever is no tag gets the same message.
    language: Any = None

    def __post_init__(self) -> None:
        self.text = clean_question(self.text)
        if problem := find_question_problem(self.text):
            raise Problem("bad-request", problem)
        tag = self.language
        if tag is not None and not (isinstance(tag, str) and is_language_tag(tag)):
            sentence = 'The "language" is not a language tag such as "en" or "pt-BR".'
            raise Problem("bad-request", sentence)


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


def parse_question(request: Request, data: bytes) -> Question:
    """Parse the question of a body; Problem for anything else."""
    check_body(request)
    try:
        # A lone surrogate, which `msgspec` refuses, is the half of a character that was cut.
        return msgspec.convert(json.loads(data.decode()), Question)
    except (ValueError, RecursionError):
        sentence = 'The body has to be JSON in UTF-8 with a text "question".'
        raise Problem("bad-request", sentence) from None
