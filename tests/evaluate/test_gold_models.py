"""Our gold set against a model: a truthful one passes, a hostile or lying one is found out."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from answerable.evaluate.gold import GoldQuery, load_gold_queries
from support import sites
from support.hostile_models import HOSTILE_MODELS
from support.lying_models import DENIAL
from support.openai_stub import OpenAIStub
from support.stub_fixtures import StrictStub


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy our own manual, built once; its function is told another model for each test."""
    return sites.own_manual(tmp_path_factory.mktemp("own"))


def evaluate(
    folder: Path, server: OpenAIStub, model: str, *options: str
) -> subprocess.CompletedProcess[str]:
    settings = {"answers": "openai", "model": model, "base_url": server.base_url, "timeout": 20.0}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    return sites.command(folder, "eval", "--full", *options, OPENAI_API_KEY="test")


def list_must_answer_queries(folder: Path) -> dict[str, GoldQuery]:
    """List the queries that no refusal passes, by id."""
    author = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))["site_author"]
    queries = load_gold_queries(folder / "eval" / "gold.yaml", author)
    return {query.id: query for query in queries if "not-found" not in query.expected_modes}


def test_a_truthful_model_passes_what_does_not_require_a_real_one(folder: Path) -> None:
    """That a passage on the subject is no answer is beyond a script that compares words."""
    queries = yaml.safe_load((folder / "eval" / "gold.yaml").read_text("utf-8"))["queries"]
    with StrictStub() as server:
        done = evaluate(folder, server, "truthful", "--json")
        assert 0 < server.answer_calls < len(queries)
    verdicts = json.loads(done.stdout)["verdicts"]
    assert len(verdicts) == len(queries)
    failing = {row["id"]: row["issues"] for row in verdicts if row["status"] != "pass"}
    hard = {query["id"] for query in queries if query.get("requires") == "model"}
    assert set(failing) <= hard, failing


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


@pytest.mark.parametrize("model", ["liar", "gossip"])
def test_a_lying_model_fails_nine_tenths_of_what_has_to_be_answered(
    folder: Path, model: str
) -> None:
    """A lie about a note can only be silence, so queries for pages are counted apart too."""
    queries = list_must_answer_queries(folder)
    for_pages = {name for name, query in queries.items() if "partial" in query.expected_modes}
    with StrictStub() as server:
        done = evaluate(folder, server, model, "--json")
    verdicts = {row["id"]: row for row in json.loads(done.stdout)["verdicts"]}
    passes = {name for name, row in verdicts.items() if row["status"] == "pass"}
    assert done.returncode == 1
    assert set(queries) <= set(verdicts)
    assert len(passes & set(queries)) <= 0.1 * len(queries), sorted(passes & set(queries))
    assert len(passes & for_pages) <= 0.1 * len(for_pages), sorted(passes & for_pages)
    # The contract lets the lies pass, so that a judge of answers has to find them out.
    answered = [name for name in for_pages if verdicts[name]["mode"] in ("partial", "supported")]
    assert len(answered) >= 0.95 * len(for_pages)
    # Refused without a call of the model: the lies are not what fails there.
    assert len(passes) >= len(verdicts) - len(queries) - 10


def test_a_liar_tells_what_the_truthful_model_tells_and_denies_it(folder: Path) -> None:
    """Else it would fail for what it leaves out, and not for the lie."""
    answers = {}
    with StrictStub() as server:
        for model in ("truthful", "liar"):
            done = evaluate(folder, server, model, "--json", "--ids", "shortcut,price,bm25")
            rows = json.loads(done.stdout)["verdicts"]
            answers[model] = {row["id"]: row["answer"]["text"] for row in rows}
    for name, text in answers["truthful"].items():
        lie = answers["liar"][name]
        assert lie.startswith(DENIAL), name
        assert lie.replace(f"{DENIAL} ", "") == text, name
