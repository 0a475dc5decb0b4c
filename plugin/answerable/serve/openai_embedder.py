"""The embedder behind an OpenAI-compatible API."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from . import openai_client
from .embedder import Identity, Vectors
from .errors import EmbedderError
from .frozen import frozen

# The API's limits: inputs a request, bytes a request, and bytes of one input (8,192 tokens).
MAX_INPUTS = 2_048
MAX_REQUEST = 1_000_000
MAX_INPUT = 24_000
DEADLINE = 60.0


@frozen
class OpenAIEmbedder:
    """Vectors from ``/embeddings``; the host receives every text that is embedded."""

    identity: Identity
    base_url: str | None = None
    deadline: float = DEADLINE
    _clients: list[Any] = field(default_factory=list, repr=False, compare=False)

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

    def _call(self, batch: list[str]) -> Vectors:
        if not self._clients:
            self._clients.append(openai_client.connect(self.base_url))
        client = self._clients[0]

        def ask(seconds: float) -> Any:
            return client.embeddings.create(
                model=self.identity.model,
                input=batch,
                dimensions=self.identity.dimensions,
                encoding_format="float",
                timeout=seconds,
            )

        response = openai_client.call(ask, self.deadline)
        try:
            ordered = sorted(response.data, key=lambda item: item.index)
            found = np.array([item.embedding for item in ordered], dtype=np.float32)
        except (AttributeError, TypeError, ValueError):
            raise EmbedderError("the embedder's answer holds no vectors: check base_url") from None
        shape = (len(batch), self.identity.dimensions)
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
