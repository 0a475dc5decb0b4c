"""Vectors from a remote model: limits of the API, faults, and what a build does about them."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.indexing.function_folder import write_function
from answerable.serve.embedders import openai_embedder
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.embedders.local_embedder import LOCAL_IDENTITY
from answerable.serve.embedders.openai_embedder import MAX_INPUT_BYTES, OpenAIEmbedder
from answerable.serve.errors import AnswerableError, EmbedderError, ProviderError, SiteError
from answerable.serve.request_context import RequestContext, use_context
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.serve.settings import FunctionSettings
from support import sites
from support.deadlines import PATIENCE
from support.openai_stub import OpenAIStub
from support.stub_fixtures import is_counted

PATH = "/v1/embeddings"


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub


def embedder(
    server: OpenAIStub,
    dimensions: int = 64,
    deadline: float = PATIENCE,
    model: str = "text-embedding-3-large",
    **options: Any,
) -> OpenAIEmbedder:
    identity = EmbedderIdentity("openai", model, dimensions)
    return OpenAIEmbedder(identity, server.base_url, deadline, **options)


def test_vectors_have_unit_length_in_the_order_of_texts(server: OpenAIStub) -> None:
    server.fail("reversed")
    vectors = embedder(server).embed(["a mooring", "", "a red lantern"])
    server.fault = None
    assert vectors.shape == (3, 64)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-6)
    assert vectors[2] == pytest.approx(embedder(server).embed(["a red lantern"])[0], abs=1e-6)


def test_requests_respect_api_limits(server: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_embedder, "MAX_INPUTS_PER_REQUEST", 3)
    monkeypatch.setattr(openai_embedder, "MAX_REQUEST_BYTES", 60_000)
    texts = ["short"] * 4 + ["ü" * 20_000] * 3
    assert embedder(server).embed(texts).shape == (7, 64)
    inputs = [request.json["input"] for request in server.requests]
    assert [len(batch) for batch in inputs] == [3, 3, 1]
    longest = max((text for batch in inputs for text in batch), key=len)
    assert len(longest.encode()) == MAX_INPUT_BYTES
    assert set(longest) == {"ü"}


@pytest.mark.parametrize(
    ("model", "dimensions", "is_sent"),
    [
        ("text-embedding-3-large", 64, True),
        ("openai/text-embedding-3-small", 64, True),
        ("BAAI/bge-m3", 1536, False),
        ("text-embedding-ada-002", 1536, False),
    ],
)
def test_dimensions_are_sent_to_models_that_shorten_vectors(
    server: OpenAIStub, model: str, dimensions: int, is_sent: bool
) -> None:
    remote = embedder(server, dimensions, model=model)
    assert remote.embed(["a mooring"]).shape == (1, dimensions)
    assert ["dimensions" in request.json for request in server.requests] == [is_sent]


@pytest.mark.parametrize(
    ("fault", "defect"),
    [("not-finite", "NaN or infinity"), ("zeros", "zeros only")],
)
def test_vector_without_direction_is_named_by_server_model_and_number(
    server: OpenAIStub, fault: str, defect: str
) -> None:
    server.fail(fault)
    with pytest.raises(EmbedderError) as error:
        embedder(server).embed(["", "a red lantern"])
    assert str(error.value).startswith(
        f"the embeddings server 127.0.0.1 gave {defect} for text 2 of 2 "
        "(model text-embedding-3-large): "
    )
    assert error.value.cause == "bad-vectors"
    assert "lantern" not in str(error.value)


@pytest.mark.parametrize("key", ["", "  "])
def test_blank_key_is_no_key(server: OpenAIStub, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    remote = replace(embedder(server), base_url="https://models.example.org/v1")
    with pytest.raises(ProviderError, match="OPENAI_API_KEY is not set") as error:
        remote.embed(["a"])
    assert error.value.cause == "no-key"
    assert server.requests == ()


def test_tokens_are_counted_by_the_server(
    server: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_embedder, "MAX_INPUTS_PER_REQUEST", 1)
    question = RequestContext()
    with use_context(question):
        embedder(server).embed(["a mooring", "a red lantern"])
    assert is_counted(question)
    # The stub counts a token for each four bytes that are begun.
    assert (question.tokens_in, question.tokens_out) == (3 + 4, 0)


def test_uncounted_tokens_are_estimated_pessimistically(server: OpenAIStub) -> None:
    server.fail("no-usage")
    question = RequestContext()
    with use_context(question):
        embedder(server).embed(
            [
                "a" * MAX_QUESTION_CHARACTERS,
                "鎖" * MAX_QUESTION_CHARACTERS,
            ]
        )
    assert is_counted(question)
    assert question.tokens_in == MAX_QUESTION_CHARACTERS // 2 + MAX_QUESTION_CHARACTERS
    assert embedder(server).max_question_tokens >= question.tokens_in - MAX_QUESTION_CHARACTERS // 2


@pytest.mark.parametrize("fault", ["500", "fewer-vectors", "unrelated", "drop"])
def test_failed_call_costs_tokens(server: OpenAIStub, fault: str) -> None:
    server.fail(fault)
    question = RequestContext()
    with pytest.raises(AnswerableError), use_context(question):
        embedder(server).embed(["a", "b"])
    assert question.tokens > 0


@pytest.fixture
def site(server: OpenAIStub, tmp_path: Path) -> Path:
    options = {
        "embedding": {
            "provider": "openai",
            "dimensions": 64,
            "base_url": server.base_url,
        },
        "answers": {"provider": "openai", "model": "honest", "base_url": server.base_url},
    }
    return sites.write_site(tmp_path, notes=sites.NOTES, options=options)


def test_build_says_once_which_host_receives_notes_and_asks_it_once(
    server: OpenAIStub, site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mkdocs")
    sites.build_here(site)
    [line] = [text for text in caplog.messages if "receives the text of notes" in text]
    assert server.base_url in line
    calls = server.counts[PATH]
    sites.build_here(site)
    assert server.counts[PATH] == calls

    requirements = (site / "function" / "requirements.txt").read_text().splitlines()
    names = {line.partition("==")[0] for line in requirements}
    assert names == {"jinja2", "msgspec", "numpy", "openai", "starlette", "uvicorn"}
    settings = json.loads((site / "function" / "settings.json").read_text())
    assert (settings["answers"], settings["base_url"]) == ("openai", server.base_url)
    assert "test" not in settings.values()
    assert not (site / "function" / "model").exists()


def test_missing_provider_package_is_named_and_function_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "function"
    settings = FunctionSettings(answers="openai")
    # Where no distribution is found, those of the extra are missing too.
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(SiteError, match=r"run `pip install 'mkdocs-answerable\[openai\]'`"):
        write_function(folder, LOCAL_IDENTITY, settings)
    with pytest.raises(
        SiteError, match=r"package msgspec, .* run `pip install 'mkdocs-answerable'`"
    ):
        write_function(folder, LOCAL_IDENTITY, FunctionSettings())
    assert not (folder / "answerable").exists()


def test_failed_embedding_keeps_the_last_bundle(server: OpenAIStub, site: Path) -> None:
    sites.build_here(site)
    before = sites.opened(site).manifest.id
    sites.put(site / "docs" / "new.md", "# New\n\nA page that is not embedded yet.\n")
    server.fail("401")
    assert "OPENAI_API_KEY" in sites.failure(site)
    assert sites.opened(site).manifest.id == before
    server.fault = None
    sites.build_here(site)
    assert sites.opened(site).manifest.id != before
