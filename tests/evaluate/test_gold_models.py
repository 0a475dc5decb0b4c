"""Our gold set against a model: an honest one passes, a hostile one is found out."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from answerable.testing.openai_stub import OpenAIStub
from support import sites
from support.hostile_models import HOSTILE_MODELS
from support.stub_fixtures import StrictStub


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy our own manual, built once; its function is told another model for each test."""
    return sites.own_manual(tmp_path_factory.mktemp("own"))


def evaluate(folder: Path, server: OpenAIStub, model: str) -> subprocess.CompletedProcess[str]:
    settings = {"answers": "openai", "model": model, "base_url": server.base_url, "timeout": 20.0}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    return sites.command(folder, "eval", "--full", OPENAI_API_KEY="test")


def test_an_honest_model_passes(folder: Path) -> None:
    with StrictStub() as server:
        done = evaluate(folder, server, "honest")
        assert done.returncode == 0, done.stdout
        queries = yaml.safe_load((folder / "eval" / "gold.yaml").read_text("utf-8"))["queries"]
        assert 0 < server.answer_calls < len(queries)


@pytest.mark.parametrize(
    "model",
    sorted(HOSTILE_MODELS)
    if os.environ.get("ANSWERABLE_DEEP")
    else ["hostile-foreign-quote", "hostile-silent"],
)
def test_a_hostile_model_fails_the_gate(folder: Path, model: str) -> None:
    with StrictStub() as server:
        done = evaluate(folder, server, model)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL" in done.stdout
