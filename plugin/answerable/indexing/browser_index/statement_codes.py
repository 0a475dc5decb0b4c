"""Embed the statements of passages at build time, as the answerer does for a question."""

import numpy as np

from ...serve.answers.extractive import embed_statements, list_statement_texts
from ...serve.answers.statements import split_statements
from ...serve.embedders.embedder import Embedder
from ...serve.types import Passage
from .passage_shards import Codes, QuantizeStatements


def make_statement_quantizer(embedder: Embedder) -> QuantizeStatements:
    """Return a function that embeds the statements of a passage, (statements, dimensions) int8."""

    def quantize_statements(passage: Passage) -> Codes:
        texts = list_statement_texts(passage, split_statements(passage))
        if not texts:
            return np.zeros((0, embedder.identity.dimensions), dtype=np.int8)
        return embed_statements(embedder, texts).codes

    return quantize_statements
