"""The embedder behind an OpenAI-compatible API."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import call, openai_client, questions, response_limit
from .embedder import Identity, Vectors
from .errors import EmbedderError
from .frozen import frozen

# The API's limits: inputs a request, bytes a request, and bytes of one input (8,192 tokens).
MAX_INPUTS = 2_048
MAX_REQUEST = 1_000_000
MAX_INPUT = 24_000
DEADLINE = 60.0
# Bytes of a number in JSON: 24 at most by Python's own writer, and white space around it.
_MAX_NUMBER = 64


@frozen
class OpenAIEmbedder:
    """Vectors from ``/embeddings``; the host receives every text that is embedded."""

    identity: Identity
    base_url: str | None = None
    deadline: float = DEADLINE

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (zeros for an empty text), (len(texts), dimensions) float32.

        A text over 24,000 bytes is cut at a character. ProviderError for a call that fails,
        EmbedderError for an answer of the wrong shape.
        """
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        for rows, batch in _batches(texts):
            vectors[rows] = self._call(batch)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors

    @property
    def worst_tokens(self) -> int:
        """More tokens than one question costs; an embedder that costs nothing has no such count."""
        # No vocabulary in use has more tokens for a text than the text has bytes in UTF-8.
        return 4 * questions.MAX

    def _call(self, batch: list[str]) -> Vectors:
        async def request(client: Any) -> Any:
            return await client.embeddings.create(
                model=self.identity.model,
                input=batch,
                dimensions=self.identity.dimensions,
                encoding_format="float",
            )

        response = openai_client.ask(
            self.base_url,
            request,
            time.monotonic() + self.deadline,
            sum(len(text.encode()) for text in batch),
            max_body=response_limit.MAX_BODY + len(batch) * self.identity.dimensions * _MAX_NUMBER,
        )
        found = self._vectors(response, len(batch))
        most = sum(openai_client.at_most(text) for text in batch)
        call.current().counted(*openai_client.tokens(response, most, 0))
        return found

    def _vectors(self, response: Any, count: int) -> Vectors:
        try:
            ordered = sorted(response.data, key=lambda item: item.index)
            found = np.array([item.embedding for item in ordered], dtype=np.float32)
        except (AttributeError, TypeError, ValueError):
            raise EmbedderError("the embedder's answer holds no vectors: check base_url") from None
        shape = (count, self.identity.dimensions)
        if found.shape != shape or not np.isfinite(found).all():
            raise EmbedderError(
                f"the embedder gave {found.shape} for {shape}: check model and dimensions"
            )
        return found


def _batches(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    """The rows and texts of each request; an empty text, which the API refuses, is in none."""
    rows: list[int] = []
    batch: list[str] = []
    size = 0
    for row, text in enumerate(texts):
        cut = _cut(text)
        if not cut.strip():
            continue
        if batch and (len(batch) == MAX_INPUTS or size + len(cut.encode()) > MAX_REQUEST):
            yield rows, batch
            rows, batch, size = [], [], 0
        rows.append(row)
        batch.append(cut)
        size += len(cut.encode())
    if batch:
        yield rows, batch


def _cut(text: str) -> str:
    """At most ``MAX_INPUT`` bytes of a text, ending at a whole character."""
    return text.encode("utf-8", "replace")[:MAX_INPUT].decode("utf-8", "ignore")
