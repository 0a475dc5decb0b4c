"""Embed texts by /embeddings of an OpenAI-compatible server: in batches, long texts truncated."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EmbedderError
from ..openai import call_server, estimate_tokens
from ..retrieval.question import MAX_QUESTION_CHARACTERS
from ..vectors import EmbedderIdentity, Floats, check_vectors, normalize_rows

# Inputs of a request, a quarter of what the API takes; its bytes, and the bytes of one input, which
# are 8,192 tokens.
MAX_INPUTS_PER_REQUEST = 512
MAX_REQUEST_BYTES = 1_000_000
MAX_INPUT_BYTES = 24_000

# OpenAI's models that shorten a vector on request; a gateway puts the maker's name before them.
_SHORTENING_MODEL = re.compile(r"(?:.*/)?text-embedding-3-\w+")


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """An embedder by ``/embeddings``, whose host receives every text."""

    identity: EmbedderIdentity
    base_url: str | None = None
    deadline: float = 60.0

    @property
    def max_question_tokens(self) -> int:
        """See Embedder; each call counts what it has cost."""
        return MAX_QUESTION_CHARACTERS

    def word_rank(self, word: str) -> int:
        """Rank every word as a common one: the vocabulary is not in this process."""
        del word
        return 1

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder. A text over 24,000 bytes is cut at a character.

        ProviderError for a call that fails, EmbedderError for anything but vectors.
        """
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        inputs = [text.encode("utf-8", "replace")[:MAX_INPUT_BYTES] for text in texts]
        cut = [text.decode("utf-8", "ignore") for text in inputs]
        for rows in _split_rows(cut):
            vectors[rows] = self._embed_batch([cut[row] for row in rows])
        return normalize_rows(vectors)

    def _embed_batch(self, batch: list[str]) -> Floats:
        # Servers refuse the parameter for a model that cannot shorten its vectors.
        shortens = _SHORTENING_MODEL.fullmatch(self.identity.model)
        dimensions = {"dimensions": self.identity.dimensions} if shortens else {}

        def send(client: Any) -> Any:
            return client.embeddings.create(
                model=self.identity.model, input=batch, encoding_format="float", **dimensions
            )

        tokens = sum(map(estimate_tokens, batch)), 0
        rows = call_server(self.base_url, send, _read_vectors, self.deadline, tokens)
        vectors = check_vectors(rows, len(batch), self.identity)
        if not vectors.any(axis=1).all():
            raise EmbedderError(
                f"the embedder {self.identity.label} gave zeros for a text: check the model on its "
                "server, and how long a text it takes",
                cause="reply",
            )
        return vectors


def _read_vectors(reply: Any) -> list[Any]:
    return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]


def _split_rows(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the rows of each request; a blank text, which the API refuses, is in none."""
    rows: list[int] = []
    size = 0
    for row, text in enumerate(texts):
        if not text.strip():
            continue
        length = len(text.encode())
        if rows and (len(rows) == MAX_INPUTS_PER_REQUEST or size + length > MAX_REQUEST_BYTES):
            yield rows
            rows, size = [], 0
        rows.append(row)
        size += length
    if rows:
        yield rows
