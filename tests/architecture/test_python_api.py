"""``import answerable``: few names, each imported when it is first used."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import answerable
from support import sites
from support.deadlines import PATIENCE

TYPED = """\
import answerable
from answerable import Answer, Answerer, Embedder, EmbedderIdentity, Engine, Evidence
from answerable import FunctionSettings, Passage, Profile, Provider, Reply, Store

engine = answerable.open_bundle("function")
reveal_type(engine)
reveal_type(engine.answer("?").text)
reveal_type(engine.answer("?").mode)
reveal_type(answerable.__version__)


def take(
    embedder: Embedder, answerer: Answerer, store: Store, engine: Engine, provider: Provider
) -> tuple[Reply, Answer]:
    try:
        reply = Engine(store, embedder, answerer).answer("?")
    except answerable.AnswerableError:
        reply = engine.answer("?")
    return reply, reply.answer


class FirstPassage:
    label = "first"
    max_question_tokens = 0
    max_evidence_characters = None

    def __init__(self, settings: FunctionSettings) -> None:
        self.settings = settings

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        passage: Passage = evidence.passages[0]
        return {"claims": [{"text": passage.text, "evidence": []}]}


answerer: Answerer = FirstPassage(FunctionSettings())
provider = Provider(profile=Profile(floor=0.5))
identity = EmbedderIdentity("letters", "pairs", 512)
"""


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_the_package_offers_few_names_and_each_is_there() -> None:
    # Ten to ask, and five that the author of a provider writes in signatures.
    assert len(answerable.__all__) <= 15
    assert sorted(answerable.__all__) == list(answerable.__all__)
    for name in answerable.__all__:
        assert getattr(answerable, name) is not None, name
        assert name in dir(answerable)
    assert {"open_bundle", "Engine", "Reply", "AnswerableError"} <= set(answerable.__all__)
    types = {"EmbedderIdentity", "Evidence", "FunctionSettings", "Passage", "Profile"}
    assert types <= set(answerable.__all__)
    assert answerable.__version__ == metadata.version("mkdocs-answerable")
    with pytest.raises(AttributeError, match="module 'answerable' has no attribute 'oracle'"):
        getattr(answerable, "oracle")  # noqa: B009 - mypy knows that it is not there


def test_the_import_loads_neither_numpy_nor_a_module_of_its_own() -> None:
    modules = loaded("import answerable; dir(answerable)")
    assert "numpy" not in modules
    assert {name for name in modules if name.startswith("answerable")} == {"answerable"}
    assert "numpy" in loaded("import answerable; answerable.open_bundle")


def test_mypy_sees_the_names(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "typed.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={"MYPYPATH": str(sites.ROOT / "plugin"), "PATH": ""},
    )  # fmt: skip
    revealed = [line.split("Revealed type is ")[1] for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout + done.stderr
    assert [text.strip('"').removeprefix("builtins.").split("answerable.serve.")[-1]
        for text in revealed] == [
        "stores.bundle.Bundle]", "str",
        "Literal['supported'] | Literal['partial'] | Literal['related-material'] | "
        "Literal['not-found']",
        "str",
    ]  # fmt: skip
