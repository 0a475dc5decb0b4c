"""Vectors from a remote model: limits of the API, faults, and what a build does about them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from answerable.engine.embedders import openai_embedder
from answerable.engine.embedders.local_embedder import LOCAL_IDENTITY
from answerable.engine.embedders.openai_embedder import MAX_INPUT_BYTES, OpenAIEmbedder
from answerable.engine.errors import SiteError
from answerable.engine.settings import FunctionSettings
from answerable.engine.vectors import EmbedderIdentity
from answerable.indexing.function_folder import write_function
from support import sites
from support.openai_stub import OpenAIStub

PATH = "/v1/embeddings"


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub


def embedder(
    server: OpenAIStub, dimensions: int = 64, model: str = "text-embedding-3-large"
) -> OpenAIEmbedder:
    return OpenAIEmbedder(EmbedderIdentity("openai", model, dimensions), server.base_url)


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
