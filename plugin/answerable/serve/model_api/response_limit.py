"""Limit the bytes of a model server's response while httpx reads it, before and after gzip.

An HTTP client reads a body to its end, whatever its status. So the stream of every response is
replaced by one that counts, before anything of it is read.
"""

import zlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from ..errors import ProviderError

# Bytes of a response without vectors: some 30,000 tokens of a draft, escaped, and its envelope.
MAX_RESPONSE_BYTES = 4 * 1024 * 1024
# The only compression that is requested, since only its output is bounded here.
ACCEPT_ENCODING = "gzip"
_IDENTITY_ENCODINGS = ("", "identity")
_GZIP_ENCODINGS = ("gzip", "x-gzip")

# The bytes that the response of the current task may have.
max_response_bytes: ContextVar[int] = ContextVar(
    "answerable_max_response", default=MAX_RESPONSE_BYTES
)


async def bound_response(response: Any) -> None:
    """Bound the body of a response; for ``event_hooks`` of an ``httpx`` client.

    ProviderError, when it is read, for one of more than ``max_response_bytes``.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*_IDENTITY_ENCODINGS, *_GZIP_ENCODINGS):
        await response.aclose()
        raise make_malformed_error()
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding in _GZIP_ENCODINGS else None
    if inflater:
        # It is decompressed before the client sees it.
        del response.headers["content-encoding"]
    stream = response.stream
    # By name: the HTTP package of the client depends on its version.
    base = next(each for each in type(stream).__mro__ if each.__name__ == "AsyncByteStream")
    response.stream = _bounded_class(base)(stream, max_response_bytes.get(), inflater)


@lru_cache(maxsize=2)
def _bounded_class(base: Any) -> Any:
    """Derive a counting stream from the class that a client accepts."""

    class BoundedStream(base):  # type: ignore[misc]
        def __init__(self, stream: Any, most: int, inflater: Any) -> None:
            self._stream = stream
            self._most = most
            self._inflater = inflater

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = read_left = self._most
            async for part in self._stream:
                read_left -= len(part)
                data = _inflate_part(self._inflater, part, left) if self._inflater else part
                left -= len(data)
                if left < 0 or read_left < 0:
                    raise ProviderError(
                        "the provider sent more than an answer takes: check base_url",
                        cause="too-large",
                    )
                yield data

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


def _inflate_part(inflater: Any, part: bytes, most: int) -> bytes:
    """Decompress a part of a body, to one byte more than is allowed."""
    try:
        data: bytes = inflater.decompress(part, most + 1)
    except zlib.error:
        raise make_malformed_error() from None
    return data


def make_malformed_error() -> ProviderError:
    """Report a response that holds no answer."""
    return ProviderError(
        "the provider sent what is not an answer: check base_url", cause="not-json"
    )
