"""The number of modules that a reader of the code opens to follow one question."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from answerable import open_bundle
from answerable.serve.answers.wire import serialize_answer
from support.published_functions import build_function
from support.sites import ROOT

PACKAGE = ROOT / "plugin" / "answerable"
# From the question to the wire; adapters, limits and the HTTP service come on top.
MAX_MODULES = 29


def list_entered_modules(work: Callable[[], object]) -> set[str]:
    """Run some work, and list the modules of the package in which it enters a function."""
    entered: set[str] = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            entered.add(path.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return entered


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_function(tmp_path_factory.mktemp("warm"))


@pytest.mark.parametrize(
    ("question", "mode"),
    [("How thick is the chain of a mooring?", "partial"), ("Who won the world cup?", "not-found")],
)
def test_warm_keyless_question_visits_few_modules(function: Path, question: str, mode: str) -> None:
    engine = open_bundle(function)

    def answer(text: str) -> str:
        return str(serialize_answer(engine.answer(text), engine.store, "id")["mode"])

    # What is imported or computed once for a bundle is there before the question that is traced.
    answer("Where is the harbour?")
    assert answer(question) == mode
    entered = list_entered_modules(lambda: answer(question))
    assert "serve/engine.py" in entered
    assert len(entered) <= MAX_MODULES, sorted(entered)
