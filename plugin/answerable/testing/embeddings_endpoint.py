"""Stub of /v1/embeddings: check a request, embed locally, pad or cut vectors to a model's size."""

import base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..indexing.local_model import open_local_embedder
from ..serve.embedders.embedder import Vectors
from ..serve.embedders.local_embedder import LocalEmbedder
from .request_fields import (
    estimate_tokens,
    optional_field,
    reject_unknown_fields,
    require_choice,
    required_field,
)
from .stub_messages import OpenAIError

EMBEDDINGS_PATH = "/v1/embeddings"
MAX_INPUTS = 2048
MAX_INPUT_TOKENS = 8192
MAX_REQUEST_TOKENS = 300_000

# The dimensions of each model.
EMBEDDING_MODELS = {
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}
# The dimensions of models of other makers by default, and the most that a request may name.
_DEFAULT_DIMENSIONS = 1536
_MAX_DIMENSIONS = 4096

_PARAMETERS = frozenset({"input", "model", "dimensions", "encoding_format", "user"})


def embeddings_response(
    values: Mapping[str, Any], model: str, fault: str | None = None
) -> dict[str, Any]:
    """Embed the texts of a request; OpenAIError where OpenAI refuses it.

    model: without a fault's suffix. fault: one of those of vectors.
    """
    reject_unknown_fields(values, _PARAMETERS)
    texts = _texts(required_field(values, "input"))
    if fault == "fixed-dimensions" and values.get("dimensions") is not None:
        raise OpenAIError(
            f'Model "{model}" does not support matryoshka representation, changing output '
            "dimensions will lead to poor results.",
            param="dimensions",
        )
    dimensions = _dimensions(values, model)
    form = require_choice(values.get("encoding_format", "float"), ("float", "base64"),
                         "encoding_format")  # fmt: skip
    tokens = _count_tokens(texts)
    vectors = apply_vector_fault(resize_vectors(_embedder().embed(texts), dimensions), fault)
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, form)}
        for index, vector in enumerate(vectors)
    ]
    if fault == "reversed":
        data.reverse()
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": values["model"], "usage": usage}


def resize_vectors(vectors: Vectors, dimensions: int) -> Vectors:
    """Truncate or pad to unit vectors. vectors: (n, d) float32; returns (n, dimensions)."""
    sized = np.zeros((len(vectors), dimensions), dtype=np.float32)
    common = min(dimensions, vectors.shape[1])
    sized[:, :common] = vectors[:, :common]
    # OpenAI never sends zeros; a text without a known token gets a direction of its own.
    sized[~sized.any(axis=1), -1] = 1.0
    sized /= np.linalg.norm(sized, axis=1, keepdims=True)
    return sized


def apply_vector_fault(vectors: Vectors, fault: str | None) -> Vectors:
    """Change vectors to those that a faulty server sends."""
    match fault:
        case "fewer-vectors":
            return vectors[:-1]
        case "wrong-dimensions":
            return vectors[:, :-1]
        case "not-finite":
            return np.where(np.arange(vectors.shape[1]) == 0, np.float32("nan"), vectors)
        case "infinite":
            return np.where(np.arange(vectors.shape[1]) == 0, np.float32("inf"), vectors)
        case "zeros":
            return np.zeros_like(vectors)
        case "last-zeros":
            return np.vstack([vectors[:-1], np.zeros_like(vectors[-1:])])
        case _:
            return vectors


@lru_cache(maxsize=1)
def _embedder() -> LocalEmbedder:
    return open_local_embedder()


def _invalid() -> OpenAIError:
    return OpenAIError(
        "'$.input' is invalid. Please check the API reference: "
        "https://platform.openai.com/docs/api-reference.",
        param="input",
    )


def _texts(value: object) -> list[str]:
    """List the texts of an input: a text, a list of texts, or one or more lists of tokens."""
    if isinstance(value, str):
        return _texts([value])
    if not isinstance(value, list):
        raise _invalid()
    if not value:
        raise OpenAIError(
            "Invalid 'input': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead.",
            param="input",
            code="empty_array",
        )
    if _are_tokens(value):
        return [_tokens_as_text(value)]
    if len(value) > MAX_INPUTS:
        raise OpenAIError(
            f"Invalid 'input': array too long. Expected an array with maximum length {MAX_INPUTS}, "
            f"but got an array with length {len(value)} instead.",
            param="input",
            code="array_above_max_length",
        )
    if all(isinstance(item, str) and item for item in value):
        return value
    if all(isinstance(item, list) and item and _are_tokens(item) for item in value):
        return [_tokens_as_text(item) for item in value]
    raise _invalid()


def _are_tokens(values: Sequence[object]) -> bool:
    return all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in values)


def _tokens_as_text(values: Sequence[object]) -> str:
    # The stub does not have OpenAI's vocabulary: it promises equal vectors for equal tokens.
    return " ".join(str(value) for value in values)


def _dimensions(values: Mapping[str, Any], model: str) -> int:
    default = EMBEDDING_MODELS.get(model)
    dimensions = optional_field(values, "dimensions", int)
    if dimensions is None:
        return default or _DEFAULT_DIMENSIONS
    if model == "text-embedding-ada-002":
        raise OpenAIError("This model does not support specifying dimensions.", param="dimensions")
    limit = default or _MAX_DIMENSIONS
    if dimensions < 1 or dimensions > limit:
        bound = "greater than or equal to 1" if dimensions < 1 else f"less than or equal to {limit}"
        raise OpenAIError(
            f"Invalid value for 'dimensions' = {dimensions}. Must be {bound}.", param="dimensions"
        )
    return int(dimensions)


def _count_tokens(texts: Sequence[str]) -> int:
    counts = [estimate_tokens(text) for text in texts]
    if max(counts) > MAX_INPUT_TOKENS:
        raise OpenAIError(
            f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens, however you "
            f"requested {max(counts)} tokens ({max(counts)} in your prompt; 0 for the "
            "completion). Please reduce your prompt; or completion length.",
        )
    if sum(counts) > MAX_REQUEST_TOKENS:
        raise OpenAIError(
            f"Requested {sum(counts)} tokens, max {MAX_REQUEST_TOKENS} tokens per request",
            kind="max_tokens_per_request",
            code="max_tokens_per_request",
        )
    return sum(counts)


def _encoded(vector: Vectors, form: str) -> object:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    return vector.tolist()
