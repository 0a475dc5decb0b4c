"""Parse an HTTP/1.1 request line and its headers strictly (RFC 9112), against request smuggling.

Smuggling needs two programs that read one message differently. So whatever a proxy might read in
another way is rejected and not repaired.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..messages import parse_content_length

# Bytes of a head, its empty line included.
MAX_HEAD_BYTES = 65_536
MAX_FIELDS = 100

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# Bytes above ASCII are not allowed in a url, but clients send them unescaped.
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([!-~\x80-\xff]+) HTTP/1\.([0-9])")
# No white space before the colon, and no control character in the value: a bare CR or a NUL.
_FIELD_LINE = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([\t -~\x80-\xff]*)")
# Two of these could be read as either one.
_SINGLETON_FIELDS = ("content-length", "host")

ReadLine = Callable[[int], bytes]


class MalformedRequestError(Exception):
    """Reject a head that is not HTTP/1.1; nothing after it on its connection can be trusted."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """Hold a parsed head: field names in lower case, a field that was sent twice as a list.

    ``length``: bytes of the body; None for a chunked body, whose length is not known in advance.
    """

    method: str
    target: bytes
    minor: int
    fields: dict[str, str]
    length: int | None

    @property
    def keeps_alive(self) -> bool:
        """Tell whether the connection stays open for another request."""
        options = self.fields.get("connection", "").split(",")
        tokens = {option.strip().lower() for option in options}
        return "close" not in tokens and (self.minor > 0 or "keep-alive" in tokens)

    @property
    def expects_continue(self) -> bool:
        """Tell whether the client waits for a 100 Continue before it sends its body."""
        return self.minor > 0 and self.fields.get("expect", "").lower() == "100-continue"


def read_request_head(read_line: ReadLine) -> RequestHead | None:
    """Read a request's head; None where the connection ends before the head does.

    read_line: reads one line with its end, or as many bytes of it as it is given.
    MalformedRequestError for what a proxy might have read in another way.
    """
    room = MAX_HEAD_BYTES
    line = read_line(room)
    if line == b"\r\n":
        # RFC 9112, 2.2: some clients send an empty line after a body.
        line = read_line(room)
    request_line: bytes | None = None
    field_lines: list[bytes] = []
    while line:
        room -= len(line)
        if room <= 0 or len(field_lines) > MAX_FIELDS:
            raise MalformedRequestError("the head is too long")
        if not line.endswith(b"\n"):
            return None
        if not line.endswith(b"\r\n"):
            raise MalformedRequestError("a line does not end in CR LF")
        text = line[:-2]
        if request_line is None:
            request_line = text
        elif text:
            field_lines.append(text)
        else:
            return _parse_request_head(request_line, field_lines)
        line = read_line(room)
    return None


def _parse_request_head(request_line: bytes, field_lines: list[bytes]) -> RequestHead:
    parts = _REQUEST_LINE.fullmatch(request_line)
    if parts is None:
        raise MalformedRequestError("the request line is malformed")
    fields: dict[str, str] = {}
    for line in field_lines:
        # A line that begins with white space continues another one (obs-fold): it has no name.
        field = _FIELD_LINE.fullmatch(line)
        if field is None:
            raise MalformedRequestError("a field line is malformed")
        name = field[1].decode("ascii").lower()
        value = field[2].rstrip(b" \t").decode("latin-1")
        if name not in fields:
            fields[name] = value
        elif name in _SINGLETON_FIELDS:
            raise MalformedRequestError(f"more than one {name}")
        else:
            fields[name] = f"{fields[name]},{value}"
    method, target, minor = parts.groups()
    return RequestHead(
        method.decode("ascii"), target, int(minor), fields, _parse_body_length(fields)
    )


def _parse_body_length(fields: dict[str, str]) -> int | None:
    """Determine the length of a body (RFC 9112, 6.3); MalformedRequestError if it is ambiguous."""
    length, coding = fields.get("content-length"), fields.get("transfer-encoding")
    if coding is not None:
        if length is not None or coding.strip().lower() != "chunked":
            raise MalformedRequestError("the length of the body is ambiguous")
        return None
    if length is None:
        return 0
    if (size := parse_content_length(length)) is None:
        raise MalformedRequestError("the length of the body is not a number")
    return size
