"""The table of providers: every other place that has to know one, and what it promises of each."""

import re
import tomllib
from pathlib import Path

import pytest

import sites
from answerable.build.function_writer import REQUIREMENTS
from answerable.serve import provided, providers, settings
from answerable.serve.embedder import Identity
from answerable.serve.errors import BundleError, EmbedderError
from answerable.serve.provided import ANSWERERS, EMBEDDERS
from answerable.serve.settings import Settings


def test_every_provider_is_opened_and_told() -> None:
    """A forgotten place is named."""
    assert set(providers.EMBEDDERS) == set(EMBEDDERS), "serve/providers.py EMBEDDERS"
    assert set(providers.ANSWERERS) == set(ANSWERERS), "serve/providers.py ANSWERERS"


def test_what_a_provider_needs_can_be_installed() -> None:
    project = tomllib.loads((sites.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    always = _names(project["dependencies"])
    for name, provider in {**EMBEDDERS, **ANSWERERS}.items():
        offered = always | _names(extras.get(name, []))
        assert offered.issuperset(provider.requirements), f"pyproject.toml: extra {name}"
        assert not set(provider.requirements) & set(REQUIREMENTS), name


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", each)[0] for each in requirements}


def test_whoever_has_a_key_has_a_host() -> None:
    for name, provider in {**EMBEDDERS, **ANSWERERS}.items():
        assert not provider.key or provider.host, name
    assert provided.embeds_here("local")
    assert provided.answers_here("extractive")
    assert not provided.embeds_here("openai")
    assert not provided.answers_here("openai")
    assert provided.keys("local", "extractive") == ()
    assert provided.keys("openai", "openai") == ("OPENAI_API_KEY",)


def test_every_remote_embedder_opens_with_the_identity_that_it_is_given() -> None:
    found = 0
    for name, provider in EMBEDDERS.items():
        if provider.host:
            wanted = Identity(name, "some-model", 64)
            opened = providers.embedder(wanted, sites.ROOT, Settings())
            assert opened.identity == wanted
            # Without it, a question would cost nothing that a cap could count.
            assert getattr(opened, "worst_tokens", 0) > 0, name
            found += 1
    assert found


def test_an_embedder_of_a_later_version_is_named() -> None:
    with pytest.raises(EmbedderError, match="'psychic' is unknown to this version"):
        providers.embedder(Identity("psychic", "m", 8), sites.ROOT, Settings())


def test_a_function_of_an_unknown_answerer_is_refused(tmp_path: Path) -> None:
    (tmp_path / settings.FILE).write_text('{"answers": "oracle"}', "utf-8")
    with pytest.raises(BundleError, match="answers is none of extractive, openai"):
        settings.read(tmp_path)
