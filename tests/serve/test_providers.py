"""The table of providers: every other place that has to know one, and what it promises of each."""

import re
from pathlib import Path
from typing import Any

import pytest

from answerable.serve import settings
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.errors import EmbedderError, SiteError
from answerable.serve.provider_registry import (
    ANSWERER_PROVIDERS,
    EMBEDDER_PROVIDERS,
    Provider,
    answers_in_process,
    embeds_in_process,
    list_key_variables,
)
from answerable.serve.providers import make_embedder, make_engine
from answerable.serve.settings import FunctionSettings, read_settings
from support import sites


def test_provider_with_a_key_has_a_host() -> None:
    for name, provider in {**EMBEDDER_PROVIDERS, **ANSWERER_PROVIDERS}.items():
        assert not provider.key or provider.host, name
    assert embeds_in_process("local")
    assert answers_in_process("extractive")
    assert not embeds_in_process("openai")
    assert not answers_in_process("openai")
    assert list_key_variables("local", FunctionSettings()) == ()
    assert list_key_variables("openai", FunctionSettings("openai")) == ("OPENAI_API_KEY",)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8080/v1", "http://localhost:8080", "http://[::1]/v1", "http://10.1.2.3/v1",
        "http://192.168.0.9:11434/v1", "http://100.64.0.7/v1", "http://ollama:11434/v1",
        "http://host.docker.internal:11434/v1", "http://box.local/v1",
    ],
)  # fmt: skip
def test_a_server_at_a_private_address_needs_no_key(base_url: str) -> None:
    settings = FunctionSettings("openai", base_url=base_url, embedding_base_url=base_url)
    assert list_key_variables("openai", settings) == ()


@pytest.mark.parametrize(
    "base_url", [None, "https://api.openai.com/v1", "https://8.8.8.8/v1", "https://local.example/"]
)
def test_a_server_at_a_public_address_needs_a_key(base_url: str | None) -> None:
    settings = FunctionSettings("openai", base_url=base_url)
    assert list_key_variables("local", settings) == ("OPENAI_API_KEY",)


def test_remote_embedder_has_the_requested_identity_and_a_token_bound() -> None:
    opened_count = 0
    for name, provider in EMBEDDER_PROVIDERS.items():
        if provider.host:
            identity = EmbedderIdentity(name, "some-model", 64)
            opened = make_embedder(identity, sites.ROOT, FunctionSettings())
            assert opened.identity == identity
            # Without it, a question would cost nothing that a cap could count.
            assert opened.max_question_tokens > 0, name
            opened_count += 1
    assert opened_count


def test_unknown_embedder_provider_is_named() -> None:
    with pytest.raises(EmbedderError, match="'psychic' is unknown to this version"):
        make_embedder(EmbedderIdentity("psychic", "m", 8), sites.ROOT, FunctionSettings())


def test_unknown_answerer_is_named_with_its_remedy_where_the_engine_is_made(tmp_path: Path) -> None:
    (tmp_path / settings.SETTINGS_FILE).write_text('{"answers": "oracle"}', "utf-8")
    engine: Any = None
    message = (
        "answerer provider 'oracle' is unknown to this version: upgrade mkdocs-answerable, or "
        "install the package that registers it (extractive, openai are there)"
    )
    with pytest.raises(SiteError, match=re.escape(message)):
        make_engine(engine, engine, read_settings(tmp_path))


class Forgetful:
    """An embedder and answerer that names no bound of tokens."""

    identity = EmbedderIdentity("forgetful", "m", 8)
    label = "forgetful"

    def embed(self, texts: object) -> object:
        return texts

    def draft(self, *args: object) -> object:
        return args


def test_registered_provider_without_token_bound_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = Provider(factory=lambda *_: Forgetful())
    for registry in (EMBEDDER_PROVIDERS, ANSWERER_PROVIDERS):
        monkeypatch.setattr(registry, "builtin", {**registry.builtin, "forgetful": provider})
    with pytest.raises(SiteError, match=r"an answerable\.Embedder: it lacks max_question_tokens"):
        make_embedder(Forgetful.identity, sites.ROOT, FunctionSettings())
    engine: Any = None
    with pytest.raises(SiteError, match=r"an answerable\.Answerer: it lacks max_question_tokens"):
        make_engine(engine, engine, FunctionSettings(answers="forgetful"))
