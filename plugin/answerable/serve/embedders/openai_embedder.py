"""Embed texts by /embeddings of an OpenAI-compatible server: in batches, long texts truncated."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..errors import EmbedderError
from ..openai_client import MAX_RESPONSE_BYTES, call_provider, estimate_max_tokens, read_token_usage
from ..provider_registry import EMBEDDER_PROVIDERS
from ..request_context import current_context
from ..retrieval import question
from ..vectors import normalize_rows
from .embedder import EmbedderIdentity, Vectors

# The API's limits: inputs a request, bytes a request, and bytes of one input (8,192 tokens).
MAX_INPUTS_PER_REQUEST = 2_048
MAX_REQUEST_BYTES = 1_000_000
MAX_INPUT_BYTES = 24_000
EMBEDDING_DEADLINE = 60.0
# Bytes of a number in JSON: 24 at most by Python's own writer, and white space around it.
_MAX_NUMBER_BYTES = 64


# OpenAI's models that shorten a vector on request; a gateway puts the maker's name before them.
_SHORTENING_MODEL = re.compile(r"(?:.*/)?text-embedding-3-\w+")


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """Embed by ``/embeddings``; the host receives every text."""

    identity: EmbedderIdentity
    base_url: str | None = None
    deadline: float = EMBEDDING_DEADLINE

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as unit vectors (zeros for an empty text), (len(texts), dimensions) float32.

        A text over 24,000 bytes is cut at a character. ProviderError for a call that fails,
        EmbedderError for an answer of the wrong shape.
        """
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        for rows, batch in _split_batches(texts):
            vectors[rows] = self._call(batch)
            self._check_values(vectors, rows)
        return normalize_rows(vectors)

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that the server may count for one question."""
        # No vocabulary in use has more tokens for a text than the text has bytes in UTF-8.
        return 4 * question.MAX_QUESTION_CHARACTERS

    def word_rank(self, word: str) -> int:
        """Rank every word as a common one: the vocabulary is not in this process."""
        del word
        return 1

    def _call(self, batch: list[str]) -> Vectors:
        bound = sum(estimate_max_tokens(text) for text in batch)
        # Servers refuse the parameter for a model that cannot shorten its vectors.
        shortens = _SHORTENING_MODEL.fullmatch(self.identity.model)

        def request(client: Any) -> Any:
            return client.embeddings.create(
                model=self.identity.model,
                input=batch,
                encoding_format="float",
                **({"dimensions": self.identity.dimensions} if shortens else {}),
            )

        def read_reply(reply: Any) -> tuple[Any, int, int]:
            return reply.get("data"), *read_token_usage(reply, bound, 0)

        data, *tokens = call_provider(
            self.base_url,
            request,
            read_reply,
            time.monotonic() + self.deadline,
            sum(len(text.encode()) for text in batch),
            max_body=MAX_RESPONSE_BYTES + len(batch) * self.identity.dimensions * _MAX_NUMBER_BYTES,
        )
        # What the server has read costs tokens, also where its vectors are of no use.
        current_context().count_tokens(*tokens)
        return self._parse_vectors(data, len(batch))

    def _parse_vectors(self, data: Any, count: int) -> Vectors:
        try:
            ordered = sorted(data, key=lambda item: item["index"])
            vectors = np.array([item["embedding"] for item in ordered], dtype=np.float32)
        except (KeyError, TypeError, ValueError):
            raise EmbedderError(
                "the embedder's answer holds no vectors: check base_url", cause="not-json"
            ) from None
        shape = (count, self.identity.dimensions)
        if vectors.shape != shape:
            raise EmbedderError(
                f"the embedder gave {vectors.shape} for {shape}: check model and dimensions",
                cause="bad-vectors",
            )
        return vectors

    def _check_values(self, vectors: Vectors, rows: Sequence[int]) -> None:
        """Refuse a vector without a direction; EmbedderError names its text by number, from 1."""
        bad = [row for row in rows if not np.isfinite(vectors[row]).all() or not vectors[row].any()]
        if not bad:
            return
        defect = "NaN or infinity" if vectors[bad[0]].any() else "zeros only"
        host = urlsplit(self.base_url or EMBEDDER_PROVIDERS["openai"].host or "").hostname
        raise EmbedderError(
            f"the embeddings server {host} gave {defect} for text {bad[0] + 1} of "
            f"{len(vectors)} (model {self.identity.model}): check the model on that server, its "
            "precision and how long a text it takes",
            cause="bad-vectors",
        )


def _split_batches(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    """Yield rows and texts of each request; an empty text, which the API refuses, is in none."""
    rows: list[int] = []
    batch: list[str] = []
    size = 0
    for row, text in enumerate(texts):
        cut = _cut_to_bytes(text)
        if not cut.strip():
            continue
        is_full = len(batch) == MAX_INPUTS_PER_REQUEST
        if batch and (is_full or size + len(cut.encode()) > MAX_REQUEST_BYTES):
            yield rows, batch
            rows, batch, size = [], [], 0
        rows.append(row)
        batch.append(cut)
        size += len(cut.encode())
    if batch:
        yield rows, batch


def _cut_to_bytes(text: str) -> str:
    """Cut a text to ``MAX_INPUT_BYTES``, ending at a whole character."""
    return text.encode("utf-8", "replace")[:MAX_INPUT_BYTES].decode("utf-8", "ignore")
