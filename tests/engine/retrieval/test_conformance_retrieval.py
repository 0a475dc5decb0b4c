"""Ranking real vectors, at full precision and as int8, agrees with the reference pipeline."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.index.manifest import OPENAI_PROFILE
from answerable.engine.retrieval.rank import Scored
from answerable.engine.text.markdown import Block
from answerable.engine.vectors import EmbedderIdentity, Floats
from answerable.indexing.notes.notebook import Note
from answerable.indexing.pages.records import PageMetadata, Record, Section
from support import conformance_cases, doubles
from support.doubles import bundle_of, index_of
from support.sites import DATA

# All that the reference has besides is full precision.
ROWS = [
    row
    for row in conformance_cases.rows("retrieval")
    if not isinstance(row, dict) or row["encoding"] == "int8"
]


@dataclass(frozen=True)
class KnownVectors:
    """The stored vector of a text whose first line is a source's title or label."""

    identity: EmbedderIdentity
    table: Mapping[str, Floats]
    max_question_tokens: int = 0

    def word_rank(self, word: str) -> int | None:
        del word
        return None

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.stack([self.table[text.split("\n")[0]] for text in texts])


@cache
def stored() -> tuple[dict[str, Any], Floats, Floats]:
    folder = DATA / "conformance"
    with np.load(folder / "vectors-3large.npz") as arrays:
        sources, queries = arrays["sources"], arrays["queries"]
    described = json.loads((folder / "vectors-3large.json").read_bytes())
    return described, _unit(sources), _unit(queries)


def _unit(vectors: Floats) -> Floats:
    """Embedders give unit vectors; the stored ones were rounded and are off by up to 3e-4."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / norms).astype(np.float32)
    return unit


def as_record(source: Mapping[str, Any]) -> Record:
    path = "/" + source["url"].split("/", 3)[3]
    metadata = PageMetadata(themes=tuple(source["themes"]), aliases=(source["slug"],))
    section = Section((), "", (Block("text", source["title"]),))
    return Record(source["id"], path, source["title"], metadata, (section,))


def as_note(source: Mapping[str, Any]) -> Note:
    return Note(source["id"], source["id"], source["label"], source["locator"], source["url"],
                "", source["id"])  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    described, vectors, _ = stored()
    sources = described["sources"]
    identity = EmbedderIdentity("openai", described["model"], described["dimensions"])
    keys = [source.get("title") or source["label"] for source in sources]
    folder = tmp_path_factory.mktemp("reference")
    index = index_of(
        folder,
        [as_record(source) for source in sources if source["kind"] == "record"],
        [as_note(source) for source in sources if source["kind"] == "note"],
        KnownVectors(identity, dict(zip(keys, vectors, strict=True))),
    )
    return bundle_of(folder, index, OPENAI_PROFILE, identity)


def ranked(stream: Sequence[Scored[Any]]) -> list[str]:
    return [scored.item.id for scored in stream]


@pytest.mark.parametrize("row", ROWS)
def test_both_streams_are_ranked_and_scored_as_by_the_reference(
    bundle: Bundle, row: dict[str, Any]
) -> None:
    described, _, queries = stored()
    vector = queries[described["queries"].index(row["query_id"])]
    result = doubles.retrieve(bundle, row["query"], vector, row["top_k"])
    streams: list[tuple[Sequence[Scored[Any]], Any]] = [
        (result.passages, row["records"]),
        (result.hints, row["notes"]),
    ]
    for stream, expected in streams:
        assert ranked(stream) == [row_expected["id"] for row_expected in expected]
        for scored, row_expected in zip(stream, expected, strict=True):
            assert scored.score == pytest.approx(row_expected["score"], abs=1e-4)
            assert scored.dense == pytest.approx(row_expected["semantic"], abs=1e-4)
